"""How a command becomes words (murmur.md 5.6)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treblehook.shell.words import split_words


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("", []),
        ("  \t\n ", []),
        ("build", ["build"]),
        ("-n  a\tb\nc", ["-n", "a", "b", "c"]),
        ("'a b' \"c d\"", ["a b", "c d"]),
        ("''", []),
        ("'' x \"\"", ["x"]),
        (r"a\ b", ["a b"]),
        (r"'a\'b'", ["a'b"]),
        ("'open to the end", ["open to the end"]),
        ("a\\", ["a"]),
        ("\\", []),
        ("a'b'\"c\"d", ["abcd"]),
        ("$HOME *.txt ~ a;b |c >d", ["$HOME", "*.txt", "~", "a;b", "|c", ">d"]),
        ("ü 'é è'", ["ü", "é è"]),
    ],
)
def test_case_092_words(command: str, words: list[str]) -> None:
    assert split_words(command) == words


@given(st.lists(st.text(st.characters(exclude_characters="'\"\\", exclude_categories=("Cs",)), min_size=1)))
def test_quoted_words_come_back(words: list[str]) -> None:
    assert split_words(" ".join(f"'{word}'" for word in words)) == words


@given(st.text())
def test_no_word_is_empty_and_no_command_is_refused(command: str) -> None:
    assert all(split_words(command))
