"""Asking one handler: its deadline, and what its answer or its failure is called."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from treblehook.engine.background import Background
from treblehook.engine.errors import HookFailed, HookNotStarted, HookProblem, HookTimedOut
from treblehook.engine.handler import Answer, Handler
from treblehook.engine.journal import Ended
from treblehook.lifecycle import Decision, Event, Fold, Refuse, Rewrite


class Limit(Struct, frozen=True):
    """How long one call may take, in seconds; `given` is the limit that the user knows, `shared` whether a lane shares it."""

    seconds: float
    shared: bool
    given: float


async def ask_within(handler: Handler, event: Event, limit: Limit | None, background: Background, clock: Callable[[], float]) -> Answer:
    """Ask `handler` about `event`; raises `HookProblem` for every way in which it gives no usable answer.

    With a limit the handler runs in a task of its own and is left behind at the deadline, whether or not it heeds
    cancellation; an answer that comes later is thrown away.
    """
    try:
        answer = await handler.ask(event) if limit is None else await _within(limit, handler, event, background, clock)
    except HookProblem:
        raise
    except Exception as error:
        raise HookFailed(f"{type(error).__name__}: {error}") from error
    return checked(event, answer)


async def _within(limit: Limit, handler: Handler, event: Event, background: Background, clock: Callable[[], float]) -> Any:
    late = HookTimedOut(limit.given, shared=limit.shared)
    if limit.seconds <= 0:
        raise late
    deadline = clock() + limit.seconds
    task = asyncio.ensure_future(_call(handler.ask(event)))
    try:
        done, _ = await asyncio.wait({task}, timeout=limit.seconds)
    except asyncio.CancelledError:
        background.abandon(task)
        raise
    if not done:
        background.abandon(task)
        raise late
    if task.cancelled():
        raise HookFailed("it cancelled itself")
    answer = task.result()
    if clock() > deadline:
        raise late
    return answer


async def _call(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def checked(event: Event, answer: Any) -> Answer:
    """`answer` as an `Answer`; raises `HookFailed` where it holds no decision that `event` accepts."""
    given = answer if isinstance(answer, Answer) else Answer(answer)
    decision = given.decision
    if decision is None:
        return given
    if not isinstance(decision, Decision):
        raise HookFailed(f"answered {decision!r}, which is not a decision", raw=given.raw)
    where = type(event).__name__
    if not isinstance(decision, event.accepts):
        allowed = ", ".join(kind.__name__ for kind in event.accepts) or "nothing but a pass"
        raise HookFailed(f"answered {type(decision).__name__}; {where} accepts {allowed}", raw=given.raw)
    if isinstance(decision, Rewrite) and decision.fields() - event.rewrites:
        extra = ", ".join(sorted(decision.fields() - event.rewrites))
        raise HookFailed(f"rewrote {extra}; {where} lets it rewrite {', '.join(sorted(event.rewrites))}", raw=given.raw)
    if event.fold is Fold.GATE and isinstance(decision, Refuse) and not decision.reason.strip():
        raise HookFailed("refused with an empty reason", raw=given.raw)
    return given


def ended_by(problem: HookProblem) -> Ended:
    """How the journal calls `problem`."""
    if isinstance(problem, HookTimedOut):
        return Ended.TIMED_OUT
    return Ended.NOT_STARTED if isinstance(problem, HookNotStarted) else Ended.FAILED
