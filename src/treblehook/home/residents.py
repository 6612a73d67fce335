"""The open sessions of a running home and the clients that each has; every one is closed for a reason (vera.md 3.7)."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from weakref import WeakValueDictionary

from msgspec import Struct

from treblehook.agent.session import EndReason, Session
from treblehook.agent.transcript import Transcript, TranscriptFailed, find_session
from treblehook.home.home import Home
from treblehook.home.profile import SessionWish
from treblehook.home.sessions import Company, open_session
from treblehook.host.private import make_private_folder
from treblehook.host.problems import Problem

SHUTDOWN_SECONDS = 5.0
"""How long a stopping host waits for its sessions; an end hook that takes longer is cut off with the process."""


class NotResident(Exception):
    """The session `session` is not open in this host."""

    def __init__(self, session: str) -> None:
        super().__init__(f"session {session} is not open here")
        self.session = session


class HomeStopping(Exception):
    """The host is stopping."""

    def __init__(self) -> None:
        super().__init__("the host is stopping and opens no session any more")


class DeletionFailed(Exception):
    """A session could not be moved to the trash; `reason` is the system's. If it was open, it has been opened again."""

    def __init__(self, session: str, reason: str) -> None:
        super().__init__(f"session {session} was not deleted: {reason}")
        self.session = session
        self.reason = reason


class _Resident(Struct, eq=False):
    """`keep` lets the session stay when its last client has left; `seen` is when it last was in use, `requests` how many it had sent."""

    session: Session
    company: Company
    keep: bool
    clients: set[str]
    seen: float
    requests: int = 0


class Residents:
    """Opens and closes the sessions of `home`. A client is a name that the caller chooses; `clock` gives seconds."""

    def __init__(self, home: Home, clock: Callable[[], float] = time.monotonic) -> None:
        self._home = home
        self._folder = home.path / "sessions"
        self._clock = clock
        self._residents: dict[str, _Resident] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._ending: set[asyncio.Task[None]] = set()
        self._stopping = False

    @property
    def sessions(self) -> list[Session]:
        """The open sessions, the oldest first."""
        return [resident.session for resident in self._residents.values()]

    async def open(self, wish: SessionWish, company: Company, *, client: str | None, keep: bool = False) -> Session:
        """Open a session, or attach to the one that `wish` resumes if it is open; with `keep` it stays without clients.

        Raises `HomeStopping` and what `open_session` raises.
        """
        if wish.resume is None:
            return self._moved_in(await open_session(self._home, wish, company), company, client, keep=keep)
        session_id = find_session(self._folder, wish.resume)
        async with self._lock(session_id):
            if session_id not in self._residents:
                return self._moved_in(await open_session(self._home, wish, company), company, client, keep=keep)
        if client is not None:
            self.attach(session_id, client)
        return self._resident(session_id).session

    def _moved_in(self, session: Session, company: Company, client: str | None, *, keep: bool) -> Session:
        clients = set() if client is None else {client}
        resident = self._residents[session.id] = _Resident(session, company, keep, clients, self._clock())
        if self._stopping:
            self._end(resident, "shutdown")
            raise HomeStopping
        return session

    def attach(self, session_id: str, client: str) -> Session:
        """Another client of an open session; no start hook is asked. Raises `NotResident`."""
        resident = self._resident(session_id)
        resident.clients.add(client)
        resident.seen = self._clock()
        return resident.session

    async def detach(self, session_id: str, client: str) -> None:
        """A client leaves; the last one closes the session, unless that is set to keep running. Raises `NotResident`."""
        resident = self._resident(session_id)
        resident.clients.discard(client)
        resident.seen = self._clock()
        if not resident.clients and not resident.keep:
            await asyncio.shield(self._end(resident, "detached"))

    async def new(self, left: str, client: str, wish: SessionWish, company: Company) -> Session:
        """A client leaves the session `left` for another (`/new`). Raises what `detach` and `open` raise."""
        await self.detach(left, client)
        return await self.open(wish, company, client=client)

    async def close(self, session_id: str) -> None:
        """A client closes the session for everybody. Raises `NotResident`."""
        await asyncio.shield(self._end(self._resident(session_id), "closed"))

    async def park(self, after: float) -> list[str]:
        """Close sessions that no client is attached to and that have not been in use for `after` seconds; answers which.

        Whether a session is in use is looked at here, so call this more often than that.
        """
        now = self._clock()
        idle = []
        for resident in self._residents.values():
            session, requests = resident.session, resident.session.state.requests
            if session.busy or session.children.busy() or requests != resident.requests:
                resident.seen, resident.requests = now, requests
            elif not resident.clients and now - resident.seen >= after:
                idle.append(resident)
        ending = [self._end(resident, "idle") for resident in idle]
        await asyncio.gather(*map(asyncio.shield, ending))
        return [resident.session.id for resident in idle]

    async def delete(self, session_id: str) -> None:
        """Move a session's file and folder to `<home>/trash`; an open session is closed before.

        Raises `SessionNotFound` and `SessionBusy` (open in another process), and `DeletionFailed`: then an open session has been
        opened again, which its start hooks are told as a resume.
        """
        session_id = find_session(self._folder, session_id)
        async with self._lock(session_id):
            resident = self._residents.pop(session_id, None)
            if resident is None:
                transcript, _ = Transcript.resume(self._folder / f"{session_id}.jsonl")
                transcript.close()
            else:
                # What cannot be written any more is not needed either.
                with suppress(TranscriptFailed):
                    await resident.session.finish("deleted")
            try:
                self._trash(session_id)
            except OSError as error:
                if resident is not None:
                    resident.session = await open_session(self._home, SessionWish(resume=session_id), resident.company)
                    self._residents[session_id] = resident
                raise DeletionFailed(session_id, error.strerror or str(error)) from error

    async def shutdown(self, seconds: float = SHUTDOWN_SECONDS) -> None:
        """The host stops: close every session, the subagents of each first, and wait `seconds` at most."""
        self._stopping = True
        for resident in list(self._residents.values()):
            self._end(resident, "shutdown")
        if not self._ending:
            return
        done, _ = await asyncio.wait(set(self._ending), timeout=seconds)
        for ended in done:
            if (error := ended.exception()) is not None:
                self._home.problems.append(Problem(str(self._home.path), "", f"a session was not closed well: {error}"))

    def _resident(self, session_id: str) -> _Resident:
        resident = self._residents.get(session_id)
        if resident is None:
            raise NotResident(session_id)
        return resident

    def _lock(self, session_id: str) -> asyncio.Lock:
        """Keeps opening, closing and deleting of one session apart."""
        lock = self._locks.get(session_id)
        if lock is None:
            lock = self._locks[session_id] = asyncio.Lock()
        return lock

    def _end(self, resident: _Resident, reason: EndReason) -> "asyncio.Task[None]":
        """From now on the session is not resident; the task is over once its file is free."""
        del self._residents[resident.session.id]
        ending = asyncio.ensure_future(self._finish(resident.session, reason))
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)
        return ending

    async def _finish(self, session: Session, reason: EndReason) -> None:
        async with self._lock(session.id):
            await session.finish(reason)

    def _trash(self, session_id: str) -> None:
        """Move both or none. Raises `OSError`."""
        trash = self._home.path / "trash"
        make_private_folder(trash)
        folder = self._folder / session_id
        if folder.exists():
            folder.rename(trash / session_id)
        try:
            (self._folder / f"{session_id}.jsonl").rename(trash / f"{session_id}.jsonl")
        except OSError:
            if (trash / session_id).exists():
                (trash / session_id).rename(folder)
            raise
