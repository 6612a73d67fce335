"""Subagents: they run the hooks of the session that started them, and what is told of them (vera.md 3.7, 3.8; cases 132 to 134)."""

import asyncio
from typing import Any

import pytest

from tests.support.nest import HELD, KEEPS_STDIN, Nest, agent, settled, texts
from tests.support.processes import until
from treblehook.contracts.python import Hooks
from treblehook.lifecycle import SessionEnd, TurnComplete

SUMMARY = {"text": "In short."}


DIG = {"match": "dig", "turns": [{"text": " Dug. "}, {"text": "Dug again."}]}


def reasons(nest: Nest) -> list[tuple[str, bool]]:
    return [(payload["reason"], payload["spawned"]) for payload in nest.sent("session_end")]


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


async def test_a_pre_tool_block_in_a_subagent_does_not_stop_its_parent(nest: Nest) -> None:
    nest.answers("pre_turn", "guard", {"dig": {"power": "block", "reason": "no digging"}})
    nest.hook("subagent_finished", "subagent_finished", KEEPS_STDIN)
    nest.plays(agent("dig"), {"text": "So be it."})
    session = await nest.open()

    assert (await session.prompt("go")).text == "So be it."

    assert [(r["content"], r["is_error"]) for r in nest.ears.of("tool_result")] == [("no digging", True)]
    (payload,) = await nest.heard("subagent_finished")
    assert (payload["outcome"], payload["text"]) == ("error", "no digging")
