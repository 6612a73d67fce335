"""One session in the foreground: its home is opened, it is talked to, and however that ends, it ends properly."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime

from treblehook.agent.permissions import Approver
from treblehook.agent.records import stamped
from treblehook.agent.session import EndReason, Session
from treblehook.agent.steps import TurnEnd
from treblehook.agent.transcript import TranscriptFailed
from treblehook.cli.failures import EXIT, EXPECTED, FAILED, INTERRUPTED, exit_of, lines_of
from treblehook.cli.options import Flags
from treblehook.cli.output.output import Output
from treblehook.cli.output.stream import Stream
from treblehook.cli.signals import Signals
from treblehook.home.home import Home
from treblehook.home.sessions import Company, prepare_session, start_session

Converse = Callable[["Foreground", Session], Awaitable[TurnEnd | None]]
"""Talks to a session; answers how it ended, or None where every `end` has been written already."""


class Foreground:
    """One session of one command.

    A first Ctrl-C, SIGTERM or SIGHUP calls `on_stop`, which ends the session unless a command sets it to something else; a
    second one kills the process after `restore`. A reader that goes away ends the session too.
    """

    def __init__(self, flags: Flags, output: Output, out: Stream, approver: Approver, converse: Converse) -> None:
        self.output = output
        self.on_stop: Callable[[signal.Signals], None] = self.stop
        self.restore: Callable[[], None] = lambda: None
        self.rearm: Callable[[], None] = lambda: None
        self._flags = flags
        self._out = out
        self._approver = approver
        self._converse = converse
        self._home: Home | None = None
        self._reason: EndReason = "detached"
        self._why = ""
        self._work: asyncio.Task[int] | None = None
        self._told = 0

    async def run(self) -> int:
        """Run the session from start to end; answers the exit status. Expected errors are told, any other is raised."""
        self._work = asyncio.ensure_future(self._session())
        with Signals(lambda number: self.on_stop(number), lambda: self.restore()) as signals:
            self.rearm = signals.rearm
            self._out.on_lost = self._unheard
            try:
                status = await self._settled(self._work)
                if not self._out.fault:
                    return status
                self.output.problem(f"error: standard output: {self._out.fault}")
                return FAILED
            finally:
                self.output.close()

    async def _settled(self, work: asyncio.Task[int]) -> int:
        try:
            return await work
        except asyncio.CancelledError:
            return INTERRUPTED
        except EXPECTED as error:
            for line in lines_of(error):
                self.output.problem(line)
            return exit_of(error)

    def stop(self, number: signal.Signals) -> None:
        """End the session now."""
        by = "the user" if number == signal.SIGINT else number.name
        self._stop("shutdown" if number == signal.SIGTERM else "detached", f"stopped by {by}")

    def tell_problems(self) -> None:
        """Say what has become known about the home's files since the last time."""
        if self._home is None:
            return
        for problem in self._home.problems[self._told :]:
            self.output.problem(f"{problem.level}: {problem}")
        self._told = len(self._home.problems)

    def _unheard(self) -> None:
        self._stop("detached", self._out.fault or "nobody reads the output any more")

    def _stop(self, reason: EndReason, why: str) -> None:
        if self._work is not None:
            self._reason, self._why = reason, why
            self._work.cancel()

    async def _session(self) -> int:
        async with Home(self._flags.home, os.environ) as self._home:
            self.tell_problems()
            session = await prepare_session(self._home, self._flags.wish, Company(self.output, self._approver))
            self.tell_problems()
            try:
                end = await self._talked(session)
                await session.finish(self._reason, end)
            except TranscriptFailed as failure:
                await self._unwritable(session, failure)
                raise
            self.tell_problems()
            return 0 if end is None else EXIT[end.status]

    async def _talked(self, session: Session) -> TurnEnd | None:
        try:
            await start_session(session, self._flags.wish)
            self.tell_problems()
            return await self._converse(self, session)
        except asyncio.CancelledError:
            end = TurnEnd("interrupted", reason=self._why)
            if not self._out.lost:
                self.output.turn_ended(end)
            return end
        except EXPECTED:
            raise
        except Exception as error:
            await session.finish(self._reason, TurnEnd("failed", reason=f"{type(error).__name__}: {error}"))
            raise
        finally:
            # From here on the session is ending, and nothing but a second signal stops that.
            self._work = None

    async def _unwritable(self, session: Session, failure: TranscriptFailed) -> None:
        """The end hooks are started all the same, and whoever reads the records learns how it ended."""
        with suppress(TranscriptFailed):
            session.state.recorder.close()
        await session.close(self._reason, "failed")
        end = stamped("end", session.id, datetime.now(UTC), status="failed", turns=session.state.turns, reason=str(failure))
        self.output.record(end)
