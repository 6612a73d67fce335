"""An id for a tool call, where the agent gives it none."""

import hashlib
from typing import Any, Final

import msgspec

PREFIX: Final = "call-"


def call_id(session: str, tool: str, given: dict[str, Any]) -> str:
    """The same before and after a call, as long as its input stays; equal calls of one session share it."""
    text = msgspec.json.encode([session, tool, given], order="sorted")
    return f"{PREFIX}{hashlib.sha256(text).hexdigest()[:24]}"


def is_made_up(id: str) -> bool:
    """Whether an id is one of these; those of agents begin otherwise."""
    return id.startswith(PREFIX)
