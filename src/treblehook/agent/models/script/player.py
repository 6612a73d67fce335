"""The model behind `script:FILE`."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from treblehook.agent.models.model import ModelFailed, ModelQuery, ModelReply, ModelSpecInvalid, Stop, Usage
from treblehook.agent.models.script.file import Script, ScriptedTurn, ScriptedUsage, ScriptInvalid, WireStop, read_script
from treblehook.agent.models.script.position import Position, find_position
from treblehook.agent.models.statuses import status_failure
from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import ToolCall

_PIECES = 3
_STOPS: dict[WireStop, Stop] = {"end_turn": "end", "tool_use": "tools", "max_tokens": "length", "refusal": "refusal"}


class ScriptedModel:
    """Plays the file, which is read anew for each request, so that it may change meanwhile.

    Raises `ModelSpecInvalid` for a file that cannot be played. `sleep` waits for a turn's `delay`.
    """

    def __init__(self, spec: str, file: Path, window: int | None, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep) -> None:
        self.spec = spec
        self.window = window
        self._file = file
        self._sleep = sleep
        try:
            read_script(file)
        except ScriptInvalid as error:
            raise ModelSpecInvalid(spec, str(error)) from error

    async def reply(self, query: ModelQuery, on_text: Callable[[str], None]) -> ModelReply:
        """Play the turn at which the conversation stands; see `Model.reply`."""
        position = find_position(self._read(), query)
        turn = position.turn
        if turn.delay:
            await self._sleep(turn.delay)
        if turn.status >= 400:
            raise status_failure(self.spec, turn.status, turn.error or "scripted error")
        calls = _calls(position, query.tools)
        for piece in _pieces(turn.text or ""):
            on_text(piece)
            await asyncio.sleep(0)
        usage = turn.usage or ScriptedUsage()
        stop: Stop = "tools" if calls else "end"
        return ModelReply(turn.text or "", calls, _STOPS[turn.stop] if turn.stop else stop, Usage(usage.input, usage.output))

    def _read(self) -> Script:
        try:
            return read_script(self._file)
        except ScriptInvalid as error:
            raise ModelFailed(self.spec, "rejected", str(error)) from error


def _calls(position: Position, offered: Sequence[ToolSpec]) -> tuple[ToolCall, ...]:
    """The calls of a turn; an id tells turn, place in it and conversation."""
    groups = _groups(position.turn, position.newest)
    declared = {tool.name: tool.parameters.get("properties") or {} for tool in offered}
    calls = []
    for number, call in enumerate(position.turn.tools or ()):
        name, arguments = _chosen(str(_filled(call.name, groups)), _filled(call.args, groups), declared)
        calls.append(ToolCall(f"call_t{position.index}x{number}_{position.tag}", name, arguments))
    return tuple(calls)


def _chosen(name: str, arguments: dict[str, Any], declared: Mapping[str, Mapping[str, Any]]) -> tuple[str, dict[str, Any]]:
    """The alternative that is offered, the first if none is, with those arguments that its tool declares."""
    alternatives = name.split("|")
    chosen = next((name for name in alternatives if name in declared), alternatives[0])
    known = declared.get(chosen)
    if len(alternatives) > 1 and known:
        arguments = {key: value for key, value in arguments.items() if key in known}
    return chosen, arguments


def _groups(turn: ScriptedTurn, newest: str) -> tuple[str, ...]:
    found = re.search(turn.capture, newest) if turn.capture else None
    return found.groups(default="") if found else ()


def _filled(value: Any, groups: Sequence[str]) -> Any:
    """A value with captured groups in the place of `{1}`, `{2}`; a number alone in its place becomes a number."""
    if isinstance(value, dict):
        return {key: _filled(inner, groups) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, groups) for inner in value]
    if not isinstance(value, str):
        return value
    for number, group in enumerate(groups, 1):
        if value == f"{{{number}}}" and group.isdecimal():
            return int(group)
        value = value.replace(f"{{{number}}}", group)
    return value


def _pieces(text: str) -> list[str]:
    size = -(-len(text) // _PIECES) or 1
    return [text[start : start + size] for start in range(0, len(text), size)]
