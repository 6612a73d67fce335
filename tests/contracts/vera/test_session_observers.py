"""When a session tells the hooks that only watch (vera.md 3.6 to 3.8, 3.10; cases 121 to 136, 160)."""

import asyncio
import signal
from typing import Any

import pytest

from tests.support.command_run import Stage, calls
from tests.support.nest import HELD, KEEPS_STDIN, Nest, agent, says, texts
from tests.support.processes import until
from treblehook.agent.session import Session
from treblehook.agent.steps import TurnEnd
from treblehook.contracts.python import Hooks
from treblehook.home.residents import Residents
from treblehook.lifecycle import SessionEnd, TurnComplete

SUMMARY = {"text": "In short."}
DIG = {"match": "dig", "turns": [{"text": " Dug. "}, {"text": "Dug again."}]}


async def settled(session: Session) -> list[TurnEnd]:
    """Every background subagent has handed back, and every turn for what they delivered is over."""
    ends: list[TurnEnd] = []
    await session.settle(ends.append)
    return ends


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


async def test_case_132_an_awaited_subagent_hands_back(nest: Nest) -> None:
    nest.hook("subagent_finished", "subagent_finished", KEEPS_STDIN)
    nest.hook("session_end", "session_end", KEEPS_STDIN)
    nest.plays(agent("dig"), {"text": "Thanks."}, routes=[DIG])
    session = await nest.open()

    await session.prompt("go")

    (child,) = [record["id"] for record in nest.ears.of("session") if record["parent"] == session.id]
    assert await nest.heard("subagent_finished") == [
        {
            "type": "subagent_finished",
            "parentSessionId": session.id,
            "subagentId": child,
            "workspace": str(nest.workspace),
            "background": False,
            "outcome": "completed",
            "text": "Dug.",
        }
    ]
    await session.finish("detached")
    await nest.heard("session_end")
    assert reasons(nest) == [("detached", False)]


async def test_an_awaited_subagents_compaction_is_not_told(nest: Nest) -> None:
    nest.settings("[model]\ncontext_window = 10000\n")
    nest.hook("pre_compact", "pre_compact", KEEPS_STDIN)
    nest.recorder("session_start")
    full = {"tools": [{"name": "bash", "args": {"command": "true"}}], "usage": {"input": 9900}}
    awaited = {"match": "dig", "turns": [full]}
    resident = {"match": "sail", "turns": [full]}
    summary = {"match": "Summarise", "where": "last", "turns": [{**SUMMARY, "repeat": 9}]}
    nest.plays(agent("dig"), agent("sail", background=True), routes=[summary, awaited, resident])
    session = await nest.open()

    await session.prompt("go")
    await settled(session)

    assert [record["reason"] for record in nest.ears.of("compaction")] == ["automatic", "automatic"]
    assert sorted(payload["reason"] for payload in nest.sent("session_start")) == ["compacted", "compacted", "start", "start", "start"]
    (payload,) = await nest.heard("pre_compact")
    assert payload["spawned"] is True


async def test_a_slow_hook_does_not_delay_the_result_of_a_subagent(nest: Nest) -> None:
    """Not even one of a subagent's own subagent, which dies with its parent's work."""
    nest.hook("subagent_finished", "slow", HELD + KEEPS_STDIN)
    inner = {"match": "inner", "turns": [{"text": "Inner."}]}
    outer = {"match": "outer", "turns": [agent("inner"), {"text": "Outer."}]}
    nest.plays(agent("outer"), {"text": "Thanks."}, routes=[inner, outer])
    session = await nest.open()

    assert (await session.prompt("go")).text == "Thanks."

    assert nest.sent("slow") == []
    nest.release("slow")
    assert sorted(payload["text"] for payload in await nest.heard("slow", 2)) == ["Inner.", "Outer."]


async def test_case_133_a_background_subagent_hands_back_each_result(nest: Nest) -> None:
    nest.hook("subagent_finished", "subagent_finished", KEEPS_STDIN)
    nest.plays(agent("dig", background=True), {"text": "Waiting."}, {"text": "Thanks."}, routes=[DIG])
    session = await nest.open()
    await session.prompt("go")
    await settled(session)
    (first,) = await nest.heard("subagent_finished")
    nest.plays(*[{}] * 3, agent("more", to=first["subagentId"]), after={"text": "Aye."}, routes=[DIG])
    await session.prompt("again")
    await settled(session)

    first, second = await nest.heard("subagent_finished", 2)

    assert (first["background"], first["outcome"], first["text"]) == (True, "completed", "Dug.")
    assert (second["background"], second["subagentId"], second["text"]) == (True, first["subagentId"], "Dug again.")
    assert [text for text in texts(nest.queries[-1]) if text.startswith("Subagent")] == [
        f"Subagent {first['subagentId']} has finished.\n\nDug.",
        f"Subagent {first['subagentId']} has finished.\n\nDug again.",
    ]


async def test_a_background_subagent_hands_back_once_all_that_waits_is_done(nest: Nest) -> None:
    nest.hook("subagent_finished", "subagent_finished", KEEPS_STDIN)
    nest.plays(agent("dig", background=True), {"text": "Waiting."}, routes=[DIG])
    session = await nest.open()
    asked, go = nest.hold_model()
    go.set()

    async def hold_the_subagent(query: Any) -> None:
        if "dig" in texts(query)[0]:
            asked.set()
            await go.wait()

    go.clear()
    nest.before_reply = hold_the_subagent
    await session.prompt("go")
    await asked.wait()
    (child,) = [record["id"] for record in nest.ears.of("session") if record["parent"]]
    nest.plays({}, {}, agent("dig deeper", to=child), {"text": "Still waiting."}, routes=[DIG])
    await session.prompt("more")
    go.set()

    ends = await settled(session)

    assert len(ends) == 1
    (payload,) = await nest.heard("subagent_finished")
    assert payload["text"] == "Dug again."


@pytest.mark.parametrize(
    ("turn", "text"),
    [({"status": 400, "error": "storm"}, "storm"), ({"text": "cut", "stop": "max_tokens"}, "cut")],
)
async def test_a_subagent_that_did_not_stop_normally_hands_back_an_error(nest: Nest, turn: dict[str, Any], text: str) -> None:
    nest.hook("subagent_finished", "subagent_finished", KEEPS_STDIN)
    nest.plays(agent("dig"), routes=[{"match": "dig", "turns": [turn]}])
    session = await nest.open()

    await session.prompt("go")

    (payload,) = await nest.heard("subagent_finished")
    assert payload["outcome"] == "error"
    assert text in payload["text"]


async def test_a_subagent_that_says_nothing_hands_back_a_fixed_sentence(nest: Nest) -> None:
    nest.hook("subagent_finished", "subagent_finished", KEEPS_STDIN)
    nest.plays(agent("dig"), routes=[{"match": "dig", "turns": [{"text": " \n"}]}])
    session = await nest.open()

    await session.prompt("go")

    (payload,) = await nest.heard("subagent_finished")
    assert (payload["outcome"], payload["text"]) == ("completed", "The subagent ended without saying anything.")


async def test_case_134_a_subagent_stopped_with_esc_hands_nothing_back(nest: Nest) -> None:
    nest.hook("subagent_finished", "subagent_finished", KEEPS_STDIN)
    nest.hook("turn_ending", "ending", KEEPS_STDIN)
    nest.plays(agent("dig"), {"text": "Thanks."}, routes=[{"match": "dig", "turns": [{"text": "never", "delay": 600}]}])
    session = await nest.open()
    turn = asyncio.ensure_future(session.prompt("go"))
    await until(lambda: len(nest.queries) == 2)

    await session.interrupt()

    assert (await turn).status == "interrupted"
    assert (await session.prompt("again")).text == "Thanks."
    await session.finish("detached")
    assert nest.sent("subagent_finished") == []
    ends = [(record["session"] == session.id, record["status"]) for record in nest.ears.of("end")]
    assert ends == [(False, "interrupted")]


@pytest.mark.parametrize("background", [True, False])
async def test_case_134_a_subagent_whose_own_turn_is_stopped_hands_nothing_back(nest: Nest, background: bool) -> None:
    nest.hook("subagent_finished", "subagent_finished", KEEPS_STDIN)
    routes = [{"match": "dig", "turns": [{"text": "never", "delay": 600}]}]
    nest.plays(agent("dig", background=background), {"text": "Thanks."}, routes=routes)
    session = await nest.open()
    turn = asyncio.ensure_future(session.prompt("go"))
    await until(lambda: any("dig" in texts(query) for query in nest.queries))
    (child,) = [record["id"] for record in nest.ears.of("session") if record["parent"]]

    await nest.home.sessions._sessions[child].interrupt()

    assert (await turn).text == "Thanks."
    assert await settled(session) == []
    await session.finish("detached")
    assert nest.sent("subagent_finished") == []
    if not background:
        assert [result["is_error"] for result in nest.ears.of("tool_result")] == [True]


async def test_a_subagent_closed_before_its_result_hands_nothing_back_and_ends_with_its_parent(nest: Nest) -> None:
    nest.hook("subagent_finished", "subagent_finished", KEEPS_STDIN)
    nest.hook("session_end", "session_end", KEEPS_STDIN)
    never = {"text": "never", "delay": 600}
    routes = [{"match": "inner", "turns": [never]}, {"match": "outer", "turns": [agent("inner", background=True), never]}]
    nest.plays(agent("outer", background=True), routes=routes)
    session = await nest.open()
    await session.prompt("go")
    await until(lambda: len(nest.queries) == 5)

    await session.finish("idle")

    await nest.heard("session_end", 3)
    assert sorted(reasons(nest)) == [("idle", False), ("idle", True), ("idle", True)]
    assert nest.sent("subagent_finished") == []
    ids = {payload["sessionId"] for payload in nest.sent("session_end")}
    assert len(ids) == 3


async def test_subagents_end_before_their_parent(nest: Nest) -> None:
    ended: list[str] = []
    hooks = Hooks()
    hooks.on(SessionEnd)(lambda event: ended.append(event.session))
    nest.plays(agent("dig", background=True), {"text": "Waiting."}, {"text": "Thanks."}, routes=[DIG])
    session = await nest.open(hooks=hooks)
    await session.prompt("go")
    await settled(session)

    await session.finish("shutdown")

    (child,) = [record["id"] for record in nest.ears.of("session") if record["parent"]]
    assert ended == [child, session.id]


async def test_an_awaited_subagent_ends_with_the_reason_of_its_parent(nest: Nest) -> None:
    """No executable is told of it (vera.md 3.7), but functions are."""
    ended: list[tuple[bool, str]] = []
    hooks = Hooks()
    hooks.on(SessionEnd)(lambda event: ended.append((event.spawned, event.reason)))

    @hooks.on(TurnComplete)
    async def late(event: TurnComplete) -> None:
        """The parent is still busy with the end of its turn when the subagent, whose work was stopped with it, ends."""
        if not event.spawned:
            await until(lambda: bool(ended))

    nest.plays(agent("dig"), routes=[{"match": "dig", "turns": [{"text": "never", "delay": 600}]}])
    session = await nest.open(hooks=hooks)
    turn = asyncio.ensure_future(session.prompt("go"))
    await until(lambda: len(nest.queries) == 2)

    await session.finish("idle")

    assert (await turn).status == "interrupted"
    assert ended == [(True, "idle"), (False, "idle")]


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


async def test_a_subagent_runs_the_hooks_of_its_parent(nest: Nest) -> None:
    nest.answers("pre_tool_use", "guard", {"rm": {"power": "block", "reason": "no"}})
    for phase in ("session_start", "pre_turn", "post_tool_use", "turn_ending"):
        nest.recorder(phase)
    inner = {"tools": [{"name": "bash", "args": {"command": command}} for command in ("rm x", "true")]}
    nest.plays(agent("dig"), routes=[{"match": "dig", "turns": [inner, {"text": "Dug."}]}])
    session = await nest.open()

    await session.prompt("go")

    (child,) = [record["id"] for record in nest.ears.of("session") if record["parent"]]
    assert [p["toolCall"]["name"] for p in nest.sent("guard")] == ["agent", "bash", "bash"]
    assert [p["sessionId"] for p in nest.sent("session_start")] == [session.id, child]
    assert [(p["prompt"], p["spawned"]) for p in nest.sent("pre_turn")] == [("go", False), ("dig", True)]
    assert [(p["sessionId"], p["toolCall"]["name"]) for p in nest.sent("post_tool_use")] == [(child, "bash"), (session.id, "agent")]
    assert [(p["prompt"], p["reply"], p["spawned"]) for p in nest.sent("turn_ending")] == [("dig", "Dug.", True), ("go", "Done.", False)]


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


async def test_a_pre_tool_block_in_a_subagent_does_not_stop_its_parent(nest: Nest) -> None:
    nest.answers("pre_turn", "guard", {"dig": {"power": "block", "reason": "no digging"}})
    nest.hook("subagent_finished", "subagent_finished", KEEPS_STDIN)
    nest.plays(agent("dig"), {"text": "So be it."})
    session = await nest.open()

    assert (await session.prompt("go")).text == "So be it."

    assert [(r["content"], r["is_error"]) for r in nest.ears.of("tool_result")] == [("no digging", True)]
    (payload,) = await nest.heard("subagent_finished")
    assert (payload["outcome"], payload["text"]) == ("error", "no digging")


async def test_what_an_observer_prints_is_nothing(nest: Nest) -> None:
    nest.hook("session_end", "block", says({"power": "block", "reason": "stay"}))
    session = await nest.open()

    assert await session.finish("detached") == []
    assert nest.log() == []
