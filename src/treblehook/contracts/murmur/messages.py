"""Messages as the contract has them: roles, and content that is a JSON text (murmur.md 3.6)."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from treblehook.contracts.murmur.bindings import Binding
from treblehook.lifecycle import Message, ToolCall
from treblehook.lifecycle.values import Role

_MARKER: Final = "__murmur_tool_msg__"
_INSERTED_BY: Final = {Binding.COMPACTION.value: "replace-context", Binding.TASK_START.value: "seed-context"}
"""By what a message's `source` says."""

_ROLES: Final[dict[str, Role]] = {"system": "system", "user": "user", "assistant": "assistant"}


def outward(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """The records that a hook gets."""
    return [
        {
            "role": message.role,
            "content": msgspec.json.encode(_content(message)).decode(),
            "id": message.id or None,
            "source-id": message.source_id or None,
            "inserted-by": _INSERTED_BY.get(message.source),
        }
        for message in messages
    ]


def _content(message: Message) -> Any:
    if message.role == "tool":
        return {_MARKER: True, "tool_call_id": message.call_id, "is_error": message.is_error, "body": message.text}
    blocks: list[dict[str, Any]] = [{"type": "text", "text": message.text}] if message.text or not message.calls else []
    return blocks + [{"type": "tool_call", "id": call.id, "name": call.name, "input": call.input} for call in message.calls]


def inward(records: Iterable[dict[str, Any]], *, by: Binding, hook: str) -> tuple[Message, ...]:
    """The messages that a hook answers at `by`. Whose they are the host says, whatever `inserted-by` they bring; a tool's message
    that names no call is dropped."""
    return tuple(_messages(records, by, hook))


def _messages(records: Iterable[dict[str, Any]], by: Binding, hook: str) -> Iterator[Message]:
    tools: dict[str, str] = {}
    for record in records:
        content = _parsed(record["content"])
        message = _tool_message(content) if record["role"] == "tool" else _other_message(record, content)
        if message is not None:
            # A result does not say of which tool it is, and a provider wants to know.
            tools |= {call.id: call.name for call in message.calls}
            names = {"id": record["id"] or "", "source_id": record["source-id"] or "", "tool": tools.get(message.call_id, "")}
            yield replace(message, source=by.value, hook=hook, **names)


def _other_message(record: dict[str, Any], content: Any) -> Message:
    blocks = _blocks(content, record["content"])
    text = "\n".join(block["text"] for block in blocks if isinstance(block.get("text"), str))
    return Message(role_of(record["role"]), text, calls=tuple(_calls(blocks)))


def role_of(role: str) -> Role:
    """The role of a message that is no tool's; whoever is not known is a user."""
    return _ROLES.get(role, "user")


def _parsed(content: str) -> Any:
    """The value of a JSON text; `UNSET` where it is none."""
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError):
        return msgspec.UNSET


def _blocks(value: Any, text: str) -> list[dict[str, Any]]:
    if isinstance(value, list):
        return [block for block in value if isinstance(block, dict)]
    if value is msgspec.UNSET:
        return [{"type": "text", "text": text}]
    return [{"type": "text", "text": value if isinstance(value, str) else text}]


def _calls(blocks: Iterable[dict[str, Any]]) -> Iterator[ToolCall]:
    for block in blocks:
        call_id, name = block.get("id"), block.get("name")
        if block.get("type") == "tool_call" and isinstance(call_id, str) and isinstance(name, str):
            given = block.get("input")
            yield ToolCall(call_id, name, given if isinstance(given, dict) else {})


def _tool_message(value: Any) -> Message | None:
    if not isinstance(value, dict) or value.get(_MARKER) is not True:
        return None
    call_id, body = value.get("tool_call_id"), value.get("body", "")
    if not isinstance(call_id, str) or not call_id:
        return None
    text = body if isinstance(body, str) else "\n".join(block["text"] for block in _blocks(body, "") if isinstance(block.get("text"), str))
    return Message("tool", text, call_id=call_id, is_error=value.get("is_error") is True)
