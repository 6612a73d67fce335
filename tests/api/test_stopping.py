"""A program that is stopped, or stops waiting, while an agent is at work."""

import asyncio
import json
import signal
import subprocess
import sys
from typing import Any

import pytest

from tests.support.program import Program
from treblehook import Home, Hooks, ModelRequest, SessionEnd, SessionStart

PROGRAM = """
import sys, threading
from pathlib import Path
from treblehook import Hooks, SessionEnd, run

hooks = Hooks()
hooks.on(SessionEnd)(lambda event: Path("ended").write_text(event.reason))

def prepare_turn(turn):
    print("asked", flush=True)
    threading.Event().wait()

run("where?", home=sys.argv[1], workspace=sys.argv[2], model=sys.argv[3], hooks=hooks, prepare_turn=prepare_turn)
"""


def end_of(program: Program) -> dict[str, Any]:
    [file] = (program.home / "sessions").glob("*.jsonl")
    record: dict[str, Any] = json.loads(file.read_text().splitlines()[-1])
    assert record["type"] == "end"
    return record


def test_ctrl_c_ends_a_script_properly_even_if_a_function_hangs(program: Program) -> None:
    command = [sys.executable, "-c", PROGRAM, str(program.home), str(program.workspace), program.model]
    with subprocess.Popen(command, cwd=program.workspace, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "asked\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()

    assert errors.splitlines()[-1] == "KeyboardInterrupt"
    assert (program.workspace / "ended").read_text() == "closed"
    assert end_of(program)["status"] == "interrupted"


async def test_a_program_that_stops_waiting_interrupts_the_turn(program: Program) -> None:
    hooks, asked = Hooks(), asyncio.Event()

    @hooks.on(ModelRequest)
    async def slow(event: ModelRequest) -> None:
        asked.set()
        await asyncio.Event().wait()

    async with Home(program.home) as home:
        session = await program.session(home, hooks=hooks)
        turn = asyncio.ensure_future(session.prompt("where?"))
        await asked.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn

    assert end_of(program)["status"] == "interrupted"


async def test_a_turn_that_is_stopped_while_it_is_prepared_is_interrupted_and_no_failure(program: Program) -> None:
    asked = asyncio.Event()

    async def prepare_turn(turn: dict[str, Any]) -> None:
        if not asked.is_set():
            asked.set()
            await asyncio.Event().wait()

    async with Home(program.home) as home:
        session = await program.session(home, prepare_turn=prepare_turn)
        turn = asyncio.ensure_future(session.prompt("where?"))
        await asked.wait()
        await session.interrupt()

        assert (await turn).status == "interrupted"
        assert (await session.prompt("where, then?")).status == "finished"


async def test_a_session_that_is_given_up_while_it_starts_is_ended(program: Program) -> None:
    hooks, asked, ends = Hooks(), asyncio.Event(), []
    hooks.on(SessionEnd)(lambda event: ends.append(event.reason))

    @hooks.on(SessionStart)
    async def slow(event: SessionStart) -> None:
        asked.set()
        await asyncio.Event().wait()

    async with Home(program.home) as home:
        opening = asyncio.ensure_future(program.session(home, hooks=hooks))
        await asked.wait()
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening

    assert ends == ["closed"]
    assert end_of(program)["status"] == "interrupted"
