"""The sessions of outside agents: opened at their first hook call, closed at their end or when nothing has been heard for long."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from treblehook.agent.transcript import TranscriptFailed
from treblehook.gateway.met import Met, MetSessions
from treblehook.gateway.own_settings import HOOK_SECONDS, read_by
from treblehook.gateway.unnamed import UnnamedCalls
from treblehook.gateway.values import Arrived
from treblehook.home.home import Home
from treblehook.home.outside import OutsideSession, OutsideWish, open_outside

PARK_SECONDS: Final = 1800.0
"""A session of which nothing has been heard for so long is closed; its next call opens it again."""


class Live(Struct, eq=False):
    """A session that is open. `pending` is context from its start that could not be told yet, `parent` the session that a subagent
    works for, `calls` how many of its hook calls are under way, `unnamed` its tool calls without ids."""

    session: OutsideSession
    key: str
    seen: float
    parent: "Live | None" = None
    pending: list[str] = []
    calls: int = 0
    unnamed: UnnamedCalls = field(default_factory=UnnamedCalls)


class OutsideSessions:
    """Those of one home. `problem` is told what an operator should know, `clock` gives seconds."""

    def __init__(self, home: Home, problem: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._home = home
        self._problem = problem
        self._clock = clock
        self._met = MetSessions(home.path)
        self._open: dict[str, asyncio.Task[Live]] = {}
        self._ending: set[asyncio.Task[None]] = set()

    @property
    def count(self) -> int:
        """How many are open."""
        return len(self._open)

    async def of(self, agent: str, arrived: Arrived) -> Live:
        """The session whose call this is; a new one has been asked about its start (row 2). Raises what `open_outside` raises."""
        key = f"{agent}\0{arrived.session}\0{arrived.subagent}"
        opening = self._open.get(key)
        if opening is None:
            opening = self._open[key] = asyncio.ensure_future(self._opened(key, agent, arrived))
        try:
            # Whoever gives up waiting does not take the session from the others.
            live = await asyncio.shield(opening)
        except BaseException:
            if opening.done() and self._open.get(key) is opening:
                del self._open[key]
            raise
        live.seen = self._clock()
        return live

    async def _opened(self, key: str, agent: str, arrived: Arrived) -> Live:
        parent = await self.of(agent, _parent_of(arrived)) if arrived.subagent else None
        met = self._met.find(key)
        wish = OutsideWish(
            agent,
            Path(arrived.workspace if met is None else met.workspace),
            model=arrived.model,
            known_as=None if met is None else met.id,
            parent=None if parent is None else parent.session.id,
            own_settings=read_by(agent),
            settings_seconds=HOOK_SECONDS,
        )
        session = await open_outside(self._home, wish)
        live = Live(session, key, self._clock(), parent)
        session.agent.parent = None if parent is None else parent.session.agent
        if parent is not None and parent.session.agent.refusal is not None:
            session.agent.refusal = parent.session.agent.refusal
        elif met is None:
            await self._started(live, arrived)
        else:
            session.agent.refusal = met.refusal
        return live

    async def _started(self, live: Live, arrived: Arrived) -> None:
        agent = live.session.agent
        started = await agent.start("start", arrived.model)
        self._met.keep(live.key, Met(live.session.id, arrived.workspace, started.refusal))
        if started.refusal is not None:
            await agent.end("refused")
            live.session.ended("refused", started.refusal)
        if started.context:
            live.pending.append(started.context)

    def refused(self, live: Live, reason: str) -> None:
        """A session that was met earlier is refused from now on, also where the gateway is started anew. Raises `OSError`."""
        self._met.keep(live.key, Met(live.session.id, live.session.agent.facts.workspace, reason))

    def end(self, live: Live, reason: str = "closed") -> None:
        """Take it out, tell its end hooks and let it go, which nobody waits for."""
        opening = self._open.pop(live.key, None)
        if opening is not None:
            task = asyncio.ensure_future(self._end(live, idle=reason == "idle"))
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def _end(self, live: Live, *, idle: bool) -> None:
        agent = live.session.agent
        try:
            if agent.refusal is None:
                await agent.end("idle" if idle else "closed")
                live.session.ended("finished")
            await live.session.close()
        except TranscriptFailed as failed:
            self._problem(f"error: {failed.path}: a session was not closed well: {failed.reason}")

    def park(self, after: float = PARK_SECONDS) -> None:
        """Close sessions of which nothing has been heard for `after` seconds, and under which no call is being judged."""
        now = self._clock()
        for opening in list(self._open.values()):
            if opening.done() and not opening.cancelled() and opening.exception() is None:
                live = opening.result()
                if not live.calls and now - live.seen >= after:
                    self.end(live, "idle")

    async def close(self, seconds: float = 5.0) -> None:
        """The gateway stops: tell the end hooks of all sessions, and wait `seconds` at most."""
        self.park(0.0)
        if self._ending:
            await asyncio.wait(set(self._ending), timeout=seconds)


def _parent_of(arrived: Arrived) -> Arrived:
    return Arrived(arrived.event, arrived.what, arrived.session, arrived.workspace, model=arrived.model)
