"""Texts for people."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treblehook.contracts.crucible.library import text


@given(st.binary())
def test_bytes_come_through_as_they_are(octets: bytes) -> None:
    assert text.octets_of(text.characters(octets)) == octets


@given(st.text(), st.integers(0, 20), st.text(max_size=4))
def test_a_truncated_text_has_at_most_so_many_characters(value: str, limit: int, ending: str) -> None:
    cut = text.truncated(value, limit, ending)
    assert len(cut) <= limit or cut == value
    assert cut == value or value.startswith(cut.removesuffix(ending))


def test_characters_are_counted_not_bytes() -> None:
    assert text.truncated("ééééé", 3, "…") == "éé…"
    assert text.truncated("éé", 2, "…") == "éé"
    assert text.truncated("abcdef", 1, "...") == "a"


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (1024**2 - 1, "1 MiB"),
        (1024**3 * 20, "20 GiB"),
        (1024**6, "1024 PiB"),
    ],
)
def test_sizes(count: float, said: str) -> None:
    assert text.size(count) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 ms"),
        (0.35, "350 ms"),
        (0.9999, "1 s"),
        (4.24, "4.2 s"),
        (59.97, "1 min"),
        (185, "3 min 5 s"),
        (7200, "2 h"),
        (7261, "2 h 1 min"),
        (97_200, "1 d 3 h"),
        (86_460, "1 d"),
    ],
)
def test_durations(seconds: float, said: str) -> None:
    assert text.duration(seconds) == said


def test_plural() -> None:
    assert [text.plural(count, "note", "notes") for count in (0, 1, 2)] == ["0 notes", "1 note", "2 notes"]
    assert text.plural(1.5, "hour", "hours") == "1.5 hours"


def test_indentation_leaves_empty_lines_alone() -> None:
    assert text.indented("a\n\nb\n", "  ") == "  a\n\n  b\n"


def test_a_table_lines_up_its_columns() -> None:
    assert text.table([["a", "12"], ["long", "3"], ["b"]], ["name", "n"]) == "name  n\n----  --\na     12\nlong  3\nb"
    assert text.table([], []) == ""
    assert text.table([["x", "y"]], []) == "x  y"
