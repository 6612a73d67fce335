"""A turn of twenty tool calls with everything that is written down, beside the same turn with nothing written."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.row import Limit, Line
from benchmarks.timing import Action, fastest
from treblehook.agent.listener import Listener
from treblehook.agent.permissions import Always
from treblehook.agent.session import Session
from treblehook.contracts.python import Hooks
from treblehook.home.home import Home
from treblehook.home.profile import SessionWish
from treblehook.home.sessions import Company, open_session
from treblehook.lifecycle import PreToolCall

LIMIT = Limit(at_most=1.10)
WITH_HOOKS = Limit(at_most=1.15)
"""Where the tool takes no time and neither does the hook before it, so that little is left but the writing."""

CALLS = 20
ROUNDS = 150
"""Batches of each; one turn is a batch."""

TOOLS: dict[str, dict[str, Any]] = {"read": {"path": "map.txt"}, "bash": {"command": "true"}}
TURNS = (("read", False, LIMIT), ("read", True, WITH_HOOKS), ("bash", True, LIMIT))
"""The tool, whether a hook is asked before each call, and the limit."""


def hooks() -> Hooks:
    """A hook before each call, the quickest there is, so that there is something to journal."""
    made = Hooks()

    @made.on(PreToolCall)
    async def passes(event: PreToolCall) -> None:
        return None

    return made


def script(folder: Path, tool: str) -> Path:
    """A model that calls one tool, five times in each reply."""
    file = folder / f"{tool}.json"
    reply = {"text": "I look.", "tools": [{"name": tool, "args": TOOLS[tool]}] * 5, "repeat": CALLS // 5}
    file.write_text(json.dumps([reply, {"text": "Done."}]))
    return file


def silent(session: Session) -> Session:
    """The session, which writes nothing down from now on."""
    vars(session.state.recorder)["_put"] = lambda kind, keys: None
    session.state.dispatcher.journal.watchers.clear()
    session.state.dispatcher.journal.on = False
    return session


def turns(session: Session) -> Action:
    """The same turn again and again: the session forgets it each time."""

    async def action(times: int) -> None:
        for _ in range(times):
            end = await session.prompt("look")
            assert end.text == "Done.", end
            session.state.conversation.restart(())

    return action


async def measure() -> list[Line]:
    lines = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "map.txt").write_text("x marks the spot\n" * 20)
        async with Home(folder / "home", os.environ) as home:
            for tool, hooked, limit in TURNS:
                company = Company(Listener(), Always(), hooks() if hooked else None)
                wish = SessionWish(workspace=folder, model=f"script:{script(folder, tool)}")
                told, quiet = await open_session(home, wish, company), silent(await open_session(home, wish, company))
                best = await fastest({"told": turns(told), "quiet": turns(quiet)}, rounds=ROUNDS)
                what = f"a turn of {CALLS} calls of {tool}{', a hook before each' if hooked else ''}"
                lines.append(Line(what, "nothing written down", best["told"], best["quiet"], limit))
                for session in (told, quiet):
                    await session.finish("closed")
    return lines
