"""A session: one conversation, from its start hooks to its end hooks, one turn at a time."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, Literal, Protocol, TypeVar

from treblehook.agent.compaction import compact
from treblehook.agent.errors import CompactionStopped
from treblehook.agent.inbox import When
from treblehook.agent.models.model import ModelFailed
from treblehook.agent.opening import open_conversation
from treblehook.agent.state import SessionState
from treblehook.agent.steps import Turn, TurnEnd
from treblehook.agent.turn import run_turn
from treblehook.engine import GaveUp
from treblehook.lifecycle import Message, SessionEnd

EndReason = Literal["detached", "closed", "idle", "deleted", "shutdown", "refused"]
T = TypeVar("T")
_TURN_END_SECONDS = 2.0
"""How long closing waits for what hooks are told of a turn that was stopped, so that the session's end comes after it."""
_END_SECONDS = 60.0
"""How long closing waits for end hooks that hold it up."""


class Children(Protocol):
    """The subagents of a session."""

    def busy(self) -> bool:
        """Whether a background subagent is still at work."""

    async def next_result(self) -> None:
        """Wait until a background subagent has handed something back, or none is at work."""

    async def close(self, reason: EndReason) -> None:
        """Stop them all and tell their end hooks; `gone` waits for the rest."""

    async def gone(self) -> None:
        """Wait until those that were let go of have let go of their files."""


class Session:
    """One open session. `id` names it, `state` is what turns work on.

    Raises `TranscriptFailed` from any method that has to write and cannot; what was written before stands.
    """

    def __init__(self, state: SessionState, children: Children) -> None:
        self.id = state.facts.session
        self.state = state
        self.children = children
        self.running = False
        """whether a turn is under way"""
        self.closing: EndReason | None = None
        """why the session is being closed, or has been"""
        self.end_told = asyncio.Event()
        """set once the end hooks have been told, or cannot be"""
        self._work: asyncio.Task[Any] | None = None
        self._one_at_a_time = asyncio.Lock()
        self._opened = time.monotonic()
        self._closed: asyncio.Task[list[GaveUp]] | None = None
        self._untaken: list[str] = []

    async def start(self, reason: Literal["start", "resume"]) -> str | None:
        """Announce the session and ask its start hooks; answers why it is refused, or None."""
        state = self.state
        state.recorder.write(
            "session",
            id=self.id,
            parent=state.parent,
            workspace=state.facts.workspace,
            model=state.model.spec,
            reason=reason,
            profile=state.profile,
            kilns=list(state.kilns),
        )
        for enter in state.entering:
            enter()
        return await open_conversation(state, reason)

    async def prompt(self, *texts: str) -> TurnEnd:
        """Take one turn for messages that are sent together; without any, a turn for what background subagents delivered."""
        async with self._one_at_a_time:
            if self.closing is not None:
                return TurnEnd("interrupted", reason="the session has been closed")
            if not texts and not self.state.delivered:
                return TurnEnd("finished")
            self.state.turns += bool(texts)
            self.running = True
            try:
                end = await self._until_stopped(run_turn(Turn(self.state), texts))
            finally:
                self.running = False
            return end or TurnEnd("interrupted", reason="stopped by the user")

    async def _until_stopped(self, work: Coroutine[Any, Any, T]) -> T | None:
        """What `work` comes to, or None where it was interrupted."""
        task = self._work = asyncio.ensure_future(work)
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            await self.interrupt()
            raise
        finally:
            self._work = None
        return None if task.cancelled() else task.result()

    @property
    def busy(self) -> bool:
        """Whether a turn or a compaction is under way."""
        return self._work is not None

    def join(self, text: str) -> bool:
        """Send a message into the running turn, at its next tool boundary; false where no turn is running."""
        if not self.running:
            return False
        self.state.inbox.send(text, "now")
        return True

    def left_over(self) -> list[str]:
        """Messages that were sent into a turn which ended before it could take them; they are yours now."""
        return self.state.inbox.take_now()

    async def interrupt(self) -> None:
        """Stop the running turn or compaction at once. Nobody waits for a hook, model or tool that does not heed that."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.wait({self._work})

    async def compact(self) -> ModelFailed | CompactionStopped | None:
        """Compact now, between turns; answers why that was not done, or None where it was."""
        async with self._one_at_a_time:
            if self.closing is not None:
                return CompactionStopped()
            try:
                done = await self._until_stopped(self._compact())
            except ModelFailed as failure:
                return failure
        return None if done else CompactionStopped()

    async def _compact(self) -> Literal[True]:
        await compact(self.state, self.state.model, "manual")
        return True

    def send(self, text: str, when: When) -> "asyncio.Future[bool]":
        """Accept a message, which is in the session file then: `now` joins the running turn at its next tool boundary, `idle` waits
        for a turn of its own.

        Somebody has to take the turns: `attend` does, and so does `settle` until all is quiet. The future comes to true once a turn
        has taken the message, and to false where the session was closed before. Raises `ReachRefused` where it is being closed.
        """
        taken = self.state.inbox.send(text, when)
        self.state.recorder.write("sent", text=text, when=when)
        return taken

    async def attend(self, on_turn: Callable[[TurnEnd], None]) -> None:
        """Take turns for what is sent and delivered, one after another, until the session is being closed."""
        while self.closing is None:
            await self.settle(on_turn)
            if self.closing is None:
                await self.news()

    async def settle(self, on_turn: Callable[[TurnEnd], None]) -> None:
        """Take turns for what has been sent, and for what background subagents deliver, until all is quiet."""
        while self.closing is None:
            texts = self.state.inbox.next_turn()
            if texts or self.state.delivered:
                on_turn(await self.prompt(*texts))
            elif self.children.busy():
                await self.news()
            else:
                return

    async def news(self) -> None:
        """Wait until something is sent, a background subagent has handed something back, or the session is being closed."""
        waits: list[asyncio.Future[Any]] = [asyncio.ensure_future(self.state.inbox.arrived.wait())]
        if self.children.busy():
            waits.append(asyncio.ensure_future(self.children.next_result()))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def deliver(self, message: Message) -> None:
        """A background subagent's result, for the next turn or the next tool boundary of this one."""
        self.state.delivered.append(message)

    def end(self, end: TurnEnd) -> None:
        """Write the `end` record."""
        self.state.recorder.write("end", status=end.status, turns=self.state.turns, reason=end.reason)

    async def close(self, reason: EndReason, exit_status: str = "ok") -> list[GaveUp]:
        """Stop what runs, end the subagents, tell the end hooks; answers which background work was given up.

        It is done once, whoever asks again or stops waiting.
        """
        if self._closed is None:
            self.closing = reason
            self._untaken = self.state.inbox.close()
            self._closed = asyncio.ensure_future(self._close(reason, exit_status))
        return await asyncio.shield(self._closed)

    async def _close(self, reason: EndReason, exit_status: str) -> list[GaveUp]:
        try:
            await self.interrupt()
            await self.state.quiet(_TURN_END_SECONDS)
            await self.children.close(reason)
            await self._tell(self._ended(reason, exit_status))
        finally:
            self.end_told.set()
        gave_up, _ = await asyncio.gather(self.state.background.drain(), self.children.gone())
        self.state.gave_up = gave_up
        for leave in self.state.leaving:
            await leave()
        return gave_up

    async def _tell(self, event: SessionEnd) -> None:
        """Ask the end hooks; one that does not answer in time is left behind."""
        telling = asyncio.ensure_future(self.state.dispatcher.fire(event))
        await asyncio.wait({telling}, timeout=_END_SECONDS)
        if telling.done():
            telling.result()
        else:
            self.state.background.abandon(telling)

    def _ended(self, reason: EndReason, exit_status: str) -> SessionEnd:
        state = self.state
        spent = list(state.usage.values())
        return SessionEnd(
            reason=reason,
            turns=state.turns,
            requests=state.requests,
            tool_calls=state.calls.execution.ran,
            shell_calls=state.calls.execution.shells,
            input_tokens=sum(usage.input for usage in spent),
            output_tokens=sum(usage.output for usage in spent),
            duration_ms=round((time.monotonic() - self._opened) * 1000),
            exit_status=exit_status,
            **state.facts.fields(),
        )

    def _give_back(self, reason: EndReason) -> None:
        """What nobody has taken is told; unless the host merely stops or parks the session, which takes it when it is opened again."""
        if not self._untaken:
            return
        if reason in ("shutdown", "idle"):
            row = "the session was closed before it took this message, and takes it when it is opened again"
        else:
            self.state.recorder.write("given_back")
            row = "the session was closed before it took this message"
        for text in self._untaken:
            self.state.recorder.write("row", text=f"{row}: {text}", hook="")

    async def finish(self, reason: EndReason, end: TurnEnd | None = None) -> list[GaveUp]:
        """Close, write how it ended (without `end` that has been written), and let go of the session file."""
        try:
            gave_up = await self.close(reason, "ok" if end is None or end.status == "finished" else "failed")
            self._give_back(reason)
            if end is not None:
                self.end(end)
        finally:
            self.state.recorder.close()
        return gave_up
