"""The lines of a trace as a person reads them: one line each, with the time in front, further in for what belongs to an earlier one."""

from datetime import UTC, datetime
from typing import Any, Final

import click
import msgspec

from treblehook.cli.output.safe_text import one_line

_LONGEST: Final = 300
_FRAME: Final = ("event_type", "event_id", "parent_id", "session_id", "timestamp", "task_id")
_REFUSALS: Final = ("call_denied", "hook_dispatch_error", "compaction_declined")


def line_of(depth: int, line: dict[str, Any]) -> str:
    """The line, of any event type: what is known of it stands there under its own name."""
    kind = str(line.get("event_type", "?"))
    shown = click.style(kind, fg="red") if kind in _REFUSALS else kind
    facts = " ".join(f"{name}={_text(value)}" for name, value in line.items() if name not in _FRAME)
    return f"{click.style(_clock(line.get('timestamp')), dim=True)}  {'  ' * depth}{shown}  {one_line(facts, _LONGEST)}".rstrip()


def _clock(milliseconds: Any) -> str:
    if not isinstance(milliseconds, int) or not 0 <= milliseconds < 1 << 45:
        return " " * 12
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%H:%M:%S.%f")[:12]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
