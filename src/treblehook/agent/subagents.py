"""Subagents: sessions that a session starts through its `agent` tool, awaited or in the background."""

import asyncio
from collections import deque
from typing import Any, Final, Literal, Protocol

from msgspec import Struct

from treblehook.agent.session import EndReason, Session
from treblehook.agent.steps import TurnEnd
from treblehook.host.tool import ToolContext, ToolInputInvalid, ToolOutput, ToolSpec
from treblehook.lifecycle import Message, SubagentFinished

_NOTHING_SAID: Final = "The subagent ended without saying anything."

SPEC: Final = ToolSpec(
    name="agent",
    description=(
        "Give a task to a subagent that works on its own in the same folder. It knows nothing of this conversation: say all it needs. "
        "Its final text is the result. With background true you go on at once and its result is delivered to you later. "
        "With `to`, the id of a background subagent of yours, that one gets more work."
    ),
    parameters={
        "type": "object",
        "properties": {
            "task": {"type": "string", "description": "What to do, complete in itself."},
            "background": {"type": "boolean", "description": "Do not wait for the result."},
            "to": {"type": "string", "description": "Id of an earlier background subagent that gets this task."},
        },
        "required": ["task"],
        "additionalProperties": False,
    },
    main_argument="task",
    asks=True,
)


class OpenChild(Protocol):
    """Opens a session below another; it has not been started yet."""

    async def __call__(self, parent: Session, *, awaited: bool) -> Session:
        """The child session."""


class _Resident(Struct, eq=False):
    """A background subagent. `tasks` wait for it; `work` is under way until they are all done and the result is handed back.

    `end` is how its last turn ended.
    """

    session: Session
    tasks: deque[str]
    end: TurnEnd | None = None
    work: "asyncio.Task[None] | None" = None
    started: bool = False

    @property
    def busy(self) -> bool:
        return self.work is not None and not self.work.done()


class Subagents:
    """The subagents of one session, and the `agent` tool that starts them."""

    def __init__(self, open_child: OpenChild) -> None:
        self._open_child = open_child
        self._parent: Session | None = None
        self._awaited: set[Session] = set()
        self._residents: dict[str, _Resident] = {}
        self._leaving: dict[asyncio.Task[Any], Session] = {}
        self._changed = asyncio.Event()

    def belong_to(self, parent: Session) -> None:
        """Say whose subagents these are, before the first is started."""
        self._parent = parent

    @property
    def spec(self) -> ToolSpec:
        """How the tool is offered."""
        return SPEC

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Start a subagent, or give a background one more work. Raises `ToolInputInvalid`."""
        task, background, to = _arguments(arguments)
        if to is not None:
            return self._more_work(to, task)
        if background:
            return await self._start_background(task)
        return await self._run_awaited(task)

    async def _run_awaited(self, task: str) -> ToolOutput:
        child = await self._open_child(self._owner(), awaited=True)
        self._awaited.add(child)
        end = TurnEnd("failed", reason="its work broke off")
        try:
            end = await _first_turn(child, task)
        except asyncio.CancelledError:
            end = TurnEnd("interrupted", reason="stopped by the user")
            raise
        finally:
            self._awaited.discard(child)
            leaving = self._let_go(child, self._owner().closing or _reason(end), end)
        # Its last record comes before the result where no hook of its own has to be waited for.
        await asyncio.wait({leaving}, timeout=0)
        await self._finished(child, end, background=False)
        return ToolOutput(_report(end), is_error=end.status != "finished")

    async def _start_background(self, task: str) -> ToolOutput:
        child = await self._open_child(self._owner(), awaited=False)
        resident = self._residents[child.id] = _Resident(child, deque())
        self._give(resident, task)
        return ToolOutput(f"Subagent {child.id} has started. Its result will be delivered to you.")

    def _more_work(self, to: str, task: str) -> ToolOutput:
        resident = self._residents.get(to)
        if resident is None:
            known = ", ".join(self._residents) or "none"
            raise ToolInputInvalid(f"to: no background subagent {to!r} is here; there are: {known}")
        self._give(resident, task)
        return ToolOutput(f"Subagent {to} has the task. Its result will be delivered to you.")

    def _give(self, resident: _Resident, task: str) -> None:
        resident.tasks.append(task)
        if not resident.busy:
            resident.work = asyncio.ensure_future(self._work(resident))
            resident.work.add_done_callback(lambda work: self._worked(resident.session, work))

    async def _work(self, resident: _Resident) -> None:
        """Do what waits for a background subagent, and hand the result back once all of it is done."""
        child = resident.session
        while resident.tasks:
            end = resident.end = await self._next_turn(resident, resident.tasks.popleft())
            if end.status == "refused":
                del self._residents[child.id]
                resident.tasks.clear()
                self._let_go(child, "refused", end)
            if resident.tasks or end.status == "interrupted":
                continue
            self._deliver(child, f"Subagent {child.id} has finished.\n\n{_report(end)}")
            await self._finished(child, end, background=True)

    async def _next_turn(self, resident: _Resident, task: str) -> TurnEnd:
        if resident.started:
            return await resident.session.prompt(task)
        resident.started = True
        return await _first_turn(resident.session, task)

    def _worked(self, child: Session, work: "asyncio.Task[None]") -> None:
        if not work.cancelled() and (error := work.exception()) is not None:
            self._deliver(child, f"Subagent {child.id} failed: {error}")
        self._changed.set()

    def _deliver(self, child: Session, text: str) -> None:
        self._owner().deliver(Message("user", text, source="subagent", hook=child.id))
        self._changed.set()

    async def _finished(self, child: Session, end: TurnEnd, *, background: bool) -> None:
        """A result is handed back. A subagent that the user stopped has none."""
        if end.status == "interrupted":
            return
        state = self._owner().state
        outcome: Literal["completed", "error"] = "completed" if end.status == "finished" and not end.cut else "error"
        fields = state.facts.fields()
        event = SubagentFinished(subagent=child.id, background=background, outcome=outcome, text=_text(end), **fields)
        await state.dispatcher.fire(event)

    def _owner(self) -> Session:
        assert self._parent is not None, "subagents belong to a session before they are started"
        return self._parent

    def busy(self) -> bool:
        """Whether a background subagent is still at work."""
        return any(resident.busy for resident in self._residents.values())

    async def next_result(self) -> None:
        """Wait until a background subagent has handed something back, or none is at work."""
        if self.busy():
            self._changed.clear()
            await self._changed.wait()

    async def close(self, reason: EndReason) -> None:
        """Stop them all and tell their end hooks; `gone` waits for the rest."""
        stopped = TurnEnd("interrupted", reason=reason)
        for child in self._awaited:
            self._let_go(child, reason, stopped)
        for resident in self._residents.values():
            self._let_go(resident.session, reason, stopped if resident.busy or resident.end is None else resident.end)
            if resident.work is not None:
                resident.work.cancel()
        self._residents.clear()
        await asyncio.gather(*(child.end_told.wait() for child in self._leaving.values()))

    async def gone(self) -> None:
        """Wait until those that were let go of have let go of their files."""
        await asyncio.gather(*self._leaving)

    def _let_go(self, child: Session, reason: EndReason, end: TurnEnd) -> "asyncio.Task[Any]":
        """End a subagent for which nobody waits any more: its hooks that only watch may take their time."""
        leaving = asyncio.ensure_future(child.finish(reason, end))
        self._leaving[leaving] = child
        leaving.add_done_callback(self._left)
        return leaving

    def _left(self, leaving: "asyncio.Task[Any]") -> None:
        # A failure is raised by `gone`.
        if leaving.cancelled() or leaving.exception() is None:
            del self._leaving[leaving]


async def _first_turn(child: Session, task: str) -> TurnEnd:
    refusal = await child.start("start")
    if refusal is not None:
        return TurnEnd("refused", reason=refusal)
    return await child.prompt(task)


def _reason(end: TurnEnd) -> EndReason:
    return "refused" if end.status == "refused" else "closed"


def _text(end: TurnEnd) -> str:
    return end.text.strip() or end.reason.strip() or _NOTHING_SAID


def _report(end: TurnEnd) -> str:
    """What the parent's model is told: of one that did not finish, also why."""
    text, reason = end.text.strip(), end.reason.strip()
    return f"{text}\n\nIt {end.status}: {reason}" if text and reason and end.status != "finished" else _text(end)


def _arguments(arguments: dict[str, Any]) -> tuple[str, bool, str | None]:
    task, background, to = arguments.get("task"), arguments.get("background", False), arguments.get("to")
    if not isinstance(task, str) or not task.strip():
        raise ToolInputInvalid(f"task: found {task!r}, but a text that is not blank is needed")
    if not isinstance(background, bool):
        raise ToolInputInvalid(f"background: found {background!r}, but true or false is needed")
    if to is not None and not isinstance(to, str):
        raise ToolInputInvalid(f"to: found {to!r}, but the id of a subagent is needed")
    return task, background, to
