"""A hook call of an outside agent, from its bytes to its answer."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.outside import Outside, outside, refusal
from treblehook.contracts.python import Hooks
from treblehook.gateway.agents import AgentUnknown
from treblehook.lifecycle import (
    AddContext,
    Allow,
    Block,
    CompactionStarting,
    Continue,
    Deny,
    Event,
    Inject,
    PermissionRequest,
    PreToolCall,
    PromptSubmitted,
    Refuse,
    Replace,
    Rewrite,
    SessionEnd,
    SessionStart,
    ShellGate,
    ShellRan,
    TaskEnd,
    TaskStart,
    ToolFinished,
    ToolProposed,
    ToolRan,
    TurnComplete,
    TurnEnding,
)


def records(side: Outside) -> list[dict[str, Any]]:
    """What the only session's file holds."""
    (file,) = (side.home.path / "sessions").glob("*.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()]


async def test_the_rows_of_a_whole_session_in_their_order(tmp_path: Path) -> None:
    hooks, seen = Hooks(), []

    async def see(event: Event) -> None:
        seen.append(type(event).__name__)

    asked = (
        *(SessionStart, PromptSubmitted, TaskStart, ToolProposed, PreToolCall, ShellGate, ToolFinished, ToolRan, ShellRan),
        *(CompactionStarting, TurnEnding, TaskEnd, TurnComplete, SessionEnd),
    )
    for event in asked:
        if event is ShellGate:
            continue
        hooks.on(event)(see)
    async with outside(tmp_path, hooks) as side:
        assert await side.start() == {}
        assert await side.prompt() == {}
        assert await side.bash() == {}
        assert await side.ran("treasure") == {}
        assert await side.ask("PreCompact", trigger="manual", custom_instructions=None) == {}
        assert await side.stop() == {}
        assert await side.ask("SessionEnd", reason="other") == {}
    assert seen == [event.__name__ for event in asked if event is not ShellGate]


async def test_a_guard_for_bash_holds_for_the_agents_own_name_of_it(tmp_path: Path) -> None:
    hooks = Hooks()

    @hooks.on(PreToolCall, pattern="bash")
    async def guard(event: PreToolCall) -> Block | None:
        return Block("leave it where it is") if "rm" in event.call.input["command"] else None

    async with outside(tmp_path, hooks) as side:
        assert await side.bash() == {}
        assert refusal(await side.bash("rm -r treasure")) == "leave it where it is"
        kinds = [record["type"] for record in records(side)]
        assert kinds == ["session", "hook", "tool_call", "hook", "tool_call", "tool_result"]
        assert records(side)[-1]["content"] == "leave it where it is"
        assert not records(side)[-1]["ran"]


async def test_a_rewritten_call_runs_rewritten_under_the_agents_own_keys(tmp_path: Path) -> None:
    hooks = Hooks()

    @hooks.on(ToolProposed, pattern="write")
    async def elsewhere(event: ToolProposed) -> Rewrite:
        return Rewrite(input={**event.call.input, "path": "/tmp/elsewhere"})

    async with outside(tmp_path, hooks) as side:
        given = {"file_path": "/tmp/here", "content": "x"}
        answer = await side.ask("PreToolUse", tool_name="Write", tool_input=given, tool_use_id="t1")
        assert answer["hookSpecificOutput"]["updatedInput"] == {"file_path": "/tmp/elsewhere", "content": "x"}


async def test_a_replacement_is_a_denial_that_holds_the_result(tmp_path: Path) -> None:
    hooks = Hooks()

    @hooks.on(PreToolCall)
    async def instead(event: PreToolCall) -> Replace:
        return Replace("forty-two coins")

    async with outside(tmp_path, hooks) as side:
        assert "forty-two coins" in (refusal(await side.bash()) or "")


async def test_start_hooks_are_asked_once_whatever_comes_first(tmp_path: Path) -> None:
    hooks, asked = Hooks(), []

    @hooks.on(SessionStart)
    async def start(event: SessionStart) -> AddContext:
        asked.append(event.reason)
        return AddContext("the map is torn")

    async with outside(tmp_path, hooks) as side:
        assert await side.bash() == {}
        answer = await side.prompt()
        assert answer["hookSpecificOutput"]["additionalContext"] == "the map is torn"
        assert await side.prompt("again") == {}
        assert await side.start() == {}
    async with outside(tmp_path, hooks) as side:
        assert await side.bash() == {}
        assert asked == ["start"]
        assert await side.start(source="resume") != {}
    assert asked == ["start", "resume"]


async def test_a_refused_session_has_all_its_calls_refused_also_after_a_restart(tmp_path: Path) -> None:
    hooks, asked, ends = Hooks(), [], []

    @hooks.on(SessionStart)
    async def start(event: SessionStart) -> Refuse | None:
        asked.append(event.session)
        return None if event.spawned else Refuse("not today")

    @hooks.on(SessionEnd)
    async def end(event: SessionEnd) -> None:
        ends.append(event.reason)

    async with outside(tmp_path, hooks) as side:
        assert "not today" in (refusal(await side.bash()) or "")
        assert "not today" in (refusal(await side.bash(agent_id="a1", agent_type="general")) or "")
        assert (await side.prompt())["decision"] == "block"
    async with outside(tmp_path, hooks) as side:
        assert "not today" in (refusal(await side.bash()) or "")
    assert len(asked) == 1
    assert ends == ["refused"]


async def test_a_session_that_is_refused_when_it_is_resumed_stays_so_after_a_restart(tmp_path: Path) -> None:
    hooks = Hooks()

    @hooks.on(SessionStart)
    async def start(event: SessionStart) -> Refuse | None:
        return Refuse("not again") if event.reason == "resume" else None

    async with outside(tmp_path, hooks) as side:
        assert await side.bash() == {}
        await side.start(source="resume")
        assert "not again" in (refusal(await side.bash()) or "")
    async with outside(tmp_path, hooks) as side:
        assert "not again" in (refusal(await side.bash()) or "")
        assert await side.bash(session="two") == {}


async def test_a_session_stays_in_the_folder_it_began_in_also_after_a_restart(tmp_path: Path) -> None:
    hooks, seen = Hooks(), []

    @hooks.on(PreToolCall)
    async def guard(event: PreToolCall) -> None:
        seen.append(event.workspace)

    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        async with outside(tmp_path, hooks) as side:
            await side.bash(cwd=str(tmp_path / folder))
    assert seen == [str(tmp_path / "first")] * 2


async def test_a_blocked_prompt_and_context_for_one(tmp_path: Path) -> None:
    hooks = Hooks()

    @hooks.on(PromptSubmitted)
    async def look(event: PromptSubmitted) -> Block | AddContext:
        return Block("no digging") if "dig" in event.prompt else AddContext("mind the gap")

    async with outside(tmp_path, hooks) as side:
        answer = await side.prompt("dig")
        assert (answer["decision"], answer["reason"]) == ("block", "no digging")
        assert (await side.prompt("walk"))["hookSpecificOutput"]["additionalContext"] == "mind the gap"


async def test_a_prompt_that_narrows_the_tools_has_the_others_refused_in_that_turn(tmp_path: Path) -> None:
    hooks = Hooks()

    @hooks.on(PromptSubmitted)
    async def narrow(event: PromptSubmitted) -> Rewrite | None:
        return Rewrite(tools=("read",)) if "look" in event.prompt else None

    async with outside(tmp_path, hooks) as side:
        await side.prompt("look")
        assert "narrowed" in (refusal(await side.bash()) or "")
        assert await side.ask("PreToolUse", tool_name="Read", tool_input={"file_path": "/x"}, tool_use_id="t2") == {}
        subagent = {"agent_id": "a1", "agent_type": "general-purpose"}
        assert "narrowed" in (refusal(await side.bash(**subagent)) or ""), "what a subagent does, it does in that turn"
        await side.prompt("dig")
        assert await side.bash() == {}
        assert await side.bash(**subagent) == {}


@pytest.mark.parametrize(("decision", "behavior"), [(Allow(), "allow"), (Deny("never"), "deny")])
async def test_permission_hooks_answer_the_agents_own_prompt(tmp_path: Path, decision: Allow | Deny, behavior: str) -> None:
    hooks = Hooks()

    @hooks.on(PermissionRequest)
    async def answer(event: PermissionRequest) -> Allow | Deny:
        return decision

    async with outside(tmp_path, hooks) as side:
        said = await side.ask("PermissionRequest", tool_name="Bash", tool_input={"command": "rm x"})
        assert said["hookSpecificOutput"]["decision"]["behavior"] == behavior


async def test_a_result_is_patched(tmp_path: Path) -> None:
    hooks = Hooks()

    @hooks.on(ToolFinished, pattern="bash")
    async def redact(event: ToolFinished) -> Rewrite | None:
        return Rewrite(content=event.content.replace("sesame", "***")) if "sesame" in event.content else None

    async with outside(tmp_path, hooks) as side:
        answer = await side.ran("open sesame")
        assert answer["hookSpecificOutput"]["updatedToolOutput"]["stdout"] == "open ***"
        assert await side.ran("open") == {}
        # What a hook has taken out is not on disk either.
        assert "sesame" not in json.dumps(records(side))


async def test_a_stop_hook_sends_the_model_back_once_however_often_it_wants(tmp_path: Path) -> None:
    hooks = Hooks()

    @hooks.on(TurnEnding)
    async def more(event: TurnEnding) -> Continue:
        return Continue("look again")

    async with outside(tmp_path, hooks) as side:
        await side.prompt()
        first = await side.stop()
        assert (first["decision"], first["reason"]) == ("block", "look again")
        assert await side.stop(again=True) == {}
        await side.prompt()
        assert (await side.stop())["decision"] == "block"
        # An agent that says that it has been sent back is believed, also after a restart.
    async with outside(tmp_path, hooks) as side:
        assert await side.stop(again=True) == {}


async def test_what_a_turn_holds_comes_with_the_next_prompt(tmp_path: Path) -> None:
    hooks = Hooks()

    @hooks.on(TurnComplete)
    async def hold(event: TurnComplete) -> Inject:
        return Inject(f"after {event.reply}")

    async with outside(tmp_path, hooks) as side:
        assert await side.prompt() == {}
        assert await side.stop("one") == {}
        assert (await side.prompt())["hookSpecificOutput"]["additionalContext"] == "after one"


async def test_rules_of_the_home_hold(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text('[permissions]\ndeny = ["bash(sudo *)"]\nask = ["bash(git push*)"]\n')
    async with outside(tmp_path) as side:
        assert "bash(sudo *)" in (refusal(await side.bash("sudo rm x")) or "")
        assert (await side.bash("git push"))["hookSpecificOutput"]["permissionDecision"] == "ask"
        assert await side.bash("git status") == {}


async def test_a_closed_hook_that_fails_denies_and_an_open_one_does_not(tmp_path: Path) -> None:
    for policy in ("closed", "open"):
        hooks = Hooks()

        @hooks.on(ToolProposed, on_error=policy)
        async def broken(event: ToolProposed) -> None:
            raise RuntimeError("out of order")

        async with outside(tmp_path, hooks) as side:
            assert (refusal(await side.bash(session=policy)) is not None) is (policy == "closed")


async def test_hooks_that_take_too_long_deny_only_where_one_of_them_is_closed(tmp_path: Path) -> None:
    for policy in ("closed", "open"):
        hooks, never = Hooks(), asyncio.Event()

        @hooks.on(ToolProposed, on_error=policy)
        async def slow(event: ToolProposed, never: asyncio.Event = never) -> None:
            await never.wait()

        async with outside(tmp_path, hooks, seconds=0.2) as side:
            assert (refusal(await side.bash(session=policy)) is not None) is (policy == "closed")
            assert len(side.said) == 1
            assert "took longer than 0.2 s" in side.said[0]


BAD = {
    "no JSON": b"{",
    "text around it": b'hello {"a": 1}',
    "a list": b"[]",
    "nothing": b"",
    "invalid UTF-8": b'{"session_id": "\xff"}',
    "deep": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "fields missing": b'{"hook_event_name": "PreToolUse"}',
    "fields of a wrong type": b'{"session_id": 1, "cwd": [], "tool_name": {}, "tool_input": "x"}',
    "a number that is too large": b'{"session_id": 1e999}',
}


@pytest.mark.parametrize("body", BAD.values(), ids=BAD.keys())
async def test_a_call_that_cannot_be_read_is_denied_with_one_line(tmp_path: Path, body: bytes) -> None:
    async with outside(tmp_path) as side:
        assert refusal(await side.raw("PreToolUse", body))
        assert len(side.said) == 1
        assert "\n" not in side.said[0]
        assert await side.raw("Stop", body) == {}


async def test_an_event_of_a_newer_version_has_no_opinion(tmp_path: Path) -> None:
    async with outside(tmp_path) as side:
        assert await side.ask("SomethingNew", more=[1, {"x": None}]) == {}


async def test_unknown_fields_are_no_matter(tmp_path: Path) -> None:
    hooks = Hooks()

    @hooks.on(PreToolCall, pattern="bash")
    async def guard(event: PreToolCall) -> Block:
        return Block("no")

    async with outside(tmp_path, hooks) as side:
        assert refusal(await side.bash(brand_new={"deep": [1, 2]}, version=7)) == "no"


async def test_ten_megabytes_of_input(tmp_path: Path) -> None:
    hooks, sizes = Hooks(), []

    @hooks.on(PreToolCall, pattern="write")
    async def measure(event: PreToolCall) -> Block:
        sizes.append(len(event.call.input["content"]))
        return Block("too much")

    async with outside(tmp_path, hooks) as side:
        given = {"file_path": "/x", "content": "\u00e4" * 10_000_000}
        assert refusal(await side.ask("PreToolUse", tool_name="Write", tool_input=given, tool_use_id="t1")) == "too much"
        assert sizes == [10_000_000]


async def test_a_home_that_does_not_load_denies(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    async with outside(tmp_path) as side:
        side.home.path.joinpath("sessions").write_text("in the way")
        assert refusal(await side.bash())
        assert len(side.said) == 1


async def test_an_agent_that_is_not_known(tmp_path: Path) -> None:
    async with outside(tmp_path) as side:
        with pytest.raises(AgentUnknown, match="known: claude-code"):
            await side.raw("PreToolUse", b"{}", agent="claude")


async def test_a_subagent_is_a_session_of_its_own_with_a_parent(tmp_path: Path) -> None:
    hooks, seen = Hooks(), []

    @hooks.on(PreToolCall)
    async def look(event: PreToolCall) -> None:
        seen.append((event.session, event.spawned))

    async with outside(tmp_path, hooks) as side:
        await side.bash()
        await side.bash(agent_id="a1", agent_type="general")
        await side.bash(agent_id="a1", agent_type="general")
    (main, one, two) = seen
    assert main[0] != one[0] == two[0]
    assert (main[1], one[1]) == (False, True)


async def test_many_calls_at_once_open_one_session(tmp_path: Path) -> None:
    hooks, started = Hooks(), []

    @hooks.on(SessionStart)
    async def start(event: SessionStart) -> None:
        started.append(event.session)
        await asyncio.sleep(0)

    async with outside(tmp_path, hooks) as side:
        answers = await asyncio.gather(*(side.bash(f"echo {n}") for n in range(50)))
        assert answers == [{}] * 50
    assert len(started) == 1


async def test_a_session_that_is_quiet_is_parked_and_comes_back(tmp_path: Path) -> None:
    hooks, ends, starts = Hooks(), [], []

    @hooks.on(SessionEnd)
    async def end(event: SessionEnd) -> None:
        ends.append(event.reason)

    @hooks.on(SessionStart)
    async def start(event: SessionStart) -> None:
        starts.append(event.reason)

    async with outside(tmp_path, hooks) as side:
        await side.bash()
        side.gateway.sessions.park(0.0)
        await side.gateway.close()
        assert (side.gateway.sessions.count, ends) == (0, ["idle"])
        assert await side.bash() == {}
        assert starts == ["start"]
        assert len(list((side.home.path / "sessions").glob("*.jsonl"))) == 1


BROKEN = "local x = nil + 1"
GUARD = 'cru.on("pre_tool_call", function() return { cancel = true, reason = "Leave it." } end)\n'


async def test_calls_are_denied_while_an_init_lua_does_not_load(tmp_path: Path) -> None:
    file = tmp_path / "home" / "init.lua"
    file.parent.mkdir()
    file.write_text(f"{BROKEN}\n{GUARD}")
    async with outside(tmp_path) as side:
        told = refusal(await side.bash("ls")) or ""
        assert f"{file}: line 1" in told
        assert list((side.home.path / "sessions").iterdir()) == []
        file.write_text(GUARD)
        assert "Leave it." in (refusal(await side.bash("ls")) or "")
        file.write_text("-- nothing")
        assert refusal(await side.bash("ls", session="two")) is None
        file.write_text(BROKEN)
        assert f"{file}: line 1" in (refusal(await side.bash("ls", session="three")) or "")


async def test_calls_are_denied_while_a_plugin_does_not_load(tmp_path: Path) -> None:
    file = tmp_path / "home" / "plugins" / "guard.lua"
    file.parent.mkdir(parents=True)
    file.write_text(BROKEN)
    async with outside(tmp_path) as side:
        assert "plugin guard did not load" in (refusal(await side.bash("ls")) or "")
        file.write_text(GUARD)
        assert "Leave it." in (refusal(await side.bash("ls")) or "")


async def test_a_plugin_that_is_turned_off_is_not_missed(tmp_path: Path) -> None:
    file = tmp_path / "home" / "plugins" / "guard.lua"
    file.parent.mkdir(parents=True)
    file.write_text(BROKEN)
    async with outside(tmp_path) as side:
        assert refusal(await side.bash("ls")) is not None
        (tmp_path / "home" / "config.toml").write_text("[plugins.guard]\nenabled = false\n")
        assert refusal(await side.bash("ls")) is None
