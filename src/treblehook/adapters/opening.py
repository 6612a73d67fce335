"""Opening the session that an SDK's agent is guarded by: with a program's own `Hooks`, or with all that a `Home` has."""

import asyncio
import secrets
import tempfile
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from treblehook.api.home import Home
from treblehook.contracts.python import Hooks
from treblehook.engine import Background, Dispatcher, Registry
from treblehook.host.calls import CallOutcome, CallPath
from treblehook.host.facts import SessionFacts
from treblehook.host.outside import OutsideAgent, OutsideTools
from treblehook.host.permission import Verdict
from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import Display, ToolCall

EndReason = Literal["closed", "idle"]


class OpenSession(Struct, frozen=True):
    """A session that nobody has been told of yet. `prompted` notes a prompt down; `close` tells its end and lets go of it, once."""

    hooks: Hooks | Home
    agent: OutsideAgent
    prompted: Callable[[str], None]
    close: Callable[[EndReason], Coroutine[Any, Any, None]]
    is_open: Callable[[], bool]


def loop_of(hooks: Hooks | Home) -> asyncio.AbstractEventLoop | None:
    """The loop that hooks are bound to: that of an open home. A program's own are asked wherever they are needed.

    Raises RuntimeError where the home cannot be asked: it is not open in this process, or its loop does not run.
    """
    return hooks.loop if isinstance(hooks, Home) else None


async def open_session(hooks: Hooks | Home, sdk: str, workspace: Path, tools: tuple[str, ...], parent: str | None = None) -> OpenSession:
    """Open one; `parent` is the id of the session that starts it as a subagent.

    Raises what `Home.outside_session` raises, and `BindError`.
    """
    if isinstance(hooks, Home):
        return await _of_home(hooks, sdk, workspace, parent)
    return _of_hooks(hooks, workspace, tools, spawned=parent is not None)


async def _of_home(home: Home, sdk: str, workspace: Path, parent: str | None) -> OpenSession:
    session = await home.outside_session(sdk, workspace, parent)

    async def close(reason: EndReason) -> None:
        await home.close_outside(session, reason)

    return OpenSession(home, session.agent, session.prompted, close, lambda: home.keeps(session))


def _of_hooks(hooks: Hooks, workspace: Path, tools: tuple[str, ...], *, spawned: bool) -> OpenSession:
    """Their calls go into the journal of `hooks`."""
    registry, background = Registry(), Background()
    hooks.bind(registry)
    dispatcher = Dispatcher(registry, background=background, journal=hooks.journal)
    facts = SessionFacts(f"ses_{secrets.token_hex(8)}", str(workspace), spawned)
    # Whoever has a shell calls it bash, here as everywhere.
    known = OutsideTools({"bash": ToolSpec("bash", "", {})})
    calls = CallPath(dispatcher, facts, known, Allowing(), Unseen(), Path(tempfile.gettempdir()))

    agent, closed = OutsideAgent(dispatcher, facts, calls, tools=tools), threading.Event()

    async def close(reason: EndReason) -> None:
        if closed.is_set():
            return
        closed.set()
        try:
            await agent.end(reason)
        finally:
            await background.drain()

    return OpenSession(hooks, agent, _unwritten, close, lambda: not closed.is_set())


def _unwritten(prompt: str) -> None:
    """A program's own hooks come without a session file."""


class Allowing:
    """No rules: what no hook stops may run."""

    def verdict(self, call: ToolCall, spec: ToolSpec) -> Verdict:
        """It may."""
        return Verdict("allow")

    async def approve(self, call: ToolCall, spec: ToolSpec, reason: str = "") -> bool:
        """Nobody is ever asked."""
        return True


class Unseen:
    """The SDK shows and records calls itself."""

    def started(self, call: ToolCall, asked: dict[str, object], display: Display | None, *, for_hook: bool = False) -> None:
        """Not shown."""

    def progress(self, call: ToolCall, text: str) -> None:
        """Not shown."""

    def ended(self, outcome: CallOutcome, display: Display | None) -> None:
        """Not shown."""
