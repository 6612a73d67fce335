"""The cards of tool calls as hooks shape them, in plain text and on a terminal (design, rows 13 and 17)."""

import io
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from rich.console import Console

from tests.support.paper import Paper
from treblehook.cli.output.jsonl import JsonLines
from treblehook.cli.output.live import Live
from treblehook.cli.output.narration import Narration
from treblehook.cli.output.plain import Plain
from treblehook.cli.output.screen import Screen
from treblehook.cli.output.stream import Stream
from treblehook.cli.output.terminal import Terminal
from treblehook.host.calls import CallOutcome
from treblehook.lifecycle import Display, ToolCall

CALL = ToolCall("c1", "bash", {"command": "make all", "tries": 3})
LINES = "\n".join(f"line {number}" for number in range(1, 13))

Card = Callable[..., list[str]]


def take(output: Narration, started: Display | None, ended: Display | None, content: str, **outcome: Any) -> None:
    output.tool_started("s1", CALL, started)
    given: dict[str, Any] = {"is_error": False, "ran": True, "ms": 7.0, **outcome}
    output.tool_finished("s1", CallOutcome(CALL, CALL.input, content, **given), ended)


def a_terminal() -> tuple[Terminal, Paper]:
    paper = Paper(60)
    stream = Stream(paper)  # type: ignore[arg-type]  # As much of a file as a screen needs.
    shown = Terminal(stream, stream)
    shown.session = "s1"
    shown.screen = Screen(stream, Console(width=60, height=30, color_system=None, force_terminal=True))
    return shown, paper


def a_pipe() -> tuple[Plain, io.StringIO]:
    out = io.StringIO()
    shown = Plain(Stream(out), Stream(io.StringIO()))
    shown.session = "s1"
    return shown, out


@pytest.fixture
async def terminal() -> AsyncIterator[tuple[Terminal, Paper]]:
    shown, paper = a_terminal()
    yield shown, paper
    shown.close()


@pytest.fixture(params=[a_terminal, a_pipe])
async def card(request: pytest.FixtureRequest) -> AsyncIterator[Card]:
    """What stands there of one call."""
    output, paper = request.param()

    def shown(started: Display | None = None, ended: Display | None = None, content: str = "ok", **outcome: Any) -> list[str]:
        take(output, started, ended, content, **outcome)
        lines = paper.shown if isinstance(paper, Paper) else paper.getvalue().splitlines()
        return [line.strip() for line in lines]

    yield shown
    output.close()


async def test_label_and_detail_are_what_a_hook_says(card: Card) -> None:
    first = card(Display(label="Build", detail="the whole ship"))[0]

    assert "Build" in first
    assert "the whole ship" in first
    assert "make all" not in first


@pytest.mark.parametrize(("primary", "shown"), [("tries", "3"), ("command", "make all"), ("ship 3 of 4", "ship 3 of 4")])
async def test_the_primary_argument_is_named_or_said(card: Card, primary: str, shown: str) -> None:
    assert card(Display(primary_arg=primary))[0].endswith(shown)


async def test_detail_stands_behind_the_primary_argument(card: Card) -> None:
    assert card(Display(primary_arg="command", detail="slow"))[0].endswith("make all · slow")


async def test_the_summary_is_what_a_hook_says(card: Card) -> None:
    assert "3 planks laid" in card(ended=Display(summary="3 planks laid"), content=LINES)[-1]


async def test_a_replaced_call_has_its_summary_too(card: Card) -> None:
    assert "from the box" in card(ended=Display(summary="from the box"), ran=False)[-1]


@pytest.mark.parametrize(
    ("started", "ended", "count"),
    [
        (Display(max_lines=2), None, 2),
        (None, Display(max_lines=2), 2),
        (Display(max_lines=5), Display(max_lines=2), 2),
        (Display(max_lines=2), Display(summary="done"), 2),
        (Display(max_lines=5), Display(max_lines=0), 0),
        (Display(max_lines=0), None, 0),
        (Display(max_lines=99), None, 12),
        (Display(max_lines=-1), None, 0),
    ],
)
async def test_so_many_lines_of_the_result_are_shown(card: Card, started: Display | None, ended: Display | None, count: int) -> None:
    lines = card(started, ended, LINES)

    shown = [line for line in lines if "line " in line and "more" not in line]
    assert [line.split("line ")[1] for line in shown] == [str(number) for number in range(1, count + 1)]
    assert any(f"… {12 - count} more lines" in line for line in lines) == (0 < count < 12)


async def test_a_single_line_is_shown_where_the_summary_says_something_else(card: Card) -> None:
    assert any("ok" in line for line in card(ended=Display(summary="fine", max_lines=3)))


async def test_nothing_obeys_what_a_hook_says(card: Card) -> None:
    evil = "a\x1b[2Jb\nc\u202ed"
    lines = card(Display(label=evil, detail=evil, max_lines=3), Display(summary=evil), content=f"{evil}\x07")

    assert not any(character in line for line in lines for character in "\x1b\u202e\x07")
    assert "a\\x1b[2Jb" in lines[0]
    assert "a\\x1b[2Jb" in lines[-1]


async def test_without_a_hook_plain_text_shows_no_output() -> None:
    plain, out = a_pipe()

    take(plain, None, None, LINES)
    plain.close()

    assert out.getvalue() == "> bash: make all\n  12 lines\n"


async def test_without_a_hook_a_terminal_shows_some(terminal: tuple[Terminal, Paper]) -> None:
    take(terminal[0], None, None, LINES)

    assert [line.strip() for line in terminal[1].shown] == [
        "● bash  make all",
        *(f"│ line {number}" for number in range(1, 9)),
        "│ … 4 more lines",
        "✓ 12 lines  7 ms",
    ]


def said(terminal: Terminal, *texts: str, call: ToolCall = CALL) -> None:
    for text in texts:
        terminal.tool_said("s1", call, text)
    terminal.waiting_for("waiting for the tool bash", 3)


async def test_a_running_tools_newest_line_stands_beside_what_is_waited_for(terminal: tuple[Terminal, Paper]) -> None:
    shown, paper = terminal
    shown.tool_started("s1", CALL, None)

    said(shown, "one\ntw", "o\n")

    assert paper.shown[-1].endswith("waiting for the tool bash, 3 s  two")


@pytest.mark.parametrize(("most", "lines"), [(0, []), (1, ["│ three"]), (2, ["│ two", "│ three"]), (9, ["│ one", "│ two", "│ three"])])
async def test_so_many_lines_of_a_running_tool_are_shown(terminal: tuple[Terminal, Paper], most: int, lines: list[str]) -> None:
    shown, paper = terminal
    shown.tool_started("s1", CALL, Display(max_lines=most))

    said(shown, "one\ntwo\n", "three\n")

    assert [line.strip() for line in paper.shown[1:-1]] == lines
    assert paper.shown[-1].endswith("waiting for the tool bash, 3 s")


async def test_a_finished_tool_leaves_nothing_of_its_live_lines(terminal: tuple[Terminal, Paper]) -> None:
    shown, paper = terminal
    shown.tool_started("s1", CALL, Display(max_lines=2))
    said(shown, "one\ntwo\nthree\n")
    outcome = CallOutcome(CALL, CALL.input, "one\ntwo\nthree", is_error=False, ran=True, ms=1)

    shown.tool_finished("s1", outcome, None)
    shown.waiting_for(None, 0)

    assert [line.strip() for line in paper.shown] == ["● bash  make all", "│ one", "│ two", "│ … 1 more lines", "✓ 3 lines  1 ms"]


async def test_live_lines_never_fill_the_screen(terminal: tuple[Terminal, Paper]) -> None:
    shown, paper = terminal
    shown.tool_started("s1", CALL, Display(max_lines=1000))

    said(shown, "".join(f"{number}\n" for number in range(1000)))

    assert len(paper.shown) < 30
    assert paper.shown[-2].strip() == "│ 999"


def test_another_tool_that_speaks_starts_anew() -> None:
    live = Live()
    live.say("a", "one\ntwo", 5)
    live.say("b", "three", 5)

    assert live.lines == ["three"]


def test_json_lines_know_nothing_of_cards() -> None:
    out = io.StringIO()
    lines = JsonLines(Stream(out), Stream(io.StringIO()))

    lines.tool_started("s1", CALL, Display(label="Build", max_lines=0))
    lines.tool_finished("s1", CallOutcome(CALL, CALL.input, "ok", is_error=False, ran=True), Display(summary="fine"))

    assert out.getvalue() == ""
