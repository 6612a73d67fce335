"""Subagents: sessions that a session starts through its `agent` tool, awaited or in the background."""

import asyncio
from typing import Any, Final, Literal, Protocol

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


class Subagents:
    """The subagents of one session, and the `agent` tool that starts them."""

    def __init__(self, open_child: OpenChild) -> None:
        self._open_child = open_child
        self._parent: Session | None = None
        self._awaited: set[Session] = set()
        self._resident: dict[str, Session] = {}
        self._working: dict[asyncio.Task[None], Session] = {}
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
        try:
            end = await _first_turn(child, task)
        except asyncio.CancelledError:
            await child.finish("closed", TurnEnd("interrupted", reason="closed"))
            raise
        finally:
            self._awaited.discard(child)
        await child.finish("closed", end)
        await self._finished(child, end, background=False)
        return ToolOutput(_text(end), is_error=end.status != "finished")

    async def _start_background(self, task: str) -> ToolOutput:
        child = await self._open_child(self._owner(), awaited=False)
        self._resident[child.id] = child
        self._work(child, task, first=True)
        return ToolOutput(f"Subagent {child.id} has started. Its result will be delivered to you.")

    def _more_work(self, to: str, task: str) -> ToolOutput:
        child = self._resident.get(to)
        if child is None:
            known = ", ".join(self._resident) or "none"
            raise ToolInputInvalid(f"to: no background subagent {to!r} is here; there are: {known}")
        self._work(child, task, first=False)
        return ToolOutput(f"Subagent {child.id} has the task. Its result will be delivered to you.")

    def _work(self, child: Session, task: str, *, first: bool) -> None:
        work = asyncio.ensure_future(self._hand_back(child, task, first=first))
        self._working[work] = child
        work.add_done_callback(self._worked)

    def _worked(self, work: "asyncio.Task[None]") -> None:
        child = self._working.pop(work)
        if not work.cancelled() and (error := work.exception()) is not None:
            self._owner().deliver(Message("user", f"Subagent {child.id} failed: {error}", source="subagent", hook=child.id))
        self._changed.set()

    async def _hand_back(self, child: Session, task: str, *, first: bool) -> None:
        end = await (_first_turn(child, task) if first else child.prompt(task))
        if end.status == "interrupted":
            return
        text = f"Subagent {child.id} has finished.\n\n{_text(end)}"
        self._owner().deliver(Message("user", text, source="subagent", hook=child.id))
        await self._finished(child, end, background=True)

    async def _finished(self, child: Session, end: TurnEnd, *, background: bool) -> None:
        state = self._owner().state
        outcome: Literal["completed", "error"] = "completed" if end.status == "finished" else "error"
        fields = state.facts.fields()
        event = SubagentFinished(subagent=child.id, background=background, outcome=outcome, text=_text(end), **fields)
        await state.dispatcher.fire(event)

    def _owner(self) -> Session:
        assert self._parent is not None, "subagents belong to a session before they are started"
        return self._parent

    def busy(self) -> bool:
        """Whether a background subagent is still at work."""
        return bool(self._working)

    async def next_result(self) -> None:
        """Wait until a background subagent has handed something back, or none is at work."""
        if self._working:
            self._changed.clear()
            await self._changed.wait()

    async def close(self, reason: EndReason) -> None:
        """Close them all, each with its own end hooks."""
        for work in list(self._working):
            work.cancel()
        for child in (*self._awaited, *self._resident.values()):
            await child.finish(reason, TurnEnd("interrupted", reason=reason))
        self._resident.clear()


async def _first_turn(child: Session, task: str) -> TurnEnd:
    refusal = await child.start("start")
    if refusal is not None:
        return TurnEnd("refused", reason=refusal)
    return await child.prompt(task)


def _text(end: TurnEnd) -> str:
    return end.text.strip() or end.reason.strip() or _NOTHING_SAID


def _arguments(arguments: dict[str, Any]) -> tuple[str, bool, str | None]:
    task, background, to = arguments.get("task"), arguments.get("background", False), arguments.get("to")
    if not isinstance(task, str) or not task.strip():
        raise ToolInputInvalid(f"task: found {task!r}, but a text that is not blank is needed")
    if not isinstance(background, bool):
        raise ToolInputInvalid(f"background: found {background!r}, but true or false is needed")
    if to is not None and not isinstance(to, str):
        raise ToolInputInvalid(f"to: found {to!r}, but the id of a subagent is needed")
    return task, background, to
