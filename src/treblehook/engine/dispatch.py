"""One event, from the registry to its outcome."""

from collections.abc import Iterator
from operator import length_hint
from typing import Generic, TypeVar

from treblehook.engine.ask import Limit, ask_within, checked, ended_by
from treblehook.engine.background import Background
from treblehook.engine.errors import HookFailed, HookNotStarted, HookProblem
from treblehook.engine.folds import Folding, folding
from treblehook.engine.handler import Answer, Detached, Handler, Mode, Queued
from treblehook.engine.journal import Call, Ended, Journal
from treblehook.engine.outcome import Outcome
from treblehook.engine.registry import Plan, Registry
from treblehook.lifecycle import Decision, Event

E = TypeVar("E", bound=Event)


class Dispatcher:
    """Fires events at the handlers of a registry and writes every call into the journal."""

    def __init__(self, registry: Registry, *, background: Background, journal: Journal) -> None:
        self.registry = registry
        self.background = background
        self.journal = journal

    async def fire(self, event: E) -> Outcome[E]:
        """Ask every handler of `event` in order and fold what they answer.

        Handlers that need nothing but an await are asked right here; the first that answers or fails, and any that needs
        more, is `_Dispatch`'s.
        """
        plan = self.registry.plan(event)
        if plan is None:
            return Outcome(event)
        journal = self.journal
        if not plan.immediate or journal.watchers:
            return await _Dispatch(self, plan, event).run(0)
        call: Call | None = None
        answer: Decision | Answer | None = None
        problem: Exception | None = None
        left: Iterator[object] = iter(())
        try:
            if journal.on:
                left = handlers = iter(plan.handlers)
                clock = journal.clock
                record = journal.calls.append
                began = clock()
                for handler in handlers:
                    record(call := Call(handler, event, began))
                    answer = await handler.ask(event)
                    if answer is not None:
                        break
                    call.stopped = began = clock()
            else:
                left = asks = iter(plan.asks)
                for ask in asks:
                    answer = await ask(event)
                    if answer is not None:
                        break
        except Exception as error:
            problem = error
        except BaseException:
            if call is not None:
                journal.finish(call, Ended.FAILED, error="interrupted")
            raise
        if answer is None and problem is None and not plan.stale:
            return Outcome(event)
        dispatch = _Dispatch(self, plan, event)
        return await dispatch.resume(len(plan.asks) - length_hint(left), call, answer, problem)


class _Dispatch(Generic[E]):
    """The state of one dispatch: the fold, the deadlines that lanes share, and what is handed over at the end.

    A handler's position is its 1-based place in the plan, which is also the index at which the plan goes on.
    """

    def __init__(self, dispatcher: Dispatcher, plan: Plan, event: E) -> None:
        self._registry = dispatcher.registry
        self._background = dispatcher.background
        self._journal = dispatcher.journal
        self._plan = plan
        self._fired = event
        self._fold: Folding[E] = folding(event)
        self._deadlines: dict[str, float] = {}
        self._queued: list[tuple[Handler, int]] = []
        self._finished: list[Call] = []

    async def resume(self, position: int, call: Call | None, answer: Decision | Answer | None, problem: Exception | None) -> Outcome[E]:
        """Go on after the handler at `position`, which has been asked by a bare await."""
        handler = self._plan.handlers[position - 1]
        if call is not None:
            call.position = position
        stop = False
        if problem is not None:
            stop = self._fail(handler, call, _as_problem(problem))
        elif answer is not None and not handler.removed:
            stop = self._checked(handler, call, answer, position)
        return self._fold.outcome() if stop else await self.run(self._next(position))

    async def run(self, index: int) -> Outcome[E]:
        """Ask the handlers from `index` on."""
        try:
            while index < len(self._plan.handlers):
                handler = self._plan.handlers[index]
                index += 1
                if await self._reach(handler, index):
                    break
                index = self._next(index)
            for handler, position in self._queued:
                await self._enqueue(handler, position)
        finally:
            if self._finished:
                self._journal.tell(self._finished)
        return self._fold.outcome()

    def _next(self, index: int) -> int:
        """Where to go on. The list of a tier is taken when the dispatch reaches it, so a registry that changed meanwhile is
        asked again at each border between tiers."""
        if not self._plan.stale:
            return index
        handlers = self._plan.handlers
        tier = handlers[index - 1].tier
        if index < len(handlers) and handlers[index].tier == tier:
            return index
        plan = self._registry.plan(self._fired)
        if plan is None:
            return len(handlers)
        self._plan = plan
        return next((at for at, handler in enumerate(plan.handlers) if handler.tier > tier), len(plan.handlers))

    async def _reach(self, handler: Handler, position: int) -> bool:
        """Come to `handler`; true stops the dispatch."""
        if handler.removed or self._fold.skips(handler):
            return False
        try:
            if handler.when is not None and not handler.when(self._fold.value):
                return False
        except Exception as error:
            return self._fail(handler, self._journal.plan(handler, self._fold.value, position), _as_problem(error))
        if isinstance(handler.delivery, Queued):
            self._queued.append((handler, position))
            return False
        call = self._journal.plan(handler, self._fold.value, position)
        if isinstance(handler.delivery, Detached):
            self._background.detach(handler, self._alone(handler, call))
            return False
        return await self._ask(handler, call, position)

    async def _ask(self, handler: Handler, call: Call, position: int) -> bool:
        began = self._journal.clock()
        try:
            answer = await ask_within(handler, self._fold.value, self._limit(handler, began), self._background, self._journal.clock)
        except HookProblem as problem:
            return self._fail(handler, call, problem)
        except BaseException:
            self._journal.finish(call, Ended.FAILED, error="interrupted")
            self._finished.append(call)
            raise
        finally:
            if handler.mode is Mode.REPORT and handler.lane is not None and handler.lane.name in self._deadlines:
                self._deadlines[handler.lane.name] += self._journal.clock() - began
        if handler.removed:
            answer = Answer(None)
        return self._read(handler, call, answer, position)

    def _limit(self, handler: Handler, now: float) -> Limit | None:
        """The shorter of the handler's own time and what is left of its lane's; a lane's clock starts with its first handler."""
        own = None if (seconds := handler.armed) is None else Limit(seconds, shared=False, given=seconds)
        if handler.lane is None or handler.lane.seconds is None or handler.mode is Mode.REPORT:
            return own
        left = self._deadlines.setdefault(handler.lane.name, now + handler.lane.seconds) - now
        if own is not None and own.seconds <= left:
            return own
        return Limit(left, shared=True, given=handler.lane.seconds)

    def _checked(self, handler: Handler, call: Call | None, answer: Decision | Answer, position: int) -> bool:
        try:
            given = checked(self._fired, answer)
        except HookFailed as problem:
            return self._fail(handler, call, problem)
        return self._read(handler, call, given, position)

    def _read(self, handler: Handler, call: Call | None, answer: Answer, position: int) -> bool:
        if call is not None:
            ended = Ended.PASSED if answer.decision is None else Ended.ANSWERED
            self._journal.finish(call, ended, decision=answer.decision, raw=answer.raw)
            self._finished.append(call)
        if answer.decision is None or handler.mode is Mode.REPORT:
            return False
        return self._fold.take(handler, answer.decision, position)

    def _fail(self, handler: Handler, call: Call | None, problem: HookProblem) -> bool:
        if call is not None:
            self._journal.finish(call, ended_by(problem), error=problem.message, raw=problem.raw)
            self._finished.append(call)
        if handler.mode is Mode.REPORT:
            return False
        return self._fold.failed(handler, problem.message)

    async def _alone(self, handler: Handler, call: Call) -> None:
        """One call that nobody waits for; its own time limit holds."""
        limit = None if (seconds := handler.armed) is None else Limit(seconds, shared=False, given=seconds)
        try:
            answer = await ask_within(handler, call.event, limit, self._background, self._journal.clock)
            ended = Ended.PASSED if answer.decision is None else Ended.ANSWERED
            self._journal.finish(call, ended, decision=answer.decision, raw=answer.raw)
        except HookProblem as problem:
            self._journal.finish(call, ended_by(problem), error=problem.message, raw=problem.raw)
        except BaseException:
            self._journal.finish(call, Ended.FAILED, error="given up")
            raise
        finally:
            self._journal.tell([call])

    async def _enqueue(self, handler: Handler, position: int) -> None:
        call = self._journal.plan(handler, self._fold.value, position)

        async def job() -> None:
            await self._alone(handler, call)

        if not await self._background.enqueue(handler, job):
            self._journal.finish(call, Ended.NOT_STARTED, error="dropped: its queue is full or closed")
            self._finished.append(call)


def _as_problem(error: Exception) -> HookProblem:
    return error if isinstance(error, HookProblem) else HookFailed(f"{type(error).__name__}: {error}")
