"""What is shown of a tool call: what it is about, and what came of it in a few words."""

from typing import Final

import msgspec

from treblehook.cli.output.safe_text import one_line
from treblehook.host.calls import CallOutcome
from treblehook.lifecycle import Display, ToolCall

_MAIN_ARGUMENTS: Final = ("command", "path", "pattern", "task", "query", "url")


def label(call: ToolCall, display: Display | None) -> str:
    """The name on the card, on one line."""
    return one_line(display.label if display is not None and display.label else call.name)


def subject(call: ToolCall, display: Display | None) -> str:
    """What the call is about: a hook's words, else its main argument, else its whole input as JSON."""
    if display is not None and display.detail:
        return display.detail
    wished = (display.primary_arg,) if display is not None and display.primary_arg else ()
    for name in (*wished, *_MAIN_ARGUMENTS):
        if isinstance(value := call.input.get(name), str):
            return value
    return msgspec.json.encode(call.input).decode() if call.input else ""


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
