"""A call that an agent makes in another folder than its session's means the file there, to hooks and to rules."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.outside import Outside, outside, refusal
from treblehook.contracts.python import Hooks
from treblehook.gateway.placing import placed, unplaced
from treblehook.lifecycle import Block, PreToolCall, Rewrite, ToolCall


def call(name: str, **given: Any) -> ToolCall:
    return ToolCall("c1", name, given)


@pytest.mark.parametrize(
    ("made", "there"),
    [
        (call("bash", command="ls"), call("bash", command="ls", workdir="/there")),
        (call("bash", command="ls", workdir="/other"), call("bash", command="ls", workdir="/other")),
        (call("write", path="a"), call("write", path="/there/a")),
        (call("write", path="../a"), call("write", path="/there/../a")),
        (call("write", path="/a"), call("write", path="/a")),
        (call("write", path="~/a"), call("write", path="~/a")),
        (call("write", path=7), call("write", path=7)),
        (call("agent", task="dig"), call("agent", task="dig")),
    ],
)
def test_where_a_call_means(made: ToolCall, there: ToolCall) -> None:
    assert placed(made, "/there", "/here") == there
    assert placed(made, "/here", "/here") is made


def test_the_folder_that_was_added_goes_again() -> None:
    made = call("bash", command="ls")
    assert unplaced({"command": "true", "workdir": "/there"}, made, "/there") == {"command": "true"}
    assert unplaced({"command": "true", "workdir": "/else"}, made, "/there") == {"command": "true", "workdir": "/else"}
    named = call("bash", command="ls", workdir="/there")
    assert unplaced({"command": "true", "workdir": "/there"}, named, "/there") == {"command": "true", "workdir": "/there"}


async def codex(side: Outside, command: str, folder: Path) -> dict[str, Any]:
    facts = {"session_id": "one", "hook_event_name": "PreToolUse", "tool_use_id": "c1", "tool_name": "Bash"}
    await side.raw("SessionStart", json.dumps({"session_id": "one", "cwd": str(side.workspace), "source": "startup"}).encode(), "codex")
    body = {**facts, "cwd": str(folder), "tool_input": {"command": command}}
    return await side.raw("PreToolUse", json.dumps(body).encode(), "codex")


async def test_a_guard_sees_where_a_command_runs_and_its_rewrite_is_only_of_the_command(tmp_path: Path) -> None:
    hooks, seen = Hooks(), []

    @hooks.on(PreToolCall, pattern="bash")
    async def guard(event: PreToolCall) -> Rewrite | Block | None:
        seen.append(event.call.input)
        return Rewrite(input={**event.call.input, "command": "true"}) if event.call.input["command"] == "rm x" else None

    async with outside(tmp_path, hooks) as side:
        here = await codex(side, "ls", side.workspace)
        there = await codex(side, "rm x", tmp_path)
    assert here == {}
    assert there["hookSpecificOutput"]["updatedInput"] == {"command": "true"}
    assert seen == [{"command": "ls"}, {"command": "rm x", "workdir": str(tmp_path)}]


async def test_our_home_is_protected_from_a_command_that_is_run_in_it(tmp_path: Path) -> None:
    async with outside(tmp_path) as side:
        assert await codex(side, "rm init.lua", side.workspace) == {}
        assert "protected" in (refusal(await codex(side, "rm init.lua", tmp_path / "home")) or "")
