"""Asking one handler: its deadline, and what its answer or its failure is called."""

import asyncio
import traceback
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from treblehook.engine.background import Background
from treblehook.engine.errors import HookFailed, HookGivenUp, HookProblem, HookTimedOut
from treblehook.engine.handler import Answer, Handler
from treblehook.lifecycle import AddContext, Decision, Event, Fold, Refuse, Rewrite


class Limit(Struct, frozen=True):
    """How long one call may take, in seconds; `given` is the limit that the user knows, `shared` whether a lane shares it."""

    seconds: float
    shared: bool
    given: float


def own_limit(handler: Handler) -> Limit | None:
    """The limit of `handler` itself, where the engine has to keep it."""
    return None if (seconds := handler.armed) is None else Limit(seconds, shared=False, given=seconds)


async def ask_within(handler: Handler, event: Event, limit: Limit | None, background: Background, clock: Callable[[], float]) -> Answer:
    """Ask `handler` about `event`; raises `HookProblem` for every way in which it gives no usable answer.

    With a limit a handler runs in a task of its own, unless it is `cancellable`, and is left behind at the deadline, whether or not
    it heeds cancellation; an answer that comes later is thrown away.
    """
    try:
        if limit is None:
            answer = await handler.ask(event)
        elif handler.cancellable:
            answer = await _in_place(limit, handler, event, clock)
        else:
            answer = await _within(limit, handler, event, background, clock)
    except HookProblem:
        raise
    except BaseException as error:
        if crashed(error):
            raise failure(handler, error) from error
        raise
    return checked(event, answer)


async def _in_place(limit: Limit, handler: Handler, event: Event, clock: Callable[[], float]) -> Any:
    """Ask a handler that gives up when it is cancelled: a task of its own would cost as much as its answer."""
    late = HookTimedOut(limit.given, shared=limit.shared)
    if limit.seconds <= 0:
        raise late
    entered = clock()
    try:
        async with asyncio.timeout(limit.seconds) as deadline:
            answer = await handler.ask(event)
    except TimeoutError:
        if deadline.expired():
            raise late from None
        raise
    if clock() - entered > limit.seconds:
        raise late
    return answer


async def _within(limit: Limit, handler: Handler, event: Event, background: Background, clock: Callable[[], float]) -> Any:
    late = HookTimedOut(limit.given, shared=limit.shared)
    if limit.seconds <= 0:
        raise late
    ask = handler.ask
    entered: float | None = None

    async def call() -> Any:
        nonlocal entered
        entered = clock()
        return await ask(event)

    task = asyncio.ensure_future(call())
    left = limit.seconds
    try:
        # The handler's time runs from its entry, which a busy loop may delay.
        while not task.done() and left > 0:
            await asyncio.wait({task}, timeout=left)
            left = limit.seconds if entered is None else entered + limit.seconds - clock()
    except asyncio.CancelledError:
        background.abandon(task)
        raise
    if not task.done():
        background.abandon(task)
        raise late
    if task.cancelled():
        raise HookFailed("it cancelled itself")
    answer = task.result()
    if left < 0:
        raise late
    return answer


def crashed(error: BaseException) -> bool:
    """Whether `error` is a hook's own failure: an exception, or a cancellation that nobody outside asked for.

    What else ends a task (the dispatch was cancelled, Ctrl-C, `sys.exit`) goes through to the host.
    """
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is not None and not task.cancelling()
    return isinstance(error, Exception)


def failure(handler: Handler, error: BaseException) -> HookProblem:
    """`error` as the problem that the journal and the fold are told, with the line of the hook's file that it came from."""
    if isinstance(error, HookProblem):
        # Its frames would keep themselves and all that they hold alive.
        return error.with_traceback(None)
    if isinstance(error, asyncio.CancelledError):
        return HookFailed("it cancelled itself") if crashed(error) else HookGivenUp("the wait for it was cancelled")
    message = "".join(traceback.format_exception_only(error)).strip()
    line = _line(error, handler.origin.file)
    return HookFailed(message if line is None else f"{message} ({handler.origin.file}:{line})")


def _line(error: BaseException, file: str) -> int | None:
    """The innermost line of `file` that `error` passed."""
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == file]
    return lines[-1] if lines else None


def checked(event: Event, answer: Any) -> Answer:
    """`answer` as an `Answer`; raises `HookFailed` where it holds no decision that `event` accepts."""
    given = answer if isinstance(answer, Answer) else Answer(answer)
    decision = given.decision
    if decision is not None and (wrong := _wrong(event, decision)) is not None:
        raise HookFailed(wrong, raw=given.raw)
    return given


def _wrong(event: Event, decision: Any) -> str | None:
    """What is wrong with `decision` as an answer to `event`."""
    if not isinstance(decision, Decision):
        return f"answered {decision!r}, which is not a decision"
    where = type(event).__name__
    kind = next((kind for kind in event.accepts if isinstance(decision, kind)), None)
    if kind is None:
        allowed = ", ".join(kind.__name__ for kind in event.accepts) or "nothing but a pass"
        return f"answered {type(decision).__name__}; {where} accepts {allowed}"
    given = {name: value for name in kind.__struct_fields__ if (value := getattr(decision, name)) is not UNSET}
    try:
        msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        return f"answered a {kind.__name__} that is none: {error}"
    if isinstance(decision, Rewrite):
        return _wrong_rewrite(event, decision)
    if event.fold is Fold.GATE and isinstance(decision, Refuse) and not decision.reason.strip():
        return "refused with an empty reason"
    return None


def _wrong_rewrite(event: Event, rewrite: Rewrite) -> str | None:
    where = type(event).__name__
    if extra := rewrite.fields() - event.rewrites:
        return f"rewrote {', '.join(sorted(extra))}; {where} lets it rewrite {', '.join(sorted(event.rewrites))}"
    if rewrite.context is not None and AddContext not in event.accepts:
        return f"added context; {where} accepts none"
    return None
