"""A home with several sessions in one program."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.program import Program, bash, of
from treblehook import CalledFromOwnHook, Home, Hooks, ModelRequest, PrepareTurnFailed, PromptSubmitted, SessionEnd, SessionNotFound, Stop


async def test_a_session_takes_prompt_after_prompt_and_each_reply_has_the_records_since_the_last(program: Program) -> None:
    program.plays({"text": "Under the third palm."}, {"text": "Still there."})

    async with Home(program.home) as home:
        session = await program.session(home)
        first, second = await session.prompt("where?"), await session.prompt("and now?")

    assert (first.text, second.text) == ("Under the third palm.", "Still there.")
    assert [record["type"] for record in first.records] == ["session", "prompt", "reply"]
    assert [record["type"] for record in second.records] == ["prompt", "reply"]


async def test_messages_that_are_sent_together_are_one_turn(program: Program) -> None:
    async with Home(program.home) as home:
        reply = await (await program.session(home)).prompt("where?", "and how deep?")

    assert [record["text"] for record in of(reply, "prompt")] == ["where?", "and how deep?"]
    assert len(of(reply, "reply")) == 1


async def test_leaving_closes_every_session_once_and_tells_why(program: Program) -> None:
    hooks, ends = Hooks(), []
    hooks.on(SessionEnd)(lambda event: ends.append((event.session, event.reason, event.turns)))

    async with Home(program.home) as home:
        first, second = await program.session(home, hooks=hooks), await program.session(home, hooks=hooks)
        await first.prompt("where?")
        await first.close()

    assert ends == [(first.id, "closed", 1), (second.id, "closed", 0)]
    assert [json.loads(line)["status"] for line in _ends(program, first.id)] == ["finished"]


async def test_leaving_on_an_error_closes_too_and_the_error_comes_out(program: Program) -> None:
    hooks, ends = Hooks(), []
    hooks.on(SessionEnd)(lambda event: ends.append(event.reason))

    async def fail() -> None:
        async with Home(program.home) as home:
            await program.session(home, hooks=hooks)
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await fail()
    assert ends == ["closed"]


async def test_leaving_stops_a_turn_that_is_under_way_and_its_reply_says_so(program: Program) -> None:
    hooks, asked = Hooks(), asyncio.Event()

    @hooks.on(ModelRequest)
    async def slow(event: ModelRequest) -> None:
        asked.set()
        await asyncio.Event().wait()

    async with Home(program.home) as home:
        session = await program.session(home, hooks=hooks)
        turn = asyncio.ensure_future(session.prompt("where?"))
        await asked.wait()

    assert (await turn).status == "interrupted"


async def test_interrupting_a_turn_leaves_the_session_usable(program: Program) -> None:
    hooks, asked = Hooks(), asyncio.Event()

    @hooks.on(ModelRequest)
    async def slow_at_first(event: ModelRequest) -> None:
        if not asked.is_set():
            asked.set()
            await asyncio.Event().wait()

    async with Home(program.home) as home:
        session = await program.session(home, hooks=hooks)
        turn = asyncio.ensure_future(session.prompt("where?"))
        await asked.wait()
        await session.interrupt()

        assert (await turn).status == "interrupted"
        assert (await session.prompt("where, then?")).text == "Under the third palm."


async def test_a_closed_session_takes_no_prompt(program: Program) -> None:
    async with Home(program.home) as home:
        session = await program.session(home)
        await session.close()

        reply = await session.prompt("where?")

    assert (reply.status, reply.reason) == ("interrupted", "the session has been closed")


async def test_sessions_side_by_side_do_not_hear_each_other(program: Program) -> None:
    async with Home(program.home) as home:
        sessions = [await program.session(home) for _ in range(3)]
        replies = await asyncio.gather(*(session.prompt("where?") for session in sessions))

    assert [reply.session for reply in replies] == [session.id for session in sessions]
    assert all({record["session"] for record in reply.records} == {reply.session} for reply in replies)


async def test_a_home_that_is_not_open_says_so(program: Program) -> None:
    home = Home(program.home)

    with pytest.raises(RuntimeError, match="async with"):
        await program.session(home)
    async with home:
        with pytest.raises(RuntimeError, match="open already"):
            await home.__aenter__()


async def test_a_session_that_there_is_not(program: Program) -> None:
    async with Home(program.home) as home:
        with pytest.raises(SessionNotFound):
            await program.session(home, resume="ses_ffff")


async def test_what_is_wrong_and_stops_nothing_can_be_read(program: Program) -> None:
    async with Home(program.home) as home:
        assert home.problems == ()
        program.files.config.write_text("{")
        await program.session(home)

        assert [problem.file for problem in home.problems] == [str(program.files.config)]


def test_the_path_of_a_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("TREBLEHOOK_HOME", raising=False)

    assert Home("~/vera").path == tmp_path / "vera"
    assert Home().path == tmp_path / ".treblehook"


async def test_the_user_can_switch_a_hook_of_the_program_off(program: Program) -> None:
    program.files.settings('[hooks."loud"]\nmode = "off"\n[hooks."remember"]\nmode = "report"\n')
    hooks, heard = Hooks(), []

    @hooks.on(PromptSubmitted)
    def loud(event: PromptSubmitted) -> None:
        heard.append(event.prompt)

    def remember(turn: dict[str, Any]) -> dict[str, Any]:
        return {"power": "block", "reason": "no"}

    async with Home(program.home) as home:
        reply = await (await program.session(home, hooks=hooks, prepare_turn=remember)).prompt("where?")

    assert (heard, reply.status) == ([], "finished")
    assert [record["ended"] for record in of(reply, "hook")] == ["answered"]


@pytest.mark.parametrize("call", ["session", "prompt"])
async def test_a_home_called_from_its_own_hook_refuses_at_once_with_advice(program: Program, call: str) -> None:
    errors = []

    async def prepare_turn(turn: dict[str, Any]) -> None:
        try:
            await (program.session(home) if call == "session" else session.prompt("again?"))
        except CalledFromOwnHook as error:
            errors.append(str(error))
            raise

    async with Home(program.home) as home:
        session = await program.session(home, prepare_turn=prepare_turn)
        with pytest.raises(PrepareTurnFailed, match="CalledFromOwnHook"):
            await session.prompt("where?")
        assert "open another one" in errors[0]
        # The home is as usable as before.
        assert (await (await program.session(home)).prompt("where?")).text == "Under the third palm."


async def test_any_hook_that_calls_its_own_home_is_refused(program: Program) -> None:
    hooks = Hooks()

    @hooks.on(PromptSubmitted)
    async def again(event: PromptSubmitted) -> None:
        await session.prompt("again?")

    async with Home(program.home) as home:
        session = await program.session(home, hooks=hooks)
        reply = await session.prompt("where?")

    assert reply.status == "finished"
    assert "CalledFromOwnHook" in of(reply, "hook")[0]["error"]


async def test_another_home_may_be_opened_inside_a_hook(program: Program) -> None:
    async def prepare_turn(turn: dict[str, Any]) -> dict[str, Any]:
        async with Home(program.home) as other:
            reply = await (await program.session(other)).prompt("ask somebody else")
        return {"power": "mutate", "context": reply.text}

    async with Home(program.home) as home:
        reply = await (await program.session(home, prepare_turn=prepare_turn)).prompt("where?")

    assert [record["decision"]["text"] for record in of(reply, "hook")] == ["Under the third palm."]


async def test_a_task_that_a_hook_left_behind_may_call_the_home_afterwards(program: Program) -> None:
    go, tasks = asyncio.Event(), []

    async def later() -> str:
        await go.wait()
        return (await session.prompt("and now?")).status

    async def prepare_turn(turn: dict[str, Any]) -> None:
        if not tasks:
            tasks.append(asyncio.ensure_future(later()))

    async with Home(program.home) as home:
        session = await program.session(home, prepare_turn=prepare_turn)
        await session.prompt("where?")
        go.set()

        assert await tasks[0] == "finished"


async def test_a_decision_that_the_event_does_not_accept_is_a_failed_call(program: Program) -> None:
    program.plays(bash("true"), {"text": "Done."})
    hooks = Hooks()
    hooks.on(PromptSubmitted)(lambda event: Stop())

    async with Home(program.home) as home:
        reply = await (await program.session(home, hooks=hooks)).prompt("where?")

    assert [record["ended"] for record in of(reply, "hook")] == ["failed"]


def _ends(program: Program, session: str) -> list[str]:
    lines = (program.home / "sessions" / f"{session}.jsonl").read_text().splitlines()
    return [line for line in lines if json.loads(line)["type"] == "end"]
