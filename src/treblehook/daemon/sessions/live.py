"""The sessions that this daemon has: open ones, and parked ones that a prompt opens again."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from treblehook.agent.inbox import When
from treblehook.agent.permissions import Approver
from treblehook.agent.session import Session
from treblehook.daemon.sessions.feed import Feed
from treblehook.daemon.sessions.prompts import Prompts, Standing
from treblehook.daemon.sessions.values import SessionInfo, State
from treblehook.engine import Call
from treblehook.home.home import Home
from treblehook.home.profile import SessionWish
from treblehook.home.residents import DeletionFailed, NotResident, Residents
from treblehook.home.sessions import Company
from treblehook.host.problems import Problem
from treblehook.host.reach import ReachRefused

_ID: Final = re.compile(r"ses_[0-9a-f]{32}")
_SENDER: Final = "sender"
"""The client that sends a message."""


class NotThere(Exception):
    """There is no such session; `known` where one has left its file, and can be opened again by a prompt."""

    def __init__(self, session: str, *, known: bool) -> None:
        super().__init__(f"session {session} is not open; a prompt opens it again" if known else f"there is no session {session}")
        self.session = session
        self.known = known


class _Live(Struct, eq=False):
    """A session that was open when it was last looked at, or is parked: then `session` is None, and `info` how it was left."""

    feed: Feed
    info: SessionInfo
    prompts: Prompts
    session: Session | None


class LiveSessions:
    """Opens, prompts, parks and closes sessions. `approver` answers their permission prompts; `on_calls` is told of hooks' calls.

    What goes wrong in a turn without anybody to tell is added to the home's problems.
    """

    def __init__(self, home: Home, residents: Residents, approver: Approver, on_calls: Callable[[Sequence[Call]], None]) -> None:
        self._home = home
        self._folder = home.path / "sessions"
        self._residents = residents
        self._approver = approver
        self._on_calls = on_calls
        self._live: dict[str, _Live] = {}
        self._waking: dict[str, asyncio.Task[None]] = {}
        self._watchers = count(1)

    async def open(self, wish: SessionWish) -> SessionInfo:
        """Open a new session. Raises what `Residents.open` raises."""
        feed = Feed(self._folder, self._on_calls)
        session = await self._residents.open(wish, Company(feed, self._approver), client=None, keep=True)
        return self._moved_in(session, feed)

    def infos(self) -> list[SessionInfo]:
        """All of them, the oldest first."""
        return [self.info(session_id) for session_id in sorted(self._live)]

    def info(self, session_id: str) -> SessionInfo:
        """One of them. Raises `NotThere`."""
        live = self._found(session_id)
        return live.info if live.session is None else _info(live.session, live.prompts.waiting)

    async def prompt(self, session_id: str, text: str, when: When) -> tuple[Standing, int]:
        """Send a message; a session that is not open is opened again.

        Raises `NotThere`, `TooManyWait`, and what `Residents.open` raises.
        """
        if (live := self._live.get(session_id)) is not None:
            with suppress(NotResident, ReachRefused):
                # From here on it is in use, and not parked.
                self._residents.attach(session_id, _SENDER)
                await self._leave(session_id, _SENDER)
                return live.prompts.say(text, when)
        return (await self._woken(session_id)).prompts.say(text, when)

    async def close(self, session_id: str) -> None:
        """Close a session; its file stays. Raises `NotThere`."""
        live = self._found(session_id)
        with suppress(NotResident):
            await self._residents.close(session_id)
        self._drop(session_id, live, "closed")

    async def forget(self, session_id: str) -> None:
        """Move a session to the trash, open or not. Raises `NotThere` and what `Residents.delete` raises."""
        self._check_stored(session_id)
        live = self._live.get(session_id)
        try:
            await self._residents.delete(session_id)
        except DeletionFailed:
            # It has been opened again.
            reopened = next((session for session in self._residents.sessions if session.id == session_id), None)
            if live is not None and reopened is not None:
                self._moved_in(reopened, live.feed)
            raise
        if live is not None:
            self._drop(session_id, live, "deleted")

    async def park(self, seconds: float) -> None:
        """Close the sessions that nobody has used for so long; their next prompt opens them again. Raises `TranscriptFailed`."""
        try:
            await self._residents.park(seconds)
        finally:
            for live in self._live.values():
                if live.session is not None and live.session.closing is not None:
                    live.info, live.session = replace(_info(live.session, 0), state="parked"), None
                    live.feed.forget()

    def stop(self) -> None:
        """End everybody's watching: the daemon stops."""
        for live in self._live.values():
            live.feed.close("shutdown")

    @asynccontextmanager
    async def watch(self, session_id: str) -> AsyncIterator[Feed]:
        """The feed of a session, which is not parked meanwhile. One that is not open is told from its file. Raises `NotThere`."""
        live = self._live.get(session_id)
        if live is None:
            self._check_stored(session_id)
            stored = self._stored_feed(session_id)
            stored.close("not_open")
            yield stored
            return
        watcher = f"watcher {next(self._watchers)}"
        with suppress(NotResident):
            self._residents.attach(session_id, watcher)
        try:
            yield live.feed
        finally:
            await self._leave(session_id, watcher)

    async def _leave(self, session_id: str, client: str) -> None:
        """A client has no part in the session any more. That closes nothing: the daemon keeps it."""
        with suppress(NotResident):
            await self._residents.detach(session_id, client)

    async def _woken(self, session_id: str) -> _Live:
        """The session, opened again, whoever else asks for it at the same time."""
        self._check_stored(session_id)
        waking = self._waking.get(session_id)
        if waking is None:
            waking = self._waking[session_id] = asyncio.ensure_future(self._wake(session_id))
            waking.add_done_callback(lambda task: self._waking.pop(session_id))
        await asyncio.shield(waking)
        return self._found(session_id)

    async def _wake(self, session_id: str) -> None:
        live = self._live.get(session_id)
        feed = self._stored_feed(session_id) if live is None else live.feed
        feed.forget()
        session = await self._residents.open(SessionWish(resume=session_id), Company(feed, self._approver), client=None, keep=True)
        self._moved_in(session, feed)

    def _moved_in(self, session: Session, feed: Feed) -> SessionInfo:
        def broken(error: Exception) -> None:
            message = f"a turn was broken off: {type(error).__name__}: {error}"
            self._home.problems.append(Problem(str(self._folder / f"{session.id}.jsonl"), "", message))

        feed.open()
        self._live[session.id] = _Live(feed, _info(session, 0), Prompts(session, broken), session)
        return self._live[session.id].info

    def _stored_feed(self, session_id: str) -> Feed:
        return Feed(self._folder, self._on_calls).belong_to(session_id)

    def _found(self, session_id: str) -> _Live:
        live = self._live.get(session_id)
        if live is None:
            self._check_stored(session_id)
            raise NotThere(session_id, known=True)
        return live

    def _check_stored(self, session_id: str) -> None:
        if not _ID.fullmatch(session_id) or not (self._folder / f"{session_id}.jsonl").exists():
            raise NotThere(session_id, known=False)

    def _drop(self, session_id: str, live: _Live, why: str) -> None:
        # A prompt that came while it was closed may have opened it again.
        if self._live.get(session_id) is live:
            live.feed.close(why)
            del self._live[session_id]


def _info(session: Session, waiting: int) -> SessionInfo:
    state = session.state
    busy: State = "running" if session.busy else "idle"
    return SessionInfo(session.id, state.facts.workspace, state.model.spec, busy, state.turns, waiting)
