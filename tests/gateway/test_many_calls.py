"""A patch of many files is one call of the agent and several of ours: hooks are asked about each."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.outside import Outside, outside, refusal
from treblehook.contracts.python import Hooks
from treblehook.lifecycle import Allow, Block, Deny, PermissionRequest, PreToolCall, Rewrite, ToolFinished

PATCH = """*** Begin Patch
*** Add File: a.txt
+one
*** Update File: src/b.py
*** Move to: src/c.py
@@
-old
+new
*** Delete File: .env
*** End Patch
"""
PATHS = ["a.txt", "src/b.py", "src/c.py", ".env"]


async def patching(side: Outside, event: str = "PreToolUse", **more: Any) -> dict[str, Any]:
    facts = {"session_id": "one", "cwd": str(side.workspace), "hook_event_name": event, "model": "gpt-5.5", "turn_id": "t"}
    call = {"tool_name": "apply_patch", "tool_input": {"command": PATCH}, "tool_use_id": "call_1"}
    return await side.raw(event, json.dumps({**facts, **call, **more}).encode(), "codex")


@pytest.mark.parametrize(("tool", "path"), [("write", "a.txt"), ("edit", "src/b.py"), ("write", "src/c.py"), ("write", ".env")])
async def test_a_guard_of_one_file_stops_the_whole_patch(tmp_path: Path, tool: str, path: str) -> None:
    hooks = Hooks()

    @hooks.on(PreToolCall, pattern=tool)
    async def guard(event: PreToolCall) -> Block | None:
        return Block("hands off") if event.call.input["path"] == path else None

    async with outside(tmp_path, hooks) as side:
        assert refusal(await patching(side)) == "hands off"


async def test_a_patch_to_which_nobody_objects_goes_on_after_all_were_judged(tmp_path: Path) -> None:
    hooks, seen = Hooks(), []

    @hooks.on(PreToolCall)
    async def see(event: PreToolCall) -> None:
        seen.append(event.call.input["path"])

    async with outside(tmp_path, hooks) as side:
        assert await patching(side) == {}
    assert seen == PATHS


async def test_a_patch_that_a_hook_rewrites_does_not_run(tmp_path: Path) -> None:
    hooks = Hooks()

    @hooks.on(PreToolCall, pattern="write")
    async def rewrite(event: PreToolCall) -> Rewrite | None:
        return Rewrite(input={"path": "b.txt", "content": "two\n"}) if event.call.input["path"] == "a.txt" else None

    async with outside(tmp_path, hooks) as side:
        told = refusal(await patching(side))
    assert told is not None
    assert '{"path":"b.txt","content":"two\\n"}' in told


async def test_a_permission_is_given_where_every_file_has_one(tmp_path: Path) -> None:
    hooks, free = Hooks(), set(PATHS)

    @hooks.on(PermissionRequest)
    async def answer(event: PermissionRequest) -> Allow | Deny | None:
        path = event.call.input["path"]
        return Deny("not that") if path not in PATHS else Allow() if path in free else None

    async with outside(tmp_path, hooks) as side:
        granted = await patching(side, "PermissionRequest")
        free.remove(".env")
        left_to_the_user = await patching(side, "PermissionRequest")
        denied = await patching(side, "PermissionRequest", tool_input={"command": PATCH.replace(".env", "other")})
    assert granted["hookSpecificOutput"]["decision"] == {"behavior": "allow"}
    assert left_to_the_user == {}
    assert denied["hookSpecificOutput"]["decision"]["behavior"] == "deny"


async def test_what_has_run_is_told_of_every_file(tmp_path: Path) -> None:
    hooks, seen = Hooks(), []

    @hooks.on(ToolFinished)
    async def add(event: ToolFinished) -> Rewrite:
        seen.append(event.call.input["path"])
        return Rewrite(content=f"{event.content}+")

    async with outside(tmp_path, hooks) as side:
        assert await patching(side, "PostToolUse", tool_response="done") == {"decision": "block", "reason": "done++++"}
    assert seen == PATHS
