"""Text that a terminal may be given."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from treblehook.cli.output.safe_text import one_line, safe


@given(st.text())
def test_safe_text_holds_nothing_that_a_terminal_obeys(text: str) -> None:
    assert all(character in "\n\t" or unicodedata.category(character) != "Cc" for character in safe(text))


def test_what_is_harmless_stays() -> None:
    assert safe("a\tb\nç ✓ 漢 👋🏽") == "a\tb\nç ✓ 漢 👋🏽"


def test_what_is_harmful_is_written_out() -> None:
    assert safe("\x1b[31m\x07\x9b\x7f\u202e\u2066") == r"\x1b[31m\x07\x9b\x7f\u202e\u2066"


def test_line_ends_of_other_systems_are_line_ends() -> None:
    assert safe("a\r\nb") == "a\nb"
    assert safe("50 %\r100 %") == r"50 %\x0d100 %"


@given(st.text(), st.integers(2, 50))
def test_one_line_is_one_and_not_too_long(text: str, longest: int) -> None:
    line = one_line(text, longest)

    assert "\n" not in line
    assert len(line.split(" (+")[0]) <= longest


def test_one_line_says_how_many_more_there_are() -> None:
    assert one_line("\na\nb\nc\n") == "a (+2 lines)"
