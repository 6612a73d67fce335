"""Subagents that work while their parent goes on."""

import asyncio

from tests.support.nest import Nest, Record, agent, bash, texts
from tests.support.rows import Rows
from treblehook.agent.models.model import ModelQuery
from treblehook.agent.session import Session
from treblehook.agent.steps import TurnEnd
from treblehook.lifecycle import SessionEnd, SubagentFinished, TaskStart

DIG: Record = {"match": "dig", "turns": [{"text": "I found gold."}, {"text": "And silver."}]}


def holds(nest: Nest, text: str) -> asyncio.Event:
    """Let the model wait for the event before it answers whoever was asked `text` first."""
    go = asyncio.Event()

    async def wait(query: ModelQuery) -> None:
        if texts(query)[0] == text:
            await go.wait()

    nest.before_reply = wait
    return go


def child_of(nest: Nest) -> str:
    """The id of the first subagent."""
    return str(nest.ears.of("session")[1]["session"])


async def test_its_result_is_delivered_in_a_turn_of_its_own(nest: Nest, rows: Rows) -> None:
    nest.plays(agent("dig", background=True), {"text": "I wait."}, {"text": "Gold!"}, routes=[DIG])
    go = holds(nest, "dig")
    session = await nest.open(hooks=rows.hooks)
    assert (await session.prompt("go")).text == "I wait."
    assert session.children.busy()
    go.set()

    ends: list[TurnEnd] = []
    await session.settle(ends.append)

    child = child_of(nest)
    assert [end.text for end in ends] == ["Gold!"]
    assert texts(nest.queries[-1])[-1] == f"Subagent {child} has finished.\n\nI found gold."
    assert not session.children.busy()
    started = nest.ears.of("tool_result", session.id)[0]
    assert child in started["content"]
    finished = rows.only(SubagentFinished)
    assert (finished.background, finished.outcome, finished.text) == (True, "completed", "I found gold.")
    # Nobody asked anything, so a prompt was not counted; it is a task all the same.
    assert session.state.turns == 1
    assert len([event for event in rows.of(TaskStart) if event.session == session.id]) == 2


async def test_a_result_that_comes_during_a_turn_is_told_at_its_next_boundary(nest: Nest) -> None:
    nest.plays(agent("dig", background=True), bash("until [ -e go ]; do sleep 0.01; done"), {"text": "Gold!"}, routes=[DIG])
    session = await nest.open()
    turn = asyncio.ensure_future(session.prompt("go"))
    while not session.state.delivered:
        await asyncio.sleep(0.005)
    (nest.workspace / "go").touch()

    await turn

    assert "I found gold." in texts(nest.queries[-1])[-1]
    assert [message.role for message in nest.queries[-1].messages][-2:] == ["tool", "user"]
    assert session.state.delivered == []


async def test_more_work_goes_on_with_the_same_conversation(nest: Nest, rows: Rows) -> None:
    nest.plays(agent("dig", background=True), {"text": "I wait."}, {"text": "Gold!"}, routes=[DIG])
    session = await nest.open(hooks=rows.hooks)
    await session.prompt("go")
    await session.settle(lambda end: None)
    child = child_of(nest)

    more = {"match": "deeper", "where": "last", "turns": [{}, {}, {}, agent("deeper", to=child)]}
    nest.plays(routes=[{"match": "dig", "turns": DIG["turns"]}, more], after={"text": "Done."})
    await session.prompt("deeper")
    await session.settle(lambda end: None)

    sent = next(query for query in reversed(nest.queries) if texts(query)[0] == "dig")
    assert [(message.role, message.text) for message in sent.messages] == [
        ("user", "dig"),
        ("assistant", "I found gold."),
        ("user", "deeper"),
    ]
    assert [event.text for event in rows.of(SubagentFinished)] == ["I found gold.", "And silver."]
    assert [event.spawned for event in rows.of(SessionEnd)] == []


async def test_closing_the_parent_while_it_works_ends_both_properly(nest: Nest, rows: Rows) -> None:
    nest.plays(agent("dig", background=True), {"text": "I wait."}, routes=[DIG])
    holds(nest, "dig")
    session = await nest.open(hooks=rows.hooks)
    await session.prompt("go")
    await asyncio.sleep(0)

    await session.finish("detached", TurnEnd("finished"))

    assert [(event.spawned, event.reason) for event in rows.of(SessionEnd)] == [(True, "detached"), (False, "detached")]
    assert rows.of(SubagentFinished) == []
    assert [(record["session"] == session.id, record["status"]) for record in nest.ears.of("end")] == [
        (False, "interrupted"),
        (True, "finished"),
    ]
    assert not session.children.busy()
    await can_be_resumed(nest, session)


async def test_one_that_had_finished_is_not_called_interrupted_when_its_parent_closes(nest: Nest, rows: Rows) -> None:
    nest.plays(agent("dig", background=True), {"text": "I wait."}, {"text": "Gold!"}, routes=[DIG])
    session = await nest.open(hooks=rows.hooks)
    await session.prompt("go")
    await session.settle(lambda end: None)

    await session.finish("closed", TurnEnd("finished"))

    assert [(record["session"] == session.id, record["status"]) for record in nest.ears.of("end")] == [
        (False, "finished"),
        (True, "finished"),
    ]
    assert [event.exit_status for event in rows.of(SessionEnd)] == ["ok", "ok"]


async def test_a_failed_delivery_turn_does_not_hold_up_the_others(nest: Nest) -> None:
    both = {"tools": [*agent("dig here", background=True)["tools"], *agent("dig there", background=True)["tools"]]}
    nest.plays(both, {"text": "I wait."}, {"status": 400}, routes=[DIG])
    first, second = asyncio.Event(), asyncio.Event()

    async def wait(query: ModelQuery) -> None:
        held = {"dig here": first, "dig there": second}.get(texts(query)[0])
        if held is not None:
            await held.wait()

    nest.before_reply = wait
    session = await nest.open()
    await session.prompt("go")
    first.set()

    ends: list[TurnEnd] = []

    def told(end: TurnEnd) -> None:
        ends.append(end)
        nest.plays(after={"text": "Gold!"}, routes=[DIG])
        second.set()

    await session.settle(told)

    assert [end.status for end in ends] == ["failed", "finished"]
    assert sum("has finished" in text for text in texts(nest.queries[-1])) == 2


async def test_settling_a_quiet_session_is_nothing(nest: Nest) -> None:
    session = await nest.open()

    await session.settle(lambda end: None)

    assert nest.queries == []


async def can_be_resumed(nest: Nest, session: Session) -> None:
    """The files of parent and child are free again."""
    for file in sorted((nest.folder / "sessions").glob("*.jsonl")):
        await (await nest.open(resume=file.stem)).finish("detached")
    assert len(list((nest.folder / "sessions").glob("*.jsonl"))) == 2
