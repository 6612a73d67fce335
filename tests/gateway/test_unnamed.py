"""Gemini gives its calls no ids; what has run is the call that was judged, also where hooks had rewritten it, and of equal ones each."""

import json
from pathlib import Path
from typing import Any

from tests.support.outside import Outside, outside
from treblehook.contracts.python import Hooks
from treblehook.gateway.unnamed import UnnamedCalls
from treblehook.lifecycle import PreToolCall, Rewrite, ToolCall, ToolFinished

ID = "call-" + "0" * 24


async def gemini(side: Outside, event: str, command: str, **more: Any) -> dict[str, Any]:
    facts = {"session_id": "one", "cwd": str(side.workspace), "hook_event_name": event, "tool_name": "run_shell_command"}
    return await side.raw(event, json.dumps({**facts, "tool_input": {"command": command}, **more}).encode(), "gemini")


async def ran(side: Outside, command: str) -> None:
    await gemini(side, "AfterTool", command, tool_response={"llmContent": "Output: ok"})


async def test_results_are_those_of_the_calls_that_were_judged(tmp_path: Path) -> None:
    hooks, judged, told = Hooks(), [], []

    @hooks.on(PreToolCall)
    async def rewrite(event: PreToolCall) -> Rewrite | None:
        judged.append(event.call.id)
        return Rewrite(input={"command": "true"}) if event.call.input["command"] == "rewrite" else None

    @hooks.on(ToolFinished)
    async def see(event: ToolFinished) -> None:
        told.append(event.call.id)

    async with outside(tmp_path, hooks) as side:
        for command in ("ls", "ls", "rewrite"):
            await gemini(side, "BeforeTool", command)
        for command in ("true", "ls", "ls", "never judged"):
            await ran(side, command)
    one, two, three = judged
    assert len({one, two, three}) == 3
    assert told[:3] == [three, two, one]
    assert told[3] not in judged


def test_an_id_of_the_agents_own_stays() -> None:
    calls, mine = UnnamedCalls(), ToolCall("call_1", "bash", {})
    calls.runs(calls.begun(mine))
    assert calls.begun(mine) is mine
    assert calls.ended(mine) is mine


def test_a_call_is_met_as_often_as_it_is_told_and_ends_once() -> None:
    calls, call = UnnamedCalls(), ToolCall(ID, "bash", {"command": "ls"})
    begun = calls.begun(call)
    calls.runs(begun)
    assert begun.id not in ("", ID)
    assert calls.met(call).id == calls.met(call).id == calls.ended(call).id == begun.id
    assert calls.ended(call).id == ID


def test_a_call_that_the_agent_has_dropped_is_not_taken_for_one_like_it() -> None:
    calls, call = UnnamedCalls(), ToolCall(ID, "bash", {"command": "ls"})
    calls.runs(calls.begun(call))
    again = calls.begun(call)
    calls.runs(again)
    assert calls.ended(call) == again


def test_calls_that_never_end_are_forgotten() -> None:
    calls = UnnamedCalls()
    for number in range(1000):
        calls.runs(ToolCall(f"{ID}-{number}", "bash", {"n": number}))
    assert calls.met(ToolCall(ID, "bash", {"n": 0})).id == ID
    assert calls.met(ToolCall(ID, "bash", {"n": 999})).id == f"{ID}-999"
