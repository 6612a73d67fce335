"""The sessions of a guarding object: when they begin and end, on which loop hooks are asked, and who waits for whom."""

import asyncio
import multiprocessing
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.adapter_contract import home_that_blocks
from treblehook import (
    AddContext,
    Block,
    Home,
    Hooks,
    PreToolCall,
    PromptSubmitted,
    SessionEnd,
    SessionStart,
    SubagentFinished,
    TurnComplete,
)
from treblehook.adapters import guard as guards
from treblehook.adapters.guard import Guard
from treblehook.api import home as homes
from treblehook.home.outside import OutsideSession


async def test_who_comes_while_a_session_begins_gets_the_same_one() -> None:
    hooks, started, go = Hooks(), [], asyncio.Event()

    @hooks.on(SessionStart)
    async def slow(event: SessionStart) -> None:
        started.append(event)
        await go.wait()

    guard = Guard(hooks, "sdk")
    begun = [asyncio.create_task(guard.session("one")) for _ in range(3)]
    while not started:
        await asyncio.sleep(0)
    go.set()
    sessions = await asyncio.gather(*begun)
    assert len(started) == 1
    assert len(set(map(id, sessions))) == 1


async def test_a_beginning_that_is_cancelled_is_taken_over() -> None:
    hooks, started, go = Hooks(), [], asyncio.Event()

    @hooks.on(SessionStart)
    async def slow(event: SessionStart) -> None:
        started.append(event)
        await go.wait()

    guard = Guard(hooks, "sdk")
    first, second = asyncio.create_task(guard.session("one")), asyncio.create_task(guard.session("one"))
    while not started:
        await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    go.set()
    assert (await second).is_open
    assert len(started) == 2


async def test_a_waiter_that_is_cancelled_leaves_the_others_alone() -> None:
    hooks, started, go = Hooks(), [], asyncio.Event()

    @hooks.on(SessionStart)
    async def slow(event: SessionStart) -> None:
        started.append(event)
        await go.wait()

    guard = Guard(hooks, "sdk")
    first, second = asyncio.create_task(guard.session("one")), asyncio.create_task(guard.session("one"))
    while not started:
        await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    go.set()
    assert (await first).is_open


async def test_hooks_that_do_not_load_are_an_error_each_time(tmp_path: Path) -> None:
    folder = home_that_blocks(tmp_path, tool="bash", reason="no")
    async with Home(folder) as home:
        guard = Guard(home, "sdk")
        (folder / "sessions").write_text("in the way")
        for _ in range(2):
            with pytest.raises(Exception, match="sessions"):
                await guard.session("one")


async def test_the_quietest_conversation_is_ended_for_a_new_one_unless_it_is_in_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "SESSIONS", 2)
    hooks, ended = Hooks(), []
    hooks.on(SessionEnd)(ended.append)
    guard = Guard(hooks, "sdk")
    one, two, three = [await guard.session(key) for key in ("one", "two", "one")]
    assert one is three
    await two.prompt("hello")
    three = await guard.session("three")
    assert [event.session for event in ended] == [one.id]
    assert (one.is_open, two.is_open, three.is_open) == (False, True, True)
    assert await guard.session("one") is not one


async def test_in_a_crowd_a_conversation_in_a_turn_is_ended_too(monkeypatch: pytest.MonkeyPatch) -> None:
    guard = Guard(Hooks(), "sdk")
    sessions = [await guard.session(key) for key in ("one", "two")]
    for session in sessions:
        await session.prompt("hello")
    monkeypatch.setattr(guards, "SESSIONS", 1)
    monkeypatch.setattr(guards, "CROWDED", 2)
    await guard.session("three")
    assert [session.is_open for session in sessions] == [False, True]


async def test_closing_ends_every_session_once() -> None:
    hooks, ended = Hooks(), []
    hooks.on(SessionEnd)(ended.append)
    guard = Guard(hooks, "sdk")
    one = await guard.session("one")
    await guard.session("two")
    await guard.close()
    await guard.close()
    await one.end()
    assert len(ended) == 2
    with pytest.raises(RuntimeError, match="over"):
        await one.judge("c", "bash", {})
    assert (await guard.session("one")).is_open


async def test_one_session_that_cannot_end_does_not_keep_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    hooks, ended = Hooks(), []
    hooks.on(SessionEnd)(ended.append)
    guard = Guard(hooks, "sdk")
    one, two = await guard.session("one"), await guard.session("two")

    async def breaks(reason: str = "closed") -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(one, "end", breaks)
    with pytest.raises(OSError, match="full"):
        await guard.close()
    assert [event.session for event in ended] == [two.id]


async def test_a_home_that_was_left_guards_nothing_and_says_so(tmp_path: Path) -> None:
    home = Home(home_that_blocks(tmp_path, tool="bash", reason="no"))
    guard = Guard(home, "sdk")
    with pytest.raises(RuntimeError, match="not open"):
        await guard.session("one")
    async with home:
        session = await guard.session("one")
        assert (await session.judge("c", "bash", {})).result == "no"
    for _ in range(2):
        with pytest.raises(RuntimeError, match="over"):
            await session.judge("c", "bash", {})
        with pytest.raises(RuntimeError, match="not open"):
            await guard.session("one")
    await guard.close()
    async with home:
        again = await guard.session("one")
        assert again is not session
        assert (await again.judge("c", "bash", {})).result == "no"


async def test_a_session_that_is_being_opened_while_its_home_is_left_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, left = asyncio.Event(), asyncio.Event()
    really = homes.open_outside
    sessions: list[OutsideSession] = []

    async def slowly(*args: Any) -> OutsideSession:
        sessions.append(await really(*args))
        opened.set()
        await left.wait()
        return sessions[0]

    monkeypatch.setattr(homes, "open_outside", slowly)
    closed = []
    monkeypatch.setattr(OutsideSession, "close", lambda session: record(closed, session))
    async with Home(tmp_path / "home") as home:
        opening = asyncio.create_task(Guard(home, "sdk", tmp_path).session("one"))
        await opened.wait()
    left.set()
    with pytest.raises(RuntimeError, match="not open"):
        await opening
    assert closed == sessions


async def record(told: list[OutsideSession], session: OutsideSession) -> None:
    told.append(session)


async def test_leaving_a_home_tells_the_end_once(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    async with Home(folder) as home:
        guard = Guard(home, "sdk", tmp_path)
        await (await guard.session("one")).prompt("hello")
        await guard.close()
        await guard.session("two")
    [first, second] = sorted((folder / "sessions").glob("*.jsonl"), key=lambda file: file.stat().st_mtime_ns)
    assert first.read_text().count('"type":"end"') == 1
    assert '"type":"prompt"' in first.read_text()
    assert second.read_text().count('"type":"end"') == 1


async def test_a_home_is_asked_on_its_own_loop_from_any_thread(tmp_path: Path) -> None:
    async with Home(home_that_blocks(tmp_path, tool="bash", reason="no")) as home:
        guard = Guard(home, "sdk")

        async def judged() -> str | None:
            return (await (await guard.session("one")).judge("c", "bash", {})).result

        assert await asyncio.to_thread(asyncio.run, judged()) == "no"
        assert await asyncio.to_thread(guard.wait, judged()) == "no"
        with pytest.raises(RuntimeError, match="stall"):
            guard.wait(judged())


def test_waiting_without_a_loop_and_inside_one() -> None:
    hooks, threads = Hooks(), []

    @hooks.on(PreToolCall)
    async def no(event: PreToolCall) -> Block:
        threads.append(threading.current_thread().name)
        await asyncio.sleep(0)
        return Block("no")

    guard = Guard(hooks, "sdk")

    async def judged() -> str | None:
        return (await (await guard.session("one")).judge("c", "bash", {})).result

    async def inside() -> str | None:
        return guard.wait(judged())

    assert guard.wait(judged()) == "no"
    assert asyncio.run(inside()) == "no"
    assert threads == ["treblehook-sdk"] * 2


def test_a_process_that_was_forked_off_begins_afresh() -> None:
    hooks = Hooks()

    @hooks.on(PreToolCall)
    async def no(event: PreToolCall) -> Block:
        return Block("no")

    guard = Guard(hooks, "sdk")

    async def judged() -> bool:
        return (await (await guard.session("one")).judge("c", "bash", {})).result == "no"

    assert guard.wait(judged())
    assert of_a_fork(lambda: guard.wait(judged())) == "True"


async def test_a_home_is_not_asked_in_a_process_that_was_forked_off(tmp_path: Path) -> None:
    async with Home(home_that_blocks(tmp_path, tool="bash", reason="no")) as home:
        guard = Guard(home, "sdk")
        session = await guard.session("one")
        assert "forked" in await asyncio.to_thread(of_a_fork, lambda: asyncio.run(guard.session("two")))
        assert "forked" in await asyncio.to_thread(of_a_fork, lambda: asyncio.run(session.judge("c", "bash", {})))
        assert "forked" in await asyncio.to_thread(of_a_fork, lambda: asyncio.run(home.session()))
        assert (await session.judge("c", "bash", {})).result == "no"


def of_a_fork(work: Callable[[], object]) -> str:
    """What `work` comes to in a process that is forked off here."""
    reading, writing = multiprocessing.get_context("fork").Pipe(duplex=False)

    def tell() -> None:
        try:
            writing.send(str(work()))
        except RuntimeError as error:
            writing.send(str(error))

    process = multiprocessing.get_context("fork").Process(target=tell)
    process.start()
    try:
        assert reading.poll(20), "it does not come back"
        return str(reading.recv())
    finally:
        process.kill()
        process.join()


def test_a_home_whose_loop_does_not_run_is_an_error_not_a_deadlock(tmp_path: Path) -> None:
    home, loop = Home(home_that_blocks(tmp_path, tool="bash", reason="no")), asyncio.new_event_loop()
    guard = Guard(home, "sdk")

    async def judged() -> str | None:
        return (await (await guard.session("one")).judge("c", "bash", {})).result

    loop.run_until_complete(home.__aenter__())
    session = loop.run_until_complete(guard.session("one"))
    for work in (lambda: guard.wait(judged()), lambda: asyncio.run(judged()), lambda: asyncio.run(session.judge("c", "bash", {}))):
        with pytest.raises(RuntimeError, match="does not run"):
            work()
    assert loop.run_until_complete(judged()) == "no"
    loop.run_until_complete(home.__aexit__(None, None, None))
    loop.close()


async def test_a_session_that_begins_in_a_tool_is_that_of_a_subagent() -> None:
    hooks, told = Hooks(), []
    hooks.on(SessionStart)(told.append)
    hooks.on(SubagentFinished)(told.append)
    guard, other = Guard(hooks, "sdk"), Guard(Hooks(), "sdk")
    parent = await guard.session("parent")
    with parent.running(await parent.judge("c", "delegate", {})):
        child, stranger = await guard.session("child"), await other.session("stranger")
    assert (child.parent, stranger.parent) == (parent, None)
    await child.prompt("scrub")
    await child.turn_over("scrubbed")
    assert [event.spawned for event in told] == [False, True, False]
    assert (told[2].session, told[2].subagent, told[2].text) == (parent.id, child.id, "scrubbed")


@pytest.mark.parametrize("arguments", [["ls"], "ls", 5, None])
async def test_arguments_that_are_no_object_run_nothing(arguments: object) -> None:
    hooks, asked = Hooks(), []
    hooks.on(PreToolCall)(asked.append)
    verdict = await (await Guard(hooks, "sdk").session("one")).judge("c", "bash", arguments)
    assert verdict.is_error
    assert "not a JSON object" in str(verdict.result)
    assert asked == []


async def test_a_turn_that_was_broken_off_is_said_to_be_so_too_late() -> None:
    session = await Guard(Hooks(), "sdk").session("one")
    await session.prompt("hello")
    broken = session.turn
    await session.prompt("hello again")
    session.broken_off(broken)
    assert session.in_turn
    session.broken_off(session.turn)
    assert not session.in_turn


async def test_a_turn_that_another_run_goes_on_with_comes_to_its_end() -> None:
    hooks, complete = Hooks(), []
    hooks.on(TurnComplete)(complete.append)
    session = await Guard(hooks, "sdk").session("one")
    await session.prompt("hello")
    session.broken_off()
    await session.turn_over("bye")
    await session.turn_over("bye")
    assert [event.reply for event in complete] == ["bye"]


async def test_a_turn_is_over_once() -> None:
    hooks, complete = Hooks(), []
    hooks.on(TurnComplete)(complete.append)
    session = await Guard(hooks, "sdk").session("one")
    await session.turn_over("nothing was asked")
    await session.prompt("hello")
    assert session.in_turn
    await session.stopping("bye")
    await session.turn_over("bye")
    assert not session.in_turn
    assert [event.reply for event in complete] == ["bye"]


async def test_what_start_hooks_said_comes_with_the_first_prompt_that_passes() -> None:
    hooks = Hooks()

    @hooks.on(SessionStart)
    def begin(event: SessionStart) -> AddContext:
        return AddContext("an island")

    @hooks.on(PromptSubmitted)
    def no(event: PromptSubmitted) -> Block | None:
        return Block("no") if event.prompt == "bad" else None

    session = await Guard(hooks, "sdk").session("one")
    assert (await session.prompt("bad")).context == ""
    assert (await session.prompt("good")).context == "an island"
    assert (await session.prompt("good")).context == ""
    assert (await session.prompt("good", every_time=True)).context == "an island"


async def test_texts_that_no_encoding_takes_pass_through(tmp_path: Path) -> None:
    async with Home(tmp_path / "none") as home:
        for hooks in (home, Hooks()):
            session = await Guard(hooks, "sdk").session("one")
            assert (await session.prompt("a \ud800")).blocked is None
            verdict = await session.judge("c", "bash", {"command": "echo \ud800"})
            assert verdict.result is None
            assert await session.finished(verdict, "\ud800") == "\ud800"
            await session.stopping("\ud800")


def test_what_is_no_hooks_is_refused() -> None:
    with pytest.raises(TypeError, match="allowed are a Hooks and a Home"):
        Guard("~/.treblehook", "sdk")  # type: ignore[arg-type]  # what a user may try
