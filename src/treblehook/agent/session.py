"""A session: one conversation, from its start hooks to its end hooks, one turn at a time."""

import asyncio
import time
from collections.abc import Callable
from typing import Literal, Protocol

from treblehook.agent.compaction import compact
from treblehook.agent.models.model import ModelFailed
from treblehook.agent.opening import open_conversation
from treblehook.agent.state import SessionState
from treblehook.agent.steps import Turn, TurnEnd
from treblehook.agent.turn import run_turn
from treblehook.engine import GaveUp
from treblehook.lifecycle import Message, SessionEnd

EndReason = Literal["detached", "closed", "idle", "deleted", "shutdown", "refused"]
_GRACE_SECONDS = 1.0


class Children(Protocol):
    """The subagents of a session."""

    def busy(self) -> bool:
        """Whether a background subagent is still at work."""

    async def next_result(self) -> None:
        """Wait until a background subagent has handed something back, or none is at work."""

    async def close(self, reason: EndReason) -> None:
        """Close them all."""


class Session:
    """One open session. `id` names it, `state` is what turns work on.

    Raises `TranscriptFailed` from any method that has to write and cannot; what was written before stands.
    """

    def __init__(self, state: SessionState, children: Children) -> None:
        self.id = state.facts.session
        self.state = state
        self.children = children
        self._turn: asyncio.Task[TurnEnd] | None = None
        self._one_at_a_time = asyncio.Lock()
        self._opened = time.monotonic()
        self._closed = False

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
        )
        return await open_conversation(state, reason)

    async def prompt(self, *texts: str) -> TurnEnd:
        """Take one turn for messages that are sent together; without any, a turn for what background subagents delivered."""
        async with self._one_at_a_time:
            self.state.turns += bool(texts)
            task = asyncio.ensure_future(run_turn(Turn(self.state), texts))
            self._turn = task
            try:
                await asyncio.wait({task})
            except asyncio.CancelledError:
                await self.interrupt()
                raise
            finally:
                self._turn = None
            if task.cancelled():
                return TurnEnd("interrupted", reason="stopped by the user")
            return task.result()

    @property
    def running(self) -> bool:
        """Whether a turn is under way."""
        return self._turn is not None

    def join(self, text: str) -> bool:
        """Send a message into the running turn, at its next tool boundary; false where no turn is running."""
        if self._turn is None:
            return False
        self.state.joining.append(text)
        return True

    def left_over(self) -> list[str]:
        """Messages that were sent into a turn which ended before it could take them; they are yours now."""
        texts = list(self.state.joining)
        self.state.joining.clear()
        return texts

    async def interrupt(self) -> None:
        """Stop the running turn at once. A hook or tool that does not heed that is left behind."""
        task = self._turn
        if task is None:
            return
        task.cancel()
        await asyncio.wait({task}, timeout=_GRACE_SECONDS)
        if not task.done():
            self.state.background.abandon(task)
            self._turn = None

    async def compact(self) -> ModelFailed | None:
        """Compact now, between turns; answers the failure where the summary could not be made."""
        async with self._one_at_a_time:
            try:
                await compact(self.state, self.state.model, "manual")
            except ModelFailed as failure:
                return failure
        return None

    async def settle(self, on_turn: Callable[[TurnEnd], None]) -> None:
        """Wait for background subagents and take a turn for what they deliver, until all is quiet."""
        while self.children.busy() or self.state.delivered:
            if not self.state.delivered:
                await self.children.next_result()
            if self.state.delivered:
                on_turn(await self.prompt())

    def deliver(self, message: Message) -> None:
        """A background subagent's result, for the next turn or the next tool boundary of this one."""
        self.state.delivered.append(message)

    def end(self, end: TurnEnd) -> None:
        """Write the `end` record."""
        self.state.recorder.write("end", status=end.status, turns=self.state.turns, reason=end.reason)

    async def close(self, reason: EndReason, exit_status: str = "ok") -> list[GaveUp]:
        """Stop what runs, close the subagents, tell the end hooks; answers which background work was given up."""
        if self._closed:
            return []
        self._closed = True
        await self.interrupt()
        await self.children.close(reason)
        state = self.state
        spent = list(state.usage.values())
        await state.dispatcher.fire(
            SessionEnd(
                reason=reason,
                turns=state.turns,
                tool_calls=state.calls.ran,
                shell_calls=state.calls.shells,
                input_tokens=sum(usage.input for usage in spent),
                output_tokens=sum(usage.output for usage in spent),
                duration_ms=round((time.monotonic() - self._opened) * 1000),
                exit_status=exit_status,
                **state.facts.fields(),
            )
        )
        return await state.background.drain()

    async def finish(self, reason: EndReason, end: TurnEnd) -> list[GaveUp]:
        """Close, write how it ended, and let go of the session file."""
        gave_up = await self.close(reason, "ok" if end.status == "finished" else "failed")
        self.end(end)
        self.state.recorder.close()
        return gave_up
