"""What a chat's commands come to, as lines of text."""

from collections.abc import Callable
from typing import Any, Final

from treblehook.cli.output.table import table


def told(command: str, result: dict[str, Any]) -> list[str]:
    """The lines of a command's result."""
    return _LINES[command](result)


def _context(result: dict[str, Any]) -> list[str]:
    window = result["window"]
    of = f" of {window} ({result['tokens'] / window:.0%})" if window else " (the model's window is not known)"
    count = result["messages"]
    head = f"{result['tokens']} tokens{of} in {count} message{'' if count == 1 else 's'}"
    return [head, *(_rows(result["sources"], "source", "messages", "tokens") if count else [])]


def _usage(result: dict[str, Any]) -> list[str]:
    if not result["uses"]:
        return ["nothing has been asked of a model yet"]
    return _rows(result["uses"], "use", "model", "requests", "input", "output", "cache_read", "cache_write")


def _hooks(result: dict[str, Any]) -> list[str]:
    if not result["handlers"]:
        return ["there are no hooks" if result["profile"] == "default" else f"the session is {result['profile']}: no hooks"]
    return _rows(result["handlers"], "order", "event", "hook", "contract", "tier", "pattern", "timeout_ms", "mode", "held_back")


def _compact(result: dict[str, Any]) -> list[str]:
    return [f"not compacted: {result['error']}"] if result["error"] else []


def _rows(entries: list[dict[str, Any]], *keys: str) -> list[str]:
    """A table of some keys; where all values are numbers they stand to the right."""
    numbers = {key.replace("_", " ") for key in keys if all(isinstance(entry[key], int | None) for entry in entries)}
    rows = [["" if entry[key] is None else str(entry[key]) for key in keys] for entry in entries]
    return table([key.replace("_", " ") for key in keys], rows, right=frozenset(numbers))


_LINES: Final[dict[str, Callable[[dict[str, Any]], list[str]]]] = {
    "/compact": _compact,
    "/context": _context,
    "/usage": _usage,
    "/hooks": _hooks,
}
