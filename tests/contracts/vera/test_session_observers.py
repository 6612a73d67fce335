"""When a session tells the hooks that only watch (vera.md 3.6 to 3.8, 3.10; cases 121 to 136, 160)."""

import asyncio
import signal
from typing import Any

import pytest

from tests.support.command_run import Stage, calls
from tests.support.nest import HELD, KEEPS_STDIN, Nest, agent, says, settled
from tests.support.processes import until
from treblehook.home.residents import Residents

SUMMARY = {"text": "In short."}
DIG = {"match": "dig", "turns": [{"text": " Dug. "}, {"text": "Dug again."}]}


def reasons(nest: Nest) -> list[tuple[str, bool]]:
    return [(payload["reason"], payload["spawned"]) for payload in nest.sent("session_end")]


async def test_pre_compact_is_told_what_starts(nest: Nest) -> None:
    nest.settings("[model]\ncontext_window = 100000\n")
    nest.hook("pre_compact", "pre_compact", KEEPS_STDIN)
    nest.plays(aux=SUMMARY, after={"text": "Aye.", "usage": {"input": 99_000}})
    session = await nest.open()
    await session.prompt("one")
    await session.prompt("two")
    await session.compact()

    automatic, manual = sorted(await nest.heard("pre_compact", 2), key=lambda payload: payload["reason"])
    assert (automatic["reason"], automatic["tokens"], automatic["capacity"]) == ("automatic", 99_005, 100_000)
    assert (manual["reason"], manual["spawned"], manual["sessionId"]) == ("manual", False, session.id)


async def test_pre_compact_is_told_of_a_compaction_that_fails_too(nest: Nest) -> None:
    nest.hook("pre_compact", "pre_compact", KEEPS_STDIN)
    nest.plays(aux={"status": 400}, after={"text": "Aye."})
    session = await nest.open()
    await session.prompt("one")

    assert await session.compact() is not None
    (payload,) = await nest.heard("pre_compact")
    assert "capacity" not in payload


async def test_case_121_a_slow_hook_does_not_delay_the_summary(nest: Nest) -> None:
    nest.hook("pre_compact", "slow", HELD + KEEPS_STDIN)
    nest.plays(aux=SUMMARY, after={"text": "Aye."})
    session = await nest.open()
    await session.prompt("one")

    assert await session.compact() is None

    assert nest.sent("slow") == []
    nest.release("slow")
    assert len(await nest.heard("slow")) == 1


async def test_case_125_a_new_session_of_the_only_client_detaches_the_old_one(nest: Nest) -> None:
    nest.hook("session_end", "session_end", KEEPS_STDIN)
    nest.recorder("session_start")
    residents = Residents(nest.home)
    old = await residents.open(nest.wish(), nest.company(), client="first")
    await old.prompt("one")

    new = await residents.new(old.id, "first", nest.wish(), nest.company())

    (payload,) = await nest.heard("session_end")
    assert payload == {
        "type": "session_end",
        "sessionId": old.id,
        "workspace": str(nest.workspace),
        "reason": "detached",
        "turns": 1,
        "spawned": False,
    }
    assert residents.sessions == [new]
    assert [p["sessionId"] for p in nest.sent("session_start")] == [old.id, new.id]
    await residents.shutdown()


async def test_case_126_a_session_stays_while_another_client_does(nest: Nest) -> None:
    nest.hook("session_end", "session_end", KEEPS_STDIN)
    residents = Residents(nest.home)
    session = await residents.open(nest.wish(), nest.company(), client="first")
    residents.attach(session.id, "second")

    await residents.detach(session.id, "first")

    assert nest.sent("session_end") == []
    assert (await session.prompt("one")).status == "finished"
    await residents.detach(session.id, "second")
    await nest.heard("session_end")
    assert reasons(nest) == [("detached", False)]


async def test_case_128_a_stopping_host_does_not_wait_for_a_slow_hook(nest: Nest) -> None:
    nest.hook("session_end", "slow", HELD + KEEPS_STDIN)
    nest.hook("session_end", "session_end", KEEPS_STDIN)
    residents = Residents(nest.home)
    await residents.open(nest.wish(), nest.company(), client="first")

    await residents.shutdown(0.2)
    await nest.started("slow")
    await nest.home.close()

    assert nest.sent("slow") == []
    assert reasons(nest) == [("shutdown", False)]


def test_case_129_a_host_that_is_killed_tells_nobody(tmp_path: Any) -> None:
    stage = Stage(tmp_path)
    stage.home.hook("session_end", "end", f"touch {tmp_path}/ended")
    stage.plays(calls("sleep 600"))
    running = stage.start("run", "--approve", "always", "go")
    running.until("tool_call")

    running.signal(signal.SIGKILL)
    running.end()

    # Its next life is a resume, and the end of that one is told.
    stage.plays({"text": "Aye."})
    assert not (tmp_path / "ended").exists()
    assert stage.run("run", "--resume", stage.sessions()[0].stem, "and now?").status == 0
    assert (tmp_path / "ended").exists()


async def test_case_130_and_160_a_deleted_session_ends_once(nest: Nest) -> None:
    nest.hook("session_end", "session_end", KEEPS_STDIN)
    nest.claude("SessionEnd", "claude-end", KEEPS_STDIN)
    residents = Residents(nest.home)
    session = await residents.open(nest.wish(), nest.company(), client="first")
    await session.prompt("one")

    await residents.delete(session.id)

    await nest.heard("session_end")
    assert reasons(nest) == [("deleted", False)]
    assert await nest.heard("claude-end") == [
        {"session_id": session.id, "cwd": str(nest.workspace), "hook_event_name": "SessionEnd", "reason": "other"}
    ]
    await residents.shutdown()
    assert reasons(nest) == [("deleted", False)]


async def test_turns_are_the_prompts_that_started_one(nest: Nest) -> None:
    """Joined messages, contexts, continuations and deliveries do not count; blocked ones do, and those of an earlier life."""
    nest.hook("session_end", "session_end", KEEPS_STDIN)
    nest.answers("pre_turn", "guard", {"forbidden": {"power": "block", "reason": "no"}, "e": {"power": "mutate", "context": "c"}})
    nest.answers("turn_ending", "again", {'"continuations":0': {"power": "continue", "context": "more"}})
    nest.plays({"tools": [{"name": "bash", "args": {"command": "true"}}]}, agent("dig", background=True), routes=[DIG])
    session = await nest.open()
    asked, go = nest.hold_model()
    turn = asyncio.ensure_future(session.prompt("one"))
    await asked.wait()
    session.join("joined")
    go.set()
    await turn
    nest.before_reply = None
    await settled(session)
    await session.prompt("forbidden")
    await session.prompt("two", "three")
    await session.finish("detached")
    await nest.heard("session_end", 2)
    assert [p["turns"] for p in nest.sent("session_end") if not p["spawned"]] == [3]

    again = await nest.open(resume=session.id)
    await again.prompt("four")
    await again.finish("detached")

    await nest.heard("session_end", 3)
    assert [p["turns"] for p in nest.sent("session_end") if not p["spawned"]] == [3, 4]


async def test_the_end_is_told_after_the_turn_has_really_stopped(nest: Nest) -> None:
    nest.hook("session_end", "session_end", f'touch "$0.ran"; {KEEPS_STDIN}')
    nest.plays({"tools": [{"name": "bash", "args": {"command": "sleep 600"}}]})
    session = await nest.open()
    turn = asyncio.ensure_future(session.prompt("one"))
    await until(lambda: bool(nest.ears.of("tool_call")))

    await session.finish("closed")

    assert (await turn).status == "interrupted"
    types = nest.ears.types(without=("session", "prompt", "hook"))
    assert types == ["tool_call", "tool_result"]
    assert nest.ears.records[-1]["type"] == "hook"
    await nest.heard("session_end")
    assert (await session.prompt("late")).status == "interrupted"


async def test_case_136_no_observer_waits_for_another(nest: Nest) -> None:
    """However many there are: each goes on only once the last one has been started."""
    count = 8
    for number in range(count):
        wait = f'touch "$0.started"; while [ ! -e "{nest.hooks}/end{count - 1}.started" ]; do sleep 0.005; done'
        nest.hook("session_end", f"end{number}", f"{wait}; {KEEPS_STDIN}")
    session = await nest.open()

    assert await session.finish("detached") == []

    assert [len(nest.sent(f"end{number}")) for number in range(count)] == [1] * count


async def test_a_failing_observer_changes_nothing_but_the_log(nest: Nest) -> None:
    nest.hook("subagent_finished", "broken", "exit 3")
    nest.hook("pre_compact", "noisy", "echo garbage")
    nest.plays(agent("dig"), {"text": "Thanks."}, routes=[DIG], aux=SUMMARY)
    session = await nest.open()

    assert (await session.prompt("go")).text == "Thanks."
    assert await session.compact() is None
    await until(lambda: bool(nest.log()))
    await session.finish("detached")

    (line,) = nest.log()
    assert (line["type"], line["level"], line["command"]) == ("subagent_finished_hook_failed", "warn", "broken")
    assert "3" in line["message"]
    assert line["timestamp"].endswith("Z")


@pytest.mark.parametrize("profile", ["bare", "prompt-only"])
async def test_a_bare_session_runs_no_hooks_nor_do_its_subagents_nor_its_next_life(nest: Nest, profile: str) -> None:
    phases = (
        "session_start",
        "pre_turn",
        "pre_tool_use",
        "post_tool_use",
        "turn_ending",
        "pre_compact",
        "session_end",
        "subagent_finished",
    )
    for phase in phases:
        nest.recorder(phase)
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "Stop", "SubagentStop", "PreCompact", "SessionEnd"):
        nest.claude(event, event, KEEPS_STDIN)
    work = [{"name": "bash", "args": {"command": "true"}}, *agent("dig")["tools"], *agent("sail", background=True)["tools"]]
    routes = [{"match": "dig", "turns": [{"tools": work[:1]}]}, {"match": "sail", "turns": [{"tools": work[:1]}]}]
    nest.plays({"tools": work}, routes=routes, aux=SUMMARY, after={"text": "Aye."})
    session = await nest.open(profile=profile)
    await session.prompt("go")
    await settled(session)
    assert await session.compact() is None
    await session.finish("detached")
    assert any(record["parent"] for record in nest.ears.of("session")) is (profile == "bare")

    again = await nest.open(resume=session.id)
    await again.prompt("again")
    await again.finish("detached")

    assert again.state.profile == profile
    assert nest.ears.of("hook") == []
    assert list(nest.hooks.glob("*.stdin")) == []


async def test_a_narrower_profile_can_be_asked_for_at_a_resume_but_no_wider_one(nest: Nest) -> None:
    for first, asked, expected in [
        ("default", "bare", "bare"),
        ("bare", "default", "bare"),
        ("bare", "prompt-only", "prompt-only"),
        ("prompt-only", "bare", "prompt-only"),
    ]:
        session = await nest.open(profile=first)
        await session.finish("detached")
        again = await nest.open(resume=session.id, profile=asked)
        assert again.state.profile == expected
        await again.finish("detached")


async def test_what_an_observer_prints_is_nothing(nest: Nest) -> None:
    nest.hook("session_end", "block", says({"power": "block", "reason": "stay"}))
    session = await nest.open()

    assert await session.finish("detached") == []
    assert nest.log() == []
