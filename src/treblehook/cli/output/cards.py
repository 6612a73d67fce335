"""What is shown of a tool call: what it is about, what it says, and what came of it in a few words.

Hooks shape a card when the call starts and again when it is over. What they and the tool say is made safe for a terminal here.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from treblehook.cli.output.safe_text import one_line, safe
from treblehook.host.calls import CallOutcome
from treblehook.lifecycle import Display, ToolCall

_MAIN_ARGUMENTS: Final = ("command", "path", "pattern", "task", "query", "url")


def label(call: ToolCall, display: Display | None) -> str:
    """The name on the card, on one line."""
    return one_line(display.label if display is not None and display.label else call.name)


def subject(call: ToolCall, display: Display | None) -> str:
    """What the call is about: what hooks say of it, else its main argument, else its whole input as JSON.

    A hook's `primary_arg` names the argument to show; where it names none, it is what is shown.
    """
    if display is not None and (display.primary_arg or display.detail):
        primary = _text(call.input.get(display.primary_arg, display.primary_arg))
        return " · ".join(part for part in (primary, display.detail) if part)
    for name in _MAIN_ARGUMENTS:
        if isinstance(value := call.input.get(name), str):
            return value
    return _text(call.input) if call.input else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def over(started: Display | None, ended: Display | None) -> Display | None:
    """The look of a finished card: as it ended, with the `max_lines` of its start where the end says nothing of them."""
    if started is None or started.max_lines is None:
        return ended
    if ended is None:
        return Display(max_lines=started.max_lines)
    return ended if ended.max_lines is not None else replace(ended, max_lines=started.max_lines)


def limit(display: Display | None, otherwise: int) -> int:
    """How many lines of what the tool says the card shows."""
    return otherwise if display is None or display.max_lines is None else max(0, display.max_lines)


def output(outcome: CallOutcome, display: Display | None, otherwise: int) -> list[str]:
    """The lines of a result on its card, and one that says how many are left out; none of a single line that the summary tells."""
    lines = limit(display, otherwise)
    whole = safe(outcome.content).strip("\n").split("\n")
    told = len(whole) == 1 and not (whole[0] and display is not None and display.summary)
    return head(whole, lines) if outcome.ran and lines and not told else []


def head(lines: Sequence[str], most: int) -> list[str]:
    """The first lines, and how many more there are."""
    return list(lines) if len(lines) <= most else [*lines[:most], f"… {len(lines) - most} more lines"]


def summary(outcome: CallOutcome, display: Display | None) -> str:
    """What came of it, on one line."""
    if display is not None and display.summary:
        return one_line(display.summary)
    lines = outcome.content.strip().split("\n")
    if outcome.is_error and not outcome.ran:
        return f"not run: {one_line(outcome.content)}"
    if outcome.is_error:
        return f"failed: {one_line(lines[-1])}"
    said = one_line(lines[0]) if len(lines) == 1 else f"{len(lines)} lines"
    return said if outcome.ran else f"not run, replaced: {said}"
