"""A home, as a program opens it."""

import asyncio
import os
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self

from treblehook.agent.errors import SessionRefused
from treblehook.api.company import Approve, Asked, ProgramsOwn, Witness, approver
from treblehook.api.reentry import inside
from treblehook.api.session import Session
from treblehook.contracts.python import Hooks
from treblehook.contracts.vera.turn_functions import BeforeTurnEnds, PrepareTurn, TurnFunctions
from treblehook.home.home import Home as OpenHome
from treblehook.home.outside import OutsideSession, OutsideWish, open_outside
from treblehook.home.place import locate_home
from treblehook.home.profile import SessionWish
from treblehook.home.sessions import Company, prepare_session, start_session
from treblehook.host.problems import Problem

NOT_OPEN: Final = "the home is not open: async with Home(...) as home"
NOT_HERE: Final = "the home was opened in the process that this one was forked from; open one here: async with Home(...) as home"
NOT_RUNNING: Final = "the event loop that the home was opened on does not run, so nobody can be asked"


class Home:
    """A folder with a user's hooks and settings; without a path `$TREBLEHOOK_HOME`, else `~/.treblehook`. It may be missing.

    Use it as an `async with` block: entering raises `ConfigInvalid` where a file does not load, leaving closes its sessions.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._path = path
        self._home: OpenHome | None = None
        self._opened = AsyncExitStack()
        self._sessions: list[Session] = []
        self._outside: list[OutsideSession] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process = 0

    @property
    def path(self) -> Path:
        """The absolute path. Raises `ConfigInvalid` where it is no folder."""
        return locate_home(None if self._path is None else os.fspath(self._path), os.environ)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is known to be wrong with the home's files, and stops nothing."""
        return () if self._home is None else tuple(self._home.problems)

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The event loop that it was opened on, where its hooks are asked.

        Raises RuntimeError outside the `async with` block, in a process that was forked off inside it, and where that loop does not run:
        whoever waited for an answer would wait for ever.
        """
        self._opened_here()
        if self._loop is None or not self._loop.is_running():
            raise RuntimeError(NOT_RUNNING)
        return self._loop

    def _opened_here(self) -> OpenHome:
        if self._home is None:
            raise RuntimeError(NOT_OPEN)
        if self._process != os.getpid():
            raise RuntimeError(NOT_HERE)
        return self._home

    async def outside_session(self, agent: str, workspace: Path, parent: str | None = None) -> OutsideSession:
        """Open a session for an agent that runs its own tools; nobody has been asked yet. Leaving the `async with` block ends it.

        `parent` is the id of the session that starts it as a subagent.

        Raises `ConfigInvalid`, `TranscriptFailed`, and RuntimeError outside the block.
        """
        home = self._opened_here()
        session = await open_outside(home, OutsideWish(agent, workspace, parent=parent))
        if self._home is not home:
            # It was left meanwhile, and nobody would close the session.
            await session.close()
            raise RuntimeError(NOT_OPEN)
        self._outside.append(session)
        return session

    def keeps(self, session: OutsideSession) -> bool:
        """Whether an outside session is still open."""
        return session in self._outside

    async def close_outside(self, session: OutsideSession, reason: Literal["closed", "idle", "shutdown"]) -> None:
        """Tell the end of an outside session and let go of it; nothing where that has been done. Raises `TranscriptFailed`."""
        if not self.keeps(session):
            return
        self._outside.remove(session)
        try:
            await session.agent.end(reason)
            session.ended("finished", reason)
        finally:
            await session.close()

    async def session(
        self,
        *,
        workspace: str | os.PathLike[str] | None = None,
        model: str | None = None,
        resume: str | None = None,
        hooks: Hooks | None = None,
        approve: Approve = "never",
        prepare_turn: PrepareTurn | None = None,
        before_turn_ends: BeforeTurnEnds | None = None,
    ) -> Session:
        """Open a session and ask its start hooks.

        `workspace` is the folder that it works in, else the current one; `model` a SPEC, else the home's default; `resume` the
        id of an earlier session, or its beginning, whose workspace and model then are the defaults. `hooks` are bound beside the
        home's own. `prepare_turn` and `before_turn_ends` are described in vera.md 7.1.

        Raises `ConfigInvalid`, `ModelSpecInvalid`, `SessionRefused`, `SessionNotFound`, `SessionBusy`, `TranscriptFailed`,
        TypeError for what is no function, ValueError for an unknown `approve`, `CalledFromOwnHook`, and RuntimeError outside
        the `async with` block.
        """
        functions = TurnFunctions(prepare_turn, before_turn_ends)
        witness, answering = Witness(functions), approver(approve)
        home = self._opened_here()
        wish = SessionWish(workspace=None if workspace is None else Path(workspace), model=model, resume=resume)
        company = Company(witness, answering, ProgramsOwn(hooks, functions))
        with inside(self):
            agent = await prepare_session(home, wish, company)
            session = Session(self, agent, witness, answering if isinstance(answering, Asked) else None)
            self._sessions.append(session)
            try:
                with witness.watching():
                    await start_session(agent, wish)
            except SessionRefused:
                self._sessions.remove(session)
                raise
        return session

    async def __aenter__(self) -> Self:
        if self._home is not None:
            raise RuntimeError("the home is open already")
        self._home = await self._opened.enter_async_context(OpenHome(self.path, os.environ))
        self._loop, self._process = asyncio.get_running_loop(), os.getpid()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        sessions, self._sessions, self._home = self._sessions, [], None
        outside = [self.close_outside(session, "shutdown") for session in self._outside]
        try:
            ends = await asyncio.gather(*(session.close() for session in sessions), *outside, return_exceptions=True)
        finally:
            await self._opened.aclose()
        for failure in ends:
            if isinstance(failure, BaseException):
                raise failure
