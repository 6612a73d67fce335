"""The messages of `transform_context`: from ours to tables, and back (crucible.md 3.5).

`metadata.id` is ours: it tells which message a table is, so that what Lua is not shown (a provider's own form of a reply, the hook
that added a message) comes back with it. A table without metadata is a new message.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, get_args

import msgspec
from msgspec.structs import replace

from treblehook.contracts.crucible.plain import ReturnInvalid, plain, what
from treblehook.lifecycle import Message, ToolCall
from treblehook.lifecycle.values import Role

_ROLES: Final = get_args(Role)
_BYTES_PER_TOKEN: Final = 4


class MessagesInvalid(Exception):
    """A list of messages is rejected as a whole; the message says which one and why."""


def table_of(message: Message) -> dict[str, Any]:
    """What Lua is shown of a message."""
    return {"role": message.role, "content": message.text, "metadata": _metadata(message)}


def _metadata(message: Message) -> dict[str, Any]:
    told: dict[str, Any] = {"token_estimate": _tokens(message)}
    if message.id:
        told["id"] = message.id
    if message.tags:
        told["tags"] = list(message.tags)
    if message.calls:
        told["tool_calls"] = [{"id": call.id, "name": call.name, "args": call.input} for call in message.calls]
    if message.role == "tool":
        told["tool_call_id"] = message.call_id
        told["success"] = not message.is_error
    return told


def _tokens(message: Message) -> int:
    calls = sum(len(msgspec.json.encode(call.input)) for call in message.calls)
    return (len(message.text.encode("utf-8", "replace")) + calls) // _BYTES_PER_TOKEN


def messages_of(value: object, before: Sequence[Message]) -> tuple[Message, ...]:
    """The list that a handler returned instead of `before`.

    Raises `MessagesInvalid` where any of it is no message, or there is none; `ReturnInvalid` for what cannot be a message's text.
    """
    if not isinstance(value, list) or not value:
        raise MessagesInvalid(
            "`messages` has no message in it" if value == {} or value == [] else f"`messages` is {what(value)}, not a list"
        )
    known = {message.id: message for message in before if message.id}
    found: list[Message] = []
    for place, entry in enumerate(value, 1):
        message = _message(entry, known, f"messages[{place}]")
        # A message may stand in the list once under its name; a copy is a message of its own.
        known.pop(message.id, None)
        found.append(message)
    tools = {call.id: call.name for message in (*before, *found) for call in message.calls if call.id}
    return tuple(_of_tool(message, tools) for message in found)


def _of_tool(message: Message, tools: Mapping[str, str]) -> Message:
    """A new result named after the tool that was called."""
    missing = message.role == "tool" and not message.tool and message.call_id in tools
    return replace(message, tool=tools[message.call_id]) if missing else message


def _message(entry: object, known: Mapping[str, Message], where: str) -> Message:
    if not isinstance(entry, dict):
        raise MessagesInvalid(f"`{where}` is {what(entry)}, not a message")
    role = next((role for role in _ROLES if role == entry.get("role")), None)
    content = entry.get("content")
    if role is None:
        raise MessagesInvalid(f"`{where}.role` is {what(entry.get('role'))}; allowed are {', '.join(_ROLES)}")
    if isinstance(content, bytes):
        raise ReturnInvalid(f"returned a string that is not UTF-8 at `{where}.content`")
    if not isinstance(content, str):
        raise MessagesInvalid(f"`{where}.content` is {what(content)}; a string is needed")
    metadata = entry.get("metadata")
    if metadata is None or metadata == []:
        metadata = {}
    if not isinstance(metadata, dict):
        raise MessagesInvalid(f"`{where}.metadata` is {what(metadata)}; a table is needed")
    return _with_metadata(Message(role, content), metadata, known, f"{where}.metadata")


def _with_metadata(message: Message, metadata: dict[Any, Any], known: Mapping[str, Message], where: str) -> Message:
    """`message` with what its metadata says, and with what only the message of that id knows."""
    _check(metadata, "token_estimate", (int, float), "a number", where)
    _check(metadata, "timestamp", (int, float, str), "a time", where)
    success = _check(metadata, "success", (bool,), "true or false", where)
    call_id = _check(metadata, "tool_call_id", (str,), "a string", where)
    known_as = _check(metadata, "id", (str,), "a string", where)
    told = replace(
        message,
        calls=_calls(metadata.get("tool_calls"), f"{where}.tool_calls"),
        call_id=call_id or "",
        is_error=success is False,
        tags=_tags(metadata.get("tags"), f"{where}.tags"),
    )
    origin = known.get(known_as or "")
    if origin is None or origin.role != told.role:
        return told
    same = (told.text, told.calls) == (origin.text, origin.calls)
    return replace(told, id=origin.id, tool=origin.tool, source=origin.source, hook=origin.hook, raw=origin.raw if same else "")


def _check(metadata: dict[Any, Any], key: str, kinds: tuple[type, ...], words: str, where: str) -> Any:
    value = metadata.get(key)
    if value is None or (isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))):
        return value
    raise MessagesInvalid(f"`{where}.{key}` is {what(value)}; {words} is needed")


def _tags(value: object, where: str) -> tuple[str, ...]:
    if value is None or value == {}:
        return ()
    if isinstance(value, list) and all(isinstance(tag, str) for tag in value):
        return tuple(value)
    raise MessagesInvalid(f"`{where}` is {what(value)}; a list of strings is needed")


def _calls(value: object, where: str) -> tuple[ToolCall, ...]:
    if value is None or value == {}:
        return ()
    if not isinstance(value, list):
        raise MessagesInvalid(f"`{where}` is {what(value)}; a list of calls is needed")
    return tuple(_call(entry, f"{where}[{place}]") for place, entry in enumerate(value, 1))


def _call(entry: object, where: str) -> ToolCall:
    if isinstance(entry, dict):
        name, args = entry.get("name"), entry.get("args", {})
        call_id = entry.get("id")
        if isinstance(call_id, str) and isinstance(name, str) and isinstance(args, dict):
            return ToolCall(call_id, name, plain(args, f"{where}.args"))
    raise MessagesInvalid(f"`{where}` is no call; it needs the strings `id` and `name`, and a table `args`")
