"""Whatever is printed, streamed, typed and waited for: what was printed stays whole, and below it stand the changing lines."""

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from tests.support.paper import Paper
from treblehook.cli.output.screen import Screen
from treblehook.cli.output.stream import Stream

WIDTH, HEIGHT = 20, 12


def screen() -> tuple[Screen, Paper]:
    paper = Paper(WIDTH)
    console = Console(width=WIDTH, height=HEIGHT, color_system=None, force_terminal=True)
    return Screen(Stream(paper), console), paper  # type: ignore[arg-type]


def test_printed_lines_stay_above_the_changing_ones() -> None:
    shown, paper = screen()
    shown.input("> hello", "")
    shown.stream("the cr")
    shown.status = "waiting"
    shown.print(Text("a row"))
    assert paper.shown == ["a row", "the cr", "waiting", "> hello"]

    shown.stream("ow\nburied it")
    shown.status = ""
    shown.redraw()

    assert paper.shown == ["a row", "the crow", "buried it", "> hello"]


def test_a_line_that_is_too_long_is_shown_whole_and_stays_whole() -> None:
    shown, paper = screen()
    shown.stream("0123456789" * 5)
    assert paper.shown == ["0123456789012345678", "9012345678901234567", "890123456789"]

    shown.end_stream()

    assert paper.shown == ["01234567890123456789", "01234567890123456789", "0123456789"]


def test_a_line_that_fills_the_screen_is_printed_bit_by_bit() -> None:
    shown, paper = screen()
    for _ in range(40):
        shown.stream("0123456789")
    shown.status = "waiting"
    shown.redraw()

    assert "".join(paper.shown) == "0123456789" * 40 + "waiting"


def test_the_cursor_stands_where_one_types() -> None:
    shown, paper = screen()
    shown.input("> left", "right")

    assert paper.shown == ["> leftright"]
    assert paper.column == len("> left")


def test_a_long_input_line_scrolls_sideways() -> None:
    shown, paper = screen()
    shown.input("> " + "x" * 50 + "end", "")

    assert paper.shown[0].endswith("end")
    assert len(paper.shown) == 1


def test_held_it_draws_nothing_below() -> None:
    shown, paper = screen()
    shown.input("> typed", "")
    shown.hold()
    paper.write("question? yes\n")
    shown.print(Text("a row"))
    assert paper.shown == ["question? yes", "a row"]

    shown.release()

    assert paper.shown == ["question? yes", "a row", "> typed"]


def test_closed_it_leaves_what_was_said() -> None:
    shown, paper = screen()
    shown.input("> typed", "")
    shown.status = "waiting"
    shown.stream("said")

    shown.close()

    assert paper.shown == ["said"]
    assert (paper.row, paper.column) == (1, 0)


texts = st.text(st.sampled_from("abc \n"), max_size=60)
operations = st.one_of(
    st.tuples(st.just("print"), st.text(st.sampled_from("PQR"), min_size=1, max_size=50)),
    st.tuples(st.just("stream"), texts),
    st.tuples(st.just("end_stream"), st.none()),
    st.tuples(st.just("status"), st.text(st.sampled_from("st"), max_size=40)),
    st.tuples(st.just("input"), st.none() | st.text(st.sampled_from("ij"), max_size=40)),
)


@given(st.lists(operations, max_size=15))
def test_nothing_that_was_said_is_lost_or_doubled(steps: list[tuple[str, Any]]) -> None:
    shown, paper = screen()
    said = ""
    for name, value in steps:
        if name == "print":
            shown.print(Text(value))
            said += value
        elif name == "stream":
            shown.stream(value)
            said += value
        elif name == "status":
            shown.status = value
            shown.redraw()
        else:
            act: Callable[..., None] = getattr(shown, name)
            act(*([] if name == "end_stream" else [value]))
    shown.close()

    letters = [sorted(character for character in text if character in "abcPQR") for text in ("".join(paper.shown), said)]
    assert letters[0] == letters[1]
    assert not set("".join(paper.shown)) & set("stij")
