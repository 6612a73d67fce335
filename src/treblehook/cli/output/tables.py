"""What a chat's commands come to, as lines of text."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final


def columns(rows: Iterable[Sequence[object]]) -> list[str]:
    """Rows of cells as lines in which the cells stand below each other; numbers stand to the right."""
    table = [[("" if cell is None else str(cell), isinstance(cell, int | float)) for cell in row] for row in rows]
    widths = [max(len(text) for text, _ in column) for column in zip(*table, strict=True)]
    lines = ("  ".join(_placed(*cell, width) for cell, width in zip(row, widths, strict=True)) for row in table)
    return [line.rstrip() for line in lines]


def _placed(text: str, number: bool, width: int) -> str:
    return text.rjust(width) if number else text.ljust(width)


def told(command: str, result: dict[str, Any]) -> list[str]:
    """The lines of a command's result."""
    return _LINES[command](result)


def _context(result: dict[str, Any]) -> list[str]:
    window = result["window"]
    of = f" of {window} ({result['tokens'] / window:.0%})" if window else ", window not known"
    sources = [("from", "messages", "tokens"), *((s["source"], s["messages"], s["tokens"]) for s in result["sources"])]
    return [f"{result['tokens']} tokens{of} in {result['messages']} messages", *columns(sources)]


def _usage(result: dict[str, Any]) -> list[str]:
    keys = ("use", "model", "requests", "input", "output", "cache_read", "cache_write")
    if not result["uses"]:
        return ["nothing has been asked of a model yet"]
    return columns([keys, *([use[key] for key in keys] for use in result["uses"])])


def _hooks(result: dict[str, Any]) -> list[str]:
    keys = ("order", "event", "contract", "hook", "tier", "pattern", "timeout_ms", "mode", "held_back")
    if not result["handlers"]:
        return ["no hooks"]
    heads = [key.replace("_", " ") for key in keys]
    return columns([heads, *([handler[key] for key in keys] for handler in result["handlers"])])


def _compact(result: dict[str, Any]) -> list[str]:
    return [f"not compacted: {result['error']}"] if result["error"] else []


def _help(result: dict[str, Any]) -> list[str]:
    return columns(result["commands"].items())


_LINES: Final[dict[str, Callable[[dict[str, Any]], list[str]]]] = {
    "/compact": _compact,
    "/context": _context,
    "/usage": _usage,
    "/hooks": _hooks,
    "/help": _help,
}
