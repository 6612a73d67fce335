"""Which records of a session file a resume can read: lines that are JSON, but no record that this program wrote, are left out."""

from collections.abc import Iterable
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from treblehook.host.problems import Problem
from treblehook.lifecycle import Message
from treblehook.lifecycle.values import Role

Record = dict[str, Any]


class _Session(Struct):
    workspace: str
    model: str
    profile: Literal["default", "bare", "prompt-only"]
    kilns: list[str]


class _Prompt(Struct):
    text: str
    id: str = ""
    turn: int = 0
    given: str = ""


class _NamedCall(Struct):
    id: str
    name: str


class _Kept(Struct):
    """A message as it is kept: the inputs of its calls stand in records of their own."""

    role: Role
    text: str
    id: str = ""
    calls: tuple[_NamedCall, ...] = ()
    call_id: str = ""
    tool: str = ""
    is_error: bool = False
    source: str = ""
    hook: str = ""
    tags: tuple[str, ...] = ()


class _Message(Struct):
    message: _Kept
    before: str = ""


class _Raw(Struct):
    id: str
    raw: str


class _ToolCall(Struct):
    id: str
    input: dict[str, Any]


class _ToolResult(Struct):
    id: str
    name: str
    content: str
    is_error: bool


class _Restarted(Struct):
    messages: list[Message]


class _Sent(Struct):
    text: str
    when: Literal["idle", "now"]


class _Held(Struct):
    content: str
    position: Literal["user_prefix", "user_suffix"]


_READ: Final[dict[str, type[Struct]]] = {
    "session": _Session,
    "prompt": _Prompt,
    "message": _Message,
    "raw": _Raw,
    "tool_call": _ToolCall,
    "tool_result": _ToolResult,
    "restarted": _Restarted,
    "held": _Held,
    "sent": _Sent,
}


def readable(records: Iterable[Record], file: str) -> tuple[list[Record], list[Problem]]:
    """The records that a resume can read, and one problem for each of the others."""
    sound: list[Record] = []
    problems: list[Problem] = []
    for number, record in enumerate(records, start=1):
        if (wrong := _wrong(record)) is None:
            sound.append(record)
        else:
            problems.append(Problem(file, f"record {number}", f"not as a session writes it, left out: {wrong}", level="warning"))
    return sound, problems


def _wrong(record: Record) -> str | None:
    kind = record.get("type")
    if not isinstance(kind, str):
        return "it has no type"
    try:
        msgspec.convert(record, _READ.get(kind, dict[str, Any]))
    except msgspec.ValidationError as error:
        return str(error)
    return None
