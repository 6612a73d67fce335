"""Patterns beside a slow matcher that was written from crucible.md section 5, and every row of the table there."""

import functools
import itertools

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from treblehook.engine.patterns import Pattern

SEAM = "\0"
"""Marks where a brace stood, so that stars of two pieces do not become one run."""


class Malformed(Exception):
    pass


def class_end(text: str, at: int) -> int:
    """Where the class that opens at `at` ends (rule 6)."""
    at += 1
    if text[at : at + 1] in ("!", "^"):
        at += 1
    first = at
    while at < len(text):
        if text[at] == "]" and at > first:
            return at + 1
        at += 2 if text[at] == "\\" else 1
    raise Malformed


def in_class(text: str, character: str) -> bool:
    inside = text[1:-1]
    negated = inside[0] in "!^"
    inside = inside[negated:]
    listed: list[tuple[str, bool]] = []
    at = 0
    while at < len(inside):
        escaped = inside[at] == "\\"
        listed.append((inside[at + escaped], escaped))
        at += 1 + escaped
    found = False
    while listed:
        if len(listed) > 2 and listed[1] == ("-", False):
            found |= listed[0][0] <= character <= listed[2][0]
            listed = listed[3:]
        else:
            found |= listed.pop(0)[0] == character
    return found != negated


def split(text: str) -> list[str]:
    """`text` as escapes, classes and single characters."""
    parts = []
    at = 0
    while at < len(text):
        end = at + 1
        if text[at] == "\\":
            end = at + 2
            if end > len(text):
                raise Malformed
        elif text[at] == "[":
            end = class_end(text, at)
        parts.append(text[at:end])
        at = end
    return parts


def choices(parts: list[str], depth: int = 0) -> list[list[str]]:
    """Every way to take one alternative of each brace (rule 7)."""
    if "{" not in parts:
        return [parts]
    start = parts.index("{")
    if depth > 9:
        raise Malformed
    level, commas = 0, [start]
    for at in range(start, len(parts)):
        level += (parts[at] == "{") - (parts[at] == "}")
        if parts[at] == "," and level == 1:
            commas.append(at)
        if level == 0:
            break
    else:
        raise Malformed
    inner = [choice for a, b in itertools.pairwise([*commas, at]) for choice in choices(parts[a + 1 : b], depth + 1)]
    tails = choices(parts[at + 1 :], depth)
    return [[*parts[:start], SEAM, *choice, SEAM, *tail] for choice in inner for tail in tails]


def whole(parts: list[str], target: str) -> bool:
    solid = [part for part in parts if part != SEAM]
    seams = {at - parts[:at].count(SEAM) for at, part in enumerate(parts) if part == SEAM}

    @functools.cache
    def rest(p: int, t: int) -> bool:
        if p == len(solid):
            return t == len(target)
        part = solid[p]
        if part == "*":
            return stars(p, t)
        if t == len(target):
            return False
        if part == "?":
            fits = target[t] != "/"
        elif part[0] == "[" and len(part) > 1:
            fits = in_class(part, target[t])
        else:
            fits = target[t] == part[-1]
        return fits and rest(p + 1, t + 1)

    def stars(p: int, t: int) -> bool:
        end = p + 1
        while end < len(solid) and solid[end] == "*" and end not in seams:
            end += 1
        if end - p > 1 and end == len(solid):
            return True
        if end - p == 2 and solid[end] == "/" and (p == 0 or solid[p - 1] == "/"):
            return any(rest(end + 1, at) for at in range(t, len(target) + 1) if at == t or target[at - 1] == "/")
        return any(rest(end, at) for at in range(t, len(target) + 1) if "/" not in target[t:at])

    return rest(0, 0)


def slow(pattern: str, target: str) -> bool:
    body = pattern.lstrip("!")
    try:
        texts = choices(split(body))
        if len(texts) > 1000:
            raise Malformed
        matched = any(whole(text, target) for text in texts)
    except Malformed:
        return False
    return matched != bool((len(pattern) - len(body)) % 2)


PIECES = ["*", "**", "/", "**/", "/**/", "?", "a", "b", "ab", "-", "[a-b]", "[!a]", "[^/a]", "[/]", "[]a]", "[b-a]", "[!b-a]", "é"]
PIECES += ["\\*", "\\{", "{", "}", ",", "{a,b}", "{a/**,b}", "{,a}", "{**/,}a", "[", "]", "!", "{{a,*},b}", "[\\a-b]", "[a\\-b]", "[--a]"]
PATTERNS = st.lists(st.sampled_from(PIECES), max_size=8).map("".join) | st.text("ab/*?[]{},!\\-^", max_size=12)
TARGETS = st.text("ab/-é]{*", max_size=10)


@settings(max_examples=3000)
@given(PATTERNS, TARGETS)
@example("{*,b}*", "a/a")
@example("{a/**,b}", "a/b/c")
@example("{x,y/}**/b", "y/a/b")
@example("**/*a*/**/*b*", "a/a/b")
@example("*[!a]*b", "aa/b")
@example("*/**", "a/")
def test_a_pattern_matches_what_the_slow_matcher_matches(pattern: str, target: str) -> None:
    assert Pattern(pattern).matches(target) == slow(pattern, target)


@settings(max_examples=1000)
@given(PATTERNS, TARGETS)
def test_every_match_is_named_outright_or_starts_with_a_fixed_prefix(pattern: str, target: str) -> None:
    compiled = Pattern(pattern)

    assert all(compiled.matches(literal) for literal in compiled.literals)
    if compiled.matches(target):
        assert target in compiled.literals or any(target.startswith(prefix) for prefix in compiled.prefixes)


TABLE = [
    ("*", "bash", True),
    ("*", "mcp/list", False),
    ("**", "mcp/list", True),
    ("*", "", True),
    ("gh_*", "gh_list_prs", True),
    ("gh_*", "gh_", True),
    ("gh_*", "GH_list", False),
    ("just_test*", "just_test", True),
    ("just_test*", "just_testing_unit", True),
    ("*delete*", "note_delete_all", True),
    ("*delete*", "admin/delete", False),
    ("Daily/*", "Daily/2026-08-18.md", True),
    ("Daily/*", "Daily/2026/08.md", False),
    ("Daily/*", "Daily", False),
    ("Daily/*", "x/Daily/a.md", False),
    ("Daily/**", "Daily/2026/08.md", True),
    ("Daily/**", "Daily", False),
    ("Daily/**/*.md", "Daily/a.md", True),
    ("Daily/**/*.md", "Daily/x/y/a.md", True),
    ("**/*.md", "a.md", True),
    ("**.md", "x/a.md", False),
    ("a**b", "a/b", False),
    ("a/**/b", "a/b", True),
    ("Daily*", "Daily/x.md", False),
    ("?at", "cat", True),
    ("ca?", "cart", False),
    ("a?b", "a/b", False),
    ("[a-c]at", "bat", True),
    ("[!a-c]at", "dat", True),
    ("[^a-c]at", "dat", True),
    ("a[/]b", "a/b", True),
    ("[]]x", "]x", True),
    ("[abc", "a", False),
    ("[abc", "[abc", False),
    ("{bash,edit}", "edit", True),
    ("{read,write}_*", "write_file", True),
    ("{Daily,Meta}/**", "Meta/x/a.md", True),
    ("{a{b,c},d}", "ac", True),
    ("*.{md,txt}", "a.txt", True),
    ("*.{md,txt}", "x/a.txt", False),
    ("{a,b", "a", False),
    ("{1..3}", "2", False),
    ("!bash", "read", True),
    ("!bash", "bash", False),
    ("!!bash", "bash", True),
    ("\\*", "*", True),
    ("\\*", "x", False),
    ("tool:*", "tool:grep", True),
    ("ci", "CI", False),
    ("ci", "ci-main", False),
    ("*.md", ".md", True),
    ("(a|b)", "a", False),
    ("./a", "a", False),
]


@pytest.mark.parametrize(("pattern", "target", "expected"), TABLE)
def test_case_041_the_glob_table(pattern: str, target: str, expected: bool) -> None:
    assert Pattern(pattern).matches(target) is expected
    assert slow(pattern, target) is expected


RULES = [
    ("*", ".hidden\nline", True),
    ("X/**", "X/", True),
    ("a**", "a/b", True),
    ("{,x}a", "a", True),
    ("[a-]", "-", True),
    ("[!]a]", "]", False),
    ("[\\]]", "]", True),
    ("?", "é", True),
    ("a}", "a}", True),
    ("]", "]", True),
    ("#", "#", True),
    ("", "", True),
    ("", "a", False),
    ("!", "a", True),
    ("!", "", False),
    ("\\!a", "!a", True),
    ("a!b", "a!b", True),
    ("{Daily/**,Meta/**}", "Daily/x/y.md", True),
    ("{*,b}*", "a/a", False),
    ("a\\", "a", False),
]


@pytest.mark.parametrize(("pattern", "target", "expected"), RULES)
def test_the_rules_that_the_table_leaves_out(pattern: str, target: str, expected: bool) -> None:
    assert Pattern(pattern).matches(target) is expected
    assert slow(pattern, target) is expected


@pytest.mark.parametrize("pattern", ["*", "!x", "x", "**"])
def test_an_event_without_identifier_matches_no_pattern(pattern: str) -> None:
    assert not Pattern(pattern).matches(None)


@pytest.mark.parametrize("pattern", ["[abc", "{a,b", "a\\", "!{", "{a,[b}", "{" * 11 + "}" * 11, "{a,b}" * 10])
def test_a_malformed_pattern_never_matches_and_says_so(pattern: str) -> None:
    assert Pattern(pattern).malformed
    assert not Pattern(pattern).matches("a")


def test_braces_may_nest_ten_deep() -> None:
    assert Pattern("{" * 10 + "a" + "}" * 10).matches("a")


@pytest.mark.parametrize("pattern", ["*a*a*a*a*a*a*a*a*b", "**/a/**/a/**/a/**/a/**/a/**/b", "*a*{a,aa}*a*a*a*a?*b"])
def test_a_long_identifier_is_settled_at_once(pattern: str) -> None:
    # Trying everything would take years; the time limit of the test is the guard.
    assert not Pattern(pattern).matches("a" * 4000)
    assert not Pattern(pattern).matches("a/" * 2000)
