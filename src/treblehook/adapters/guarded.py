"""One session of an SDK's agent, as its adapter talks to it: prompts and calls in, what hooks make of them out."""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, Literal, TypeVar

from msgspec import Struct

from treblehook.adapters.opening import EndReason, OpenSession, loop_of
from treblehook.host.calls import CallOutcome
from treblehook.host.outside import Prompted, shell_output
from treblehook.host.tool import ToolOutput
from treblehook.lifecycle import Allow, Deny, ToolCall

T = TypeVar("T")


class Verdict(Struct, frozen=True):
    """What hooks say of a call. `call` is what may run; where `result` is set nothing does, and that is the tool's result.

    Where only a rule wants the user asked `question` says why: an SDK that has somebody to ask may do so, and then run the call.
    """

    call: ToolCall
    asked: dict[str, Any]
    result: str | None = None
    is_error: bool = False
    question: str | None = None

    @property
    def rewritten(self) -> bool:
        """Whether hooks have changed the input."""
        return self.call.input != self.asked


class Running(Struct, frozen=True):
    """A call whose tool is running, and the session that it belongs to."""

    session: "Guarded"
    call: ToolCall


RUNNING: Final[ContextVar[Running | None]] = ContextVar("treblehook_running", default=None)
"""In the code of a tool: its call. A session that begins there is that of a subagent."""


class Guarded:
    """An open session. Its methods may be awaited on any event loop: hooks that are bound to one are asked there.

    `parent` is the session whose tool has started this one. `in_turn` is true from a prompt that the model gets to see until `stopping`,
    `turn_over` or `broken_off`; `turn` counts these prompts. Once the session is no longer open, or its home cannot be asked, every method
    raises RuntimeError: nobody could say what hooks would have said.
    """

    def __init__(self, session: OpenSession, start_context: str, parent: "Guarded | None" = None) -> None:
        self.hooks = session.hooks
        self.id = session.agent.facts.session
        self.parent = parent
        self.in_turn = False
        self.turn = 0
        self._untold = False
        self._start_context = start_context
        self._session = session
        self._start_told = False

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self._session.is_open()

    async def prompt(self, text: str, model: str = "", *, every_time: bool = False) -> Prompted:
        """A prompt of the user. What start hooks said comes with the first one that is not blocked, or with all of them."""
        prompted = await self._there(self._prompt(text, model))
        self.in_turn = self._untold = prompted.blocked is None
        self.turn += int(self.in_turn)
        if prompted.blocked is not None or (self._start_told and not every_time):
            return prompted
        self._start_told = True
        return Prompted("\n\n".join(filter(None, (self._start_context, prompted.context))))

    async def _prompt(self, text: str, model: str) -> Prompted:
        self._session.prompted(text)
        return await self._session.agent.prompt(text, model)

    async def judge(self, call_id: str, name: str, arguments: object) -> Verdict:
        """A call that is about to run. Where a rule wants the user asked it is refused: most SDKs have nobody to ask.

        So is one whose arguments are no object, as models may make them: hooks are promised one, and would judge what does not run.
        """
        if not isinstance(arguments, dict):
            refusal = f"The arguments of {name} are not a JSON object, so the tool did not run."
            return Verdict(ToolCall(call_id, name, {}), {}, refusal, is_error=True)
        call = ToolCall(call_id, name, arguments)
        judged = await self._there(self._session.agent.judge(call))
        if judged.refusal is not None:
            return Verdict(judged.call, judged.asked, judged.refusal, is_error=not judged.replaced)
        if judged.ask is not None:
            refusal = f"{judged.ask} Nobody can be asked here, so the tool did not run."
            return Verdict(judged.call, judged.asked, refusal, is_error=True, question=judged.ask)
        return Verdict(judged.call, judged.asked)

    async def permission(self, call: ToolCall) -> Allow | Deny | None:
        """The SDK is about to ask its user. None leaves it to that."""
        return await self._there(self._session.agent.permission(call))

    @contextmanager
    def running(self, verdict: Verdict) -> Iterator[None]:
        """The tool of a judged call runs inside."""
        token = RUNNING.set(Running(self, verdict.call))
        try:
            yield
        finally:
            RUNNING.reset(token)

    async def finished(self, verdict: Verdict, content: str, *, is_error: bool = False, seconds: float = 0.0) -> str:
        """The text of a call that has run, as hooks leave it."""
        output = ToolOutput(content, is_error)
        if verdict.call.name == "bash":
            output = shell_output(content, exit_code=int(is_error), duration_ms=round(seconds * 1000))
        return (await self.ended(verdict, output, seconds)).content

    async def ended(self, verdict: Verdict, output: ToolOutput, seconds: float = 0.0) -> CallOutcome:
        """As `finished`, where an SDK tells more of a command than its text."""
        return await self._there(self._session.agent.finished(verdict.call, output, verdict.asked, seconds * 1000))

    async def compacting(self, reason: Literal["manual", "automatic"]) -> None:
        """The conversation is about to be summarised."""
        await self._there(self._session.agent.compacting(reason))

    async def stopping(self, reply: str, *, again: bool = False) -> str | None:
        """What the model is sent back with after its final reply, None where the turn is over. Hooks have one such wish a turn."""
        sent_back = await self._there(self._session.agent.stopping(reply, again=again))
        self.in_turn = self._untold = sent_back is not None
        if sent_back is None and self.parent is not None and self.parent.is_open:
            await self.parent.told_of(self.id, reply)
        return sent_back

    async def told_of(self, subagent: str, reply: str) -> None:
        """An agent that has worked for this one is done, such as one whose session a tool of this one has started."""
        await self._there(self._session.agent.subagent_finished(subagent, reply))

    async def turn_over(self, reply: str) -> None:
        """The run is over, and with it a turn that has not been ended: the model cannot be sent back any more."""
        if self._untold:
            await self.stopping(reply, again=True)

    def broken_off(self, turn: int | None = None) -> None:
        """The run has failed, was cancelled or waits for a human, so there is no reply, unless another run goes on with the turn.

        Said late it names its `turn`: the next one may have begun.
        """
        if turn in (None, self.turn):
            self.in_turn = False

    async def end(self, reason: EndReason = "closed") -> None:
        """Tell that the session is over, and let go of it; nothing where that has been done."""
        if self.is_open:
            await self._there(self._session.close(reason))

    async def _there(self, work: Coroutine[Any, Any, T]) -> T:
        if not self.is_open:
            work.close()
            raise RuntimeError("this session is over: its home was left, or it was closed")
        try:
            loop = loop_of(self.hooks)
        except BaseException:
            work.close()
            raise
        return await on_loop(loop, work)


async def on_loop(loop: asyncio.AbstractEventLoop | None, work: Coroutine[Any, Any, T]) -> T:
    """What `work` comes to on `loop`; None is this one. Cancelling this cancels `work`."""
    if loop is None or loop is asyncio.get_running_loop():
        return await work
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))
