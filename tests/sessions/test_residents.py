"""The sessions of a running home and their clients (vera.md 3.7)."""

import asyncio

import pytest

from tests.sessions.conftest import Clock, ended, started
from tests.support.nest import HELD, OBSERVE, Nest, agent, bash, says
from tests.support.processes import until
from treblehook.agent.errors import SessionRefused
from treblehook.agent.transcript import TranscriptFailed
from treblehook.contracts.python import Hooks
from treblehook.home.residents import HomeStopping, NotResident, Residents
from treblehook.lifecycle import Refuse, SessionEnd, SessionStart


async def test_the_last_client_that_leaves_closes_the_session(nest: Nest, residents: Residents) -> None:
    session = await residents.open(nest.wish(), nest.company(), client="a")
    residents.attach(session.id, "b")
    residents.attach(session.id, "b")

    await residents.detach(session.id, "b")
    assert ended(nest) == []
    await residents.detach(session.id, "a")

    assert ended(nest) == ["detached"]
    assert residents.sessions == []
    with pytest.raises(NotResident):
        residents.attach(session.id, "c")


async def test_a_session_that_is_to_keep_running_stays(nest: Nest, residents: Residents) -> None:
    session = await residents.open(nest.wish(), nest.company(), client="a", keep=True)

    await residents.detach(session.id, "a")

    assert ended(nest) == []
    assert residents.attach(session.id, "b") is session
    assert started(nest) == ["start"]


async def test_a_client_closes_the_session_for_everybody(nest: Nest, residents: Residents) -> None:
    session = await residents.open(nest.wish(), nest.company(), client="a", keep=True)
    residents.attach(session.id, "b")

    await residents.close(session.id)

    assert ended(nest) == ["closed"]
    with pytest.raises(NotResident):
        await residents.close(session.id)


async def test_a_client_that_leaves_for_a_new_session(nest: Nest, residents: Residents) -> None:
    old = await residents.open(nest.wish(), nest.company(), client="a")

    new = await residents.new(old.id, "a", nest.wish(), nest.company())

    assert (ended(nest), started(nest)) == (["detached"], ["start", "start"])
    assert residents.sessions == [new]


async def test_a_client_that_leaves_for_a_new_session_leaves_the_others_theirs(nest: Nest, residents: Residents) -> None:
    old = await residents.open(nest.wish(), nest.company(), client="a")
    residents.attach(old.id, "b")

    new = await residents.new(old.id, "a", nest.wish(), nest.company())

    assert ended(nest) == []
    assert residents.sessions == [old, new]


async def test_a_running_turn_is_stopped_when_the_last_client_leaves(nest: Nest, residents: Residents) -> None:
    nest.plays(bash("sleep 600"))
    session = await residents.open(nest.wish(), nest.company(), client="a")
    turn = asyncio.ensure_future(session.prompt("go"))
    await until(lambda: bool(nest.ears.of("tool_call")))

    await residents.detach(session.id, "a")

    assert (await turn).status == "interrupted"
    assert ended(nest) == ["detached"]


async def test_a_stored_session_is_opened_again_by_the_beginning_of_its_id(nest: Nest, residents: Residents) -> None:
    session = await residents.open(nest.wish(), nest.company(), client="a")
    await session.prompt("one")
    await residents.close(session.id)

    again = await residents.open(nest.wish(resume=session.id[:20]), nest.company(), client="a")

    assert again is not session
    assert again.state.conversation.messages == session.state.conversation.messages
    assert started(nest) == ["start", "resume"]


async def test_clients_that_resume_at_once_share_the_session(nest: Nest, residents: Residents) -> None:
    session = await residents.open(nest.wish(), nest.company(), client="a")
    await residents.close(session.id)

    found = await asyncio.gather(
        *(residents.open(nest.wish(resume=session.id), nest.company(), client=client) for client in ("a", "b", "c"))
    )

    assert len(set(found)) == 1
    assert started(nest) == ["start", "resume"]
    for client in ("a", "b"):
        await residents.detach(session.id, client)
    assert residents.sessions == [found[0]]


async def test_a_session_can_be_resumed_while_it_is_still_closing(nest: Nest, residents: Residents) -> None:
    nest.hook("session_end", "held", HELD + OBSERVE)
    session = await residents.open(nest.wish(), nest.company(), client="a")
    leaving = asyncio.ensure_future(residents.detach(session.id, "a"))
    await nest.started("held")

    resuming = asyncio.ensure_future(residents.open(nest.wish(resume=session.id), nest.company(), client="a"))
    nest.release("held")

    again = await resuming
    await leaving
    assert (again.id, again is session) == (session.id, False)


async def test_idle_sessions_without_clients_are_parked(nest: Nest, residents: Residents, clock: Clock) -> None:
    watched = await residents.open(nest.wish(), nest.company(), client="a")
    kept = await residents.open(nest.wish(), nest.company(), client=None, keep=True)

    clock.now = 59
    assert await residents.park(60) == []
    clock.now = 60
    assert await residents.park(60) == [kept.id]

    assert ended(nest) == ["idle"]
    assert residents.sessions == [watched]
    again = await residents.open(nest.wish(resume=kept.id), nest.company(), client="b")
    assert (again.id, started(nest)) == (kept.id, ["start", "start", "resume"])


async def test_what_is_in_use_is_not_idle(nest: Nest, residents: Residents, clock: Clock) -> None:
    session = await residents.open(nest.wish(), nest.company(), client=None, keep=True)
    asked, go = nest.hold_model()
    turn = asyncio.ensure_future(session.prompt("go"))
    await asked.wait()

    clock.now = 100
    assert await residents.park(60) == []
    go.set()
    await turn
    clock.now = 159
    assert await residents.park(60) == []
    # A turn that began and ended since the last look counts too.
    nest.before_reply = None
    await session.prompt("again")
    clock.now = 230
    assert await residents.park(60) == []
    residents.attach(session.id, "a")
    clock.now = 1000
    assert await residents.park(60) == []
    await residents.detach(session.id, "a")
    clock.now = 1059
    assert await residents.park(60) == []
    clock.now = 1060
    assert await residents.park(60) == [session.id]


async def test_a_background_subagent_at_work_keeps_its_parent(nest: Nest, residents: Residents, clock: Clock) -> None:
    nest.plays(agent("dig", background=True), routes=[{"match": "dig", "turns": [{"text": "never", "delay": 600}]}])
    session = await residents.open(nest.wish(), nest.company(), client=None, keep=True)
    await session.prompt("go")

    clock.now = 100
    assert await residents.park(60) == []
    clock.now = 1000
    assert await residents.park(60) == []


async def test_a_shutdown_ends_everything_with_subagents_first(nest: Nest, residents: Residents) -> None:
    order: list[str] = []
    hooks = Hooks()
    hooks.on(SessionEnd)(lambda event: order.append(event.session))
    nest.plays(agent("dig", background=True), routes=[{"match": "dig", "turns": [{"text": "Dug."}]}])
    first = await residents.open(nest.wish(), nest.company(hooks=hooks), client="a")
    second = await residents.open(nest.wish(), nest.company(hooks=hooks), client=None, keep=True)
    await first.prompt("go")
    ends: list[object] = []
    await first.settle(ends.append)
    (child,) = [record["id"] for record in nest.ears.of("session") if record["parent"]]

    await residents.shutdown()

    assert ended(nest) == ["shutdown"] * 3
    assert order.index(child) < order.index(first.id)
    assert set(order) == {child, first.id, second.id}
    assert residents.sessions == []


async def test_a_shutdown_is_over_in_time_whatever_hooks_do(nest: Nest, residents: Residents) -> None:
    hooks = Hooks()

    @hooks.on(SessionEnd)
    async def never(event: SessionEnd) -> None:
        await asyncio.Event().wait()

    nest.hook("session_end", "held", HELD + OBSERVE)
    await residents.open(nest.wish(), nest.company(hooks=hooks), client="a")
    await residents.open(nest.wish(), nest.company(), client="a")

    await residents.shutdown(0.1)

    assert residents.sessions == []


async def test_a_stopping_host_opens_no_session(nest: Nest, residents: Residents) -> None:
    nest.hook("session_start", "held", HELD + OBSERVE)
    opening = asyncio.ensure_future(residents.open(nest.wish(), nest.company(), client="a"))
    await nest.started("held")

    await residents.shutdown()
    nest.release("held")

    with pytest.raises(HomeStopping):
        await opening
    await nest.heard("session_end")
    assert ended(nest) == ["shutdown"]


async def test_a_refused_session_is_no_resident(nest: Nest, residents: Residents) -> None:
    hooks = Hooks()
    hooks.on(SessionStart)(lambda event: Refuse("not here"))

    with pytest.raises(SessionRefused, match="not here"):
        await residents.open(nest.wish(), nest.company(hooks=hooks), client="a")

    assert residents.sessions == []
    assert ended(nest) == ["closed"]


async def test_a_session_whose_file_fails_at_the_end_is_told_of(nest: Nest, residents: Residents, monkeypatch: pytest.MonkeyPatch) -> None:
    session = await residents.open(nest.wish(), nest.company(), client="a")

    def full() -> None:
        raise TranscriptFailed(nest.folder / "sessions", "No space left on device")

    monkeypatch.setattr(session.state.recorder, "close", full)
    await residents.shutdown()

    (problem,) = nest.home.problems
    assert "No space left" in problem.message


async def test_a_session_start_that_adds_text_is_asked_once_for_all_clients(nest: Nest, residents: Residents) -> None:
    nest.hook("session_start", "crow", says({"power": "mutate", "context": "Aye."}))
    session = await residents.open(nest.wish(), nest.company(), client="a")
    for client in ("b", "c"):
        residents.attach(session.id, client)

    assert [message.source for message in session.state.conversation.messages] == ["session_start"]
