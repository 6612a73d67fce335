"""The guard for the Claude Agent SDK: who else is judged and asked, and what holds where hooks cannot be asked."""

from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import HookMatcher, PermissionResultAllow

from tests.adapters.sdks.claude_ship import REPLY, Ship, fake_model, ship
from tests.support.adapter_contract import home_that_blocks
from treblehook import (
    Allow,
    Block,
    Deny,
    Home,
    Hooks,
    PermissionRequest,
    PreToolCall,
    Rewrite,
    SubagentFinished,
)
from treblehook.adapters.claude_agent_sdk import TreblehookGuard

__all__ = ["fake_model", "ship"]


async def test_a_home_with_an_executable_guards_the_tools(ship: Ship, tmp_path: Path) -> None:
    async with Home(home_that_blocks(tmp_path, tool="bash", reason="no shells aboard")) as home:
        ship.play(("Bash", {"command": "touch chest"}))
        await ship.run(home)
    assert not (ship.folder / "chest").exists()
    assert "no shells aboard" in ship.requests()[1]


@pytest.mark.parametrize("answers", [False, True])
async def test_a_rule_that_wants_the_user_asked_asks_whoever_the_program_has(ship: Ship, tmp_path: Path, answers: bool) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text('[permissions]\nask = ["bash(touch *)"]\n')
    asked = []

    async def user(name: str, given: dict[str, Any], context: Any) -> PermissionResultAllow:
        asked.append((name, given["command"]))
        return PermissionResultAllow()

    async with Home(tmp_path / "home") as home:
        ship.play(("Bash", {"command": "touch chest"}))
        await ship.run(home, can_use_tool=user if answers else None)
    assert (ship.folder / "chest").exists() == answers
    assert asked == ([("Bash", "touch chest")] if answers else [])


@pytest.mark.parametrize("blocks", [False, True])
async def test_the_calls_of_a_subagent_are_judged(ship: Ship, blocks: bool) -> None:
    hooks, ended = Hooks(), []
    hooks.on(SubagentFinished)(ended.append)

    @hooks.on(PreToolCall, pattern="bash")
    def guard(event: PreToolCall) -> Block | None:
        return Block("not below deck") if blocks else None

    task = {"description": "look", "prompt": "LOOK BELOW", "subagent_type": "general-purpose", "run_in_background": False}
    call = {"tools": [{"name": "Bash", "args": {"command": "touch chest"}}]}
    below = {"match": "LOOK BELOW", "where": "first", "turns": [call]}
    ship.model.play({"turns": [{"tools": [{"name": "Agent|Task", "args": task}]}], "routes": [below]})
    await ship.run(hooks, allowed_tools=["Bash", "Agent", "Task"])
    assert (ship.folder / "chest").exists() != blocks
    assert ("not below deck" in "".join(ship.requests())) == blocks
    assert [event.text for event in ended] == [REPLY]


@pytest.mark.parametrize("answer", [None, Block("not by a slash"), Rewrite(input={"command": "touch other"})])
async def test_a_command_of_a_slash_command_is_judged(ship: Ship, answer: Block | Rewrite | None) -> None:
    hooks, asked = Hooks(), []

    @hooks.on(PreToolCall, pattern="bash")
    def guard(event: PreToolCall) -> Block | Rewrite | None:
        asked.append(event.call.input["command"])
        return answer

    command = ship.folder / ".claude" / "commands" / "dig.md"
    command.parent.mkdir(parents=True)
    command.write_text("---\nallowed-tools: Bash(touch:*)\n---\nDug: !`touch chest`\n")
    await ship.run(hooks, ["/dig"])
    assert asked == ["touch chest"]
    assert {path.name for path in ship.folder.iterdir()} == {".claude"} | ({"chest"} if answer is None else set())


@pytest.mark.parametrize("answer", [None, Allow(), Deny("not today")])
async def test_a_permission_that_would_be_asked_for_is_given_or_denied(ship: Ship, answer: Allow | Deny | None) -> None:
    hooks = Hooks()

    @hooks.on(PermissionRequest)
    def captain(event: PermissionRequest) -> Allow | Deny | None:
        return answer

    ship.play(("Bash", {"command": "touch chest"}))
    await ship.run(hooks, allowed_tools=["Read"])
    assert (ship.folder / "chest").exists() == isinstance(answer, Allow)
    assert ("not today" in ship.requests()[1]) == isinstance(answer, Deny)


async def test_an_input_that_is_no_json_blocks(ship: Ship) -> None:
    hooks = Hooks()

    @hooks.on(PreToolCall)
    def other(event: PreToolCall) -> Rewrite:
        return Rewrite(input={"command": "touch chest", "timeout_ms": float("nan")})

    ship.play(("Bash", {"command": "touch chest"}))
    await ship.run(hooks)
    assert not (ship.folder / "chest").exists()
    assert "could not ask its hooks" in ship.requests()[1]


async def test_hooks_that_could_not_be_asked_block(ship: Ship) -> None:
    async with Home(home_that_blocks(ship.folder, tool="none", reason="")) as home:
        pass
    ship.play(("Bash", {"command": "touch chest"}))
    guard = TreblehookGuard(home)
    matchers = guard.matchers()
    only = {event: given for event, given in matchers.items() if event == "PreToolUse"}
    await ship.talk(ship.options(None, hooks=only))
    assert not (ship.folder / "chest").exists()
    assert "could not ask its hooks" in ship.requests()[1]
    await ship.talk(ship.options(None, hooks=matchers), ["hello again"])
    assert "could not ask its hooks" in ship.reply


async def test_a_callback_that_fails_all_the_same_blocks(ship: Ship) -> None:
    async def broken(*given: Any) -> Any:
        raise MemoryError

    matchers = TreblehookGuard(Hooks()).matchers()
    one = matchers["PreToolUse"][0]
    matchers["PreToolUse"] = [HookMatcher(hooks=[broken], timeout=one.timeout, on_failure=one.on_failure)]
    ship.play(("Bash", {"command": "touch chest"}))
    await ship.talk(ship.options(None, hooks=matchers))
    assert not (ship.folder / "chest").exists()
