"""The glob of a permission rule."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treblehook.agent.permissions.pattern import Pattern
from treblehook.shell.bash.word import UNSEEN

PATTERNS = st.text(alphabet="ab*?/ ", max_size=8)
TEXTS = st.text(alphabet="ab/ \n", max_size=10)


def plain_match(pattern: str, text: str) -> bool:
    """What a pattern means, as simply as it can be said."""
    parts = {"*": ".*", "?": "."}
    return re.fullmatch("".join(parts.get(character, re.escape(character)) for character in pattern), text, re.DOTALL) is not None


@given(pattern=PATTERNS, text=TEXTS)
def test_a_pattern_is_the_whole_text(pattern: str, text: str) -> None:
    assert Pattern(pattern).covers(text) == plain_match(pattern, text)


@given(pattern=PATTERNS, before=TEXTS, between=TEXTS, after=TEXTS, values=st.tuples(TEXTS, TEXTS))
def test_what_some_content_makes_true_may_be_true(pattern: str, before: str, between: str, after: str, values: tuple[str, str]) -> None:
    text = f"{before}{values[0]}{between}{values[1]}{after}"
    unseen = f"{before}{UNSEEN}{between}{UNSEEN}{after}"

    if plain_match(pattern, text):
        assert Pattern(pattern).may_cover(unseen)


@given(pattern=PATTERNS, text=TEXTS)
def test_without_unseen_parts_may_is_does(pattern: str, text: str) -> None:
    assert Pattern(pattern).may_cover(text) == plain_match(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [("sudo *", f"git {UNSEEN}"), ("*.env", f"{UNSEEN}.py"), ("a?c", f"a{UNSEEN}d"), ("git push*", f"git {UNSEEN[:0]}pull")],
)
def test_what_no_content_makes_true_may_not_be_true(pattern: str, text: str) -> None:
    assert not Pattern(pattern).may_cover(text)


@pytest.mark.parametrize("text", ["/a/b.ssh/c", "a\nb.ssh c", ".ssh"])
def test_a_star_is_any_text(text: str) -> None:
    assert Pattern("*.ssh*").covers(text)


def test_brackets_are_themselves() -> None:
    assert Pattern("[ -f x ]").covers("[ -f x ]")
    assert not Pattern("[ab]").covers("a")


@pytest.mark.parametrize("character", ["*", "$", "?", "'", "\\", "~", "{", " "])
def test_one_character_of_a_command_is_none_that_a_shell_replaces(character: str) -> None:
    assert Pattern("rm tmp/?").covers(f"rm tmp/{character}")
    assert not Pattern("rm tmp/?").covers_command(f"rm tmp/{character}")
    assert Pattern("rm tmp/?").covers_command("rm tmp/x")


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("sudo *", "env A=1 sudo x", True),
        ("sudo *", "env /usr/bin/sudo x", True),
        ("sudo *", "env pseudo x", False),
        ("sudo *", "env my-sudo x", False),
        ("rm -rf /", "x; rm -rf / ; y", True),
        ("rm -rf /", "x; rm -rf /home", False),
        ("rm * /", "x 'rm -rf /' y", True),
        ("*secret*", "cat a-secret-file", True),
    ],
)
def test_a_part_begins_and_ends_where_a_word_may(pattern: str, text: str, found: bool) -> None:
    assert Pattern(pattern).within(text) == found


@pytest.mark.parametrize("pattern", ["*a*a*a*a*a*b", "a*a*a*a*a*b", "rm *a*a*a*c"])
def test_matching_takes_no_more_than_the_text_is_long(pattern: str) -> None:
    text = "rm " + "a " * 60_000
    matcher = Pattern(pattern)

    started = time.monotonic()
    assert not matcher.covers(text)
    assert not matcher.within(text)

    # Trying again at every place would take days; the bound only guards against that.
    assert time.monotonic() - started < 30
