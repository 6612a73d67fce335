"""Messages that are sent into a session by whoever has it: when turns take them, and what becomes of those that none takes."""

import asyncio

import pytest

from tests.support.hooks import stub
from tests.support.nest import Nest, bash, texts
from treblehook.agent.session import Session
from treblehook.agent.steps import TurnEnd
from treblehook.host.reach import ReachRefused
from treblehook.lifecycle import ToolFinished, TurnComplete


@pytest.fixture
async def session(nest: Nest) -> Session:
    nest.plays(*({"text": f"Reply {number}."} for number in range(6)))
    return await nest.open()


class Ends:
    """The ends of turns, and an event for each."""

    def __init__(self) -> None:
        self.ends: list[TurnEnd] = []
        self.more = asyncio.Event()

    def __call__(self, end: TurnEnd) -> None:
        self.ends.append(end)
        self.more.set()


async def test_one_sent_now_joins_the_running_turn_at_its_next_tool_boundary(nest: Nest, session: Session) -> None:
    nest.plays(bash("echo 1"), {"text": "Done."})
    taken: list[asyncio.Future[bool]] = []
    session.state.dispatcher.registry.add(stub(ToolFinished, lambda event: taken.append(session.send("hurry", "now"))))

    await session.prompt("dig")

    assert await taken[0]
    assert [texts(query) for query in nest.queries] == [["dig"], ["dig", "hurry"]]


async def test_one_for_idle_gets_a_turn_of_its_own(nest: Nest, session: Session) -> None:
    asked, go = nest.hold_model()
    turn = asyncio.ensure_future(session.prompt("dig"))
    await asked.wait()
    taken = [session.send("and then?", "idle"), session.send("and then?", "idle")]
    go.set()
    await turn
    ends = Ends()

    await session.settle(ends)

    assert [future.result() for future in taken] == [True, True]
    assert [texts(query)[-1] for query in nest.queries] == ["dig", "and then?", "and then?"]
    assert [end.text for end in ends.ends] == ["Reply 1.", "Reply 2."]


async def test_sent_now_to_an_idle_session_it_starts_a_turn_before_those_that_wait(nest: Nest, session: Session) -> None:
    session.send("later", "idle")
    session.send("first", "now")
    session.send("with it", "now")

    await session.settle(Ends())

    assert [texts(query) for query in nest.queries] == [["first", "with it"], ["first", "with it", "later"]]


async def test_attended_it_takes_what_comes_until_it_is_closed(nest: Nest, session: Session) -> None:
    ends = Ends()
    attending = asyncio.ensure_future(session.attend(ends))
    for text in ("one", "two"):
        ends.more.clear()
        assert await session.send(text, "idle")
        await ends.more.wait()

    await session.close("closed")
    await attending

    assert [texts(query)[-1] for query in nest.queries] == ["one", "two"]


async def test_what_a_hook_sends_at_the_end_of_a_turn_is_taken_next(nest: Nest, session: Session) -> None:
    sent = iter(["go on"])
    handler = stub(TurnComplete, lambda event: [session.send(text, "idle") for text in sent] and None)
    session.state.dispatcher.registry.add(handler)
    session.send("dig", "idle")

    await session.settle(Ends())

    assert [texts(query)[-1] for query in nest.queries] == ["dig", "go on"]


async def test_who_sent_is_told_where_the_session_is_closed_first(nest: Nest, session: Session) -> None:
    waiting = [session.send("never", "idle"), session.send("too late", "now")]

    await session.finish("closed")

    assert [await future for future in waiting] == [False, False]
    assert nest.ears.rows() == [
        "the session was closed before it took this message: too late",
        "the session was closed before it took this message: never",
    ]
    assert nest.queries == []


async def test_a_session_that_is_being_closed_takes_none(session: Session) -> None:
    await session.close("closed")

    with pytest.raises(ReachRefused, match="being closed"):
        session.send("too late", "idle")


async def test_a_sender_that_has_stopped_waiting_is_no_obstacle(nest: Nest, session: Session) -> None:
    session.send("dig", "idle").cancel()

    await session.settle(Ends())

    assert texts(nest.queries[0]) == ["dig"]
