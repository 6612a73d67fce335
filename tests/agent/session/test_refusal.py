"""Row 2: a start hook refuses the session."""

import pytest

from tests.support.nest import Nest, agent
from tests.support.rows import Rows
from treblehook.agent.errors import SessionRefused
from treblehook.agent.session import Session
from treblehook.cli.failures import exit_of, lines_of
from treblehook.lifecycle import AddContext, Refuse, SessionEnd, SessionStart, SubagentFinished


async def refused(nest: Nest, rows: Rows, **wish: str) -> SessionRefused:
    with pytest.raises(SessionRefused) as caught:
        await nest.open(hooks=rows.hooks, **wish)
    return caught.value


async def test_all_are_asked_before_a_refusal_refuses_and_the_end_is_told(nest: Nest, rows: Rows) -> None:
    asked: list[str] = []
    rows.on(SessionStart, AddContext("the crow"))
    rows.on(SessionStart, Refuse("not on a Friday"), name="captain")
    rows.on(SessionStart, Refuse("never"), name="mate")
    rows.on(SessionStart, lambda event: asked.append("last"))

    refusal = await refused(nest, rows)

    assert refusal.reason == "not on a Friday; never"
    assert asked == ["last"]
    assert rows.log() == ["SessionStart", "SessionEnd"]
    assert rows.only(SessionEnd).reason == "refused"
    assert rows.only(SessionEnd).session == refusal.session
    assert nest.ears.types() == ["hook", "hook", "hook", "hook", "hook", "hook", "end"]
    end = nest.ears.of("end")[0]
    assert (end["status"], end["reason"], end["turns"]) == ("refused", "not on a Friday; never", 0)
    assert nest.queries == []


async def test_the_command_ends_with_4_and_one_line(nest: Nest, rows: Rows) -> None:
    rows.on(SessionStart, Refuse("not on\na Friday"))

    refusal = await refused(nest, rows)

    assert exit_of(refusal) == 4
    assert lines_of(refusal) == ["error: a hook refused the session: not on a Friday"]


async def test_a_refused_session_leaves_its_file_free_and_can_be_resumed_when_nobody_minds(nest: Nest, rows: Rows) -> None:
    rows.on(SessionStart, lambda event: Refuse("not now") if len(rows.of(SessionStart)) < 3 else None)
    refusal = await refused(nest, rows)
    again = await refused(nest, rows, resume=refusal.session)
    assert again.session == refusal.session

    session = await nest.open(hooks=rows.hooks, resume=refusal.session)

    assert (await session.prompt("go")).status == "finished"


async def test_a_refusal_after_a_compaction_does_not_end_a_session_that_runs(nest: Nest, rows: Rows) -> None:
    rows.on(SessionStart, lambda event: Refuse("too late") if event.reason == "compacted" else None)
    session = await nest.open(hooks=rows.hooks)
    await session.prompt("go")

    assert await session.compact() is None
    assert (await session.prompt("on")).status == "finished"


# Subagents


def refuses_children(rows: Rows) -> None:
    rows.on(SessionStart, lambda event: Refuse("no crew") if event.spawned else None)


async def test_a_refused_subagent_is_an_error_for_the_parent(nest: Nest, rows: Rows) -> None:
    refuses_children(rows)
    nest.plays(agent("dig"), {"text": "Alone then."})
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("go")

    (result,) = nest.ears.of("tool_result")
    assert (result["content"], result["is_error"]) == ("no crew", True)
    end = rows.only(SessionEnd)
    assert (end.reason, end.spawned) == ("refused", True)
    assert rows.only(SubagentFinished).outcome == "error"
    assert nest.ears.of("end")[0]["status"] == "refused"


async def test_a_refused_background_subagent_is_told_and_gets_no_more_work(nest: Nest, rows: Rows) -> None:
    refuses_children(rows)
    nest.plays(agent("dig", background=True), {"text": "I wait."}, {"text": "Alone then."})
    session = await nest.open(hooks=rows.hooks)
    await session.prompt("go")

    await session.settle(lambda end: None)

    child = nest.ears.of("session")[1]["session"]
    assert "no crew" in delivered(session)
    nest.plays(after=agent("dig on", to=child), routes=[{"match": "there are: none", "where": "last", "turns": []}])
    await session.prompt("more")
    assert nest.ears.of("tool_result")[-1]["is_error"]
    assert rows.only(SessionEnd).reason == "refused"


def delivered(session: Session) -> str:
    """What background subagents have handed back."""
    return "\n".join(message.text for message in session.state.conversation.messages if message.source == "subagent")
