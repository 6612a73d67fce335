"""Scripts of the claude protocol in whole sessions: which sessions each event runs in, and what it is sent there (vera.md 4.1, 4.2)."""

import asyncio

import pytest

from tests.support.nest import KEEPS_STDIN, Nest, agent, bash, texts
from treblehook.agent.steps import TurnEnd

DIG = {"match": "dig", "turns": [bash("true"), {"text": "Dug."}]}
EVENTS = ("PreToolUse", "SessionStart", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact", "SessionEnd")


@pytest.mark.parametrize("background", [True, False])
async def test_which_events_run_in_a_subagent(nest: Nest, background: bool) -> None:
    """A background one is a session of its own, yet none of the user's: PreCompact and SessionEnd are not for it either."""
    for event in EVENTS:
        nest.claude(event, event, KEEPS_STDIN)
    nest.plays(agent("dig", background=background), {"text": "Aye."}, routes=[DIG])
    session = await nest.open()

    await session.prompt("go")
    ends: list[TurnEnd] = []
    await session.settle(ends.append)
    await session.finish("detached")

    (child,) = [record["id"] for record in nest.ears.of("session") if record["parent"]]
    ran = {event for event in EVENTS for payload in nest.sent(event) if payload["session_id"] == child}
    assert ran == {"PreToolUse", "SessionStart", "SubagentStop"}
    ran = {event for event in EVENTS for payload in nest.sent(event) if payload["session_id"] == session.id}
    assert ran == {"PreToolUse", "SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"}
    assert all("transcript_path" not in payload for event in EVENTS for payload in nest.sent(event))
    assert all(payload["hook_event_name"] == event for event in EVENTS for payload in nest.sent(event))


async def test_a_phase_name_stands_for_the_users_event(nest: Nest) -> None:
    for phase in ("session_start", "pre_turn", "pre_tool_use", "turn_ending", "session_end"):
        nest.claude(phase, phase, KEEPS_STDIN)
    nest.plays(agent("dig"), {"text": "Aye."}, routes=[DIG])
    session = await nest.open()

    await session.prompt("go")
    await session.finish("detached")

    names = {phase: [payload["hook_event_name"] for payload in nest.sent(phase)] for phase in ("pre_turn", "turn_ending", "session_end")}
    assert names == {"pre_turn": ["UserPromptSubmit"], "turn_ending": ["Stop"], "session_end": ["SessionEnd"]}
    assert [payload["hook_event_name"] for payload in nest.sent("session_start")] == ["SessionStart"] * 2


async def test_the_trigger_of_a_compaction(nest: Nest) -> None:
    nest.settings("[model]\ncontext_window = 100000\n")
    nest.claude("PreCompact", "trigger", KEEPS_STDIN)
    nest.plays(aux={"text": "In short."}, after={"text": "Aye.", "usage": {"input": 99_000}})
    session = await nest.open()
    await session.prompt("one")
    await session.prompt("two")
    await nest.heard("trigger")
    await session.compact()

    payloads = await nest.heard("trigger", 2)
    assert [(payload["trigger"], payload["custom_instructions"]) for payload in payloads] == [("auto", ""), ("manual", "")]


async def test_text_is_context_of_the_prompt(nest: Nest) -> None:
    nest.claude("UserPromptSubmit", "remember", f"{KEEPS_STDIN}echo ' [1,2] '")
    session = await nest.open()

    await session.prompt("where is it?")

    assert nest.sent("remember") == [
        {"session_id": session.id, "cwd": str(nest.workspace), "hook_event_name": "UserPromptSubmit", "prompt": "where is it?"}
    ]
    assert texts(nest.queries[0]) == ["where is it?", "[1,2]"]
    assert nest.ears.rows() == ["remember added context"]


async def test_exit_2_blocks_the_prompt_with_what_stderr_says(nest: Nest) -> None:
    nest.claude("UserPromptSubmit", "guard", "echo ' not today ' >&2; exit 2")
    session = await nest.open()

    assert await session.prompt("go") == TurnEnd("blocked", reason="not today")
    assert "blocked this turn: not today" in nest.ears.rows()[0]


async def test_exit_2_blocks_a_call_with_what_stderr_says(nest: Nest) -> None:
    nest.claude("PreToolUse", "guard", "echo ' no ' >&2; exit 2")
    nest.plays(bash("touch here"))
    session = await nest.open()

    await session.prompt("go")

    assert [record["content"] for record in nest.ears.of("tool_result")] == ["no"]
    assert not (nest.workspace / "here").exists()


async def test_ask_is_no_answer(nest: Nest) -> None:
    """Case 145: the call is blocked as by a failure, and nobody is asked."""
    nest.claude("PreToolUse", "ask", """echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}'""")
    nest.plays(bash("touch here"))
    session = await nest.open()

    await session.prompt("go")

    (result,) = nest.ears.of("tool_result")
    assert (result["ran"], result["is_error"], "failed" in result["content"]) == (False, True, True)


async def test_stop_sends_the_model_back_once(nest: Nest) -> None:
    nest.claude("Stop", "map-check", f"{KEEPS_STDIN}echo Draw the map. >&2; exit 2")
    nest.plays({"text": "Done."}, {"text": "Drawn."})
    session = await nest.open()

    assert (await session.prompt("go")).text == "Drawn."
    assert [(p["stop_hook_active"], p["last_assistant_message"]) for p in nest.sent("map-check")] == [(False, "Done."), (True, "Drawn.")]
    assert texts(nest.queries[1]) == ["go", "Draw the map."]
    assert nest.ears.rows() == ["map-check continued the turn"]


async def test_both_protocols_run_in_list_order(nest: Nest) -> None:
    log = nest.place / "log"
    nest.hook("pre_turn", "one", f"""echo one >> {log}; echo '{{"power":"observe"}}'""")
    nest.claude("UserPromptSubmit", "two", f"echo two >> {log}")
    nest.hook("pre_turn", "three", f"""echo three >> {log}; echo '{{"power":"observe"}}'""")
    session = await nest.open()

    await session.prompt("go")

    assert log.read_text().split() == ["one", "two", "three"]


async def test_sessions_do_not_wait_for_each_others_hooks(nest: Nest) -> None:
    """Chains of one session are sequential; different sessions run independently (vera.md 6)."""
    first, second = nest.place / "first", nest.place / "second"
    wait = f"""case "$payload" in *one*) touch {first}; while [ ! -e {second} ]; do sleep 0.005; done;; *) touch {second};; esac"""
    nest.hook("pre_turn", "meet", f"""{KEEPS_STDIN}{wait}; echo '{{"power":"observe"}}'""")
    one, two = await nest.open(), await nest.open()

    ends = await asyncio.gather(one.prompt("one"), two.prompt("two"))

    assert [end.status for end in ends] == ["finished", "finished"]
