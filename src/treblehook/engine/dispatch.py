"""One event, from the registry to its outcome."""

from collections.abc import Sequence
from operator import length_hint
from typing import Generic, TypeVar

from treblehook.engine.alone import Alone
from treblehook.engine.ask import Limit, ask_within, checked, crashed, failure, own_limit
from treblehook.engine.background import Background
from treblehook.engine.errors import HookFailed, HookProblem
from treblehook.engine.folds import Folding, folding
from treblehook.engine.handler import PASS, Answer, Detached, Handler, Mode, Queued
from treblehook.engine.journal import Call, Ended, Journal
from treblehook.engine.outcome import Outcome
from treblehook.engine.registry import OVERTAKEN, Plan, Registry
from treblehook.lifecycle import Decision, Event, Fold

E = TypeVar("E", bound=Event)


class Dispatcher:
    """Fires events at the handlers of a registry and writes every call into the journal."""

    def __init__(self, registry: Registry, *, background: Background, journal: Journal) -> None:
        self.registry = registry
        self.background = background
        self.journal = journal

    def reaches(self, event: Event) -> bool:
        """Whether some handler would be asked about `event`, as far as its kind and its target tell."""
        plan = self.registry.plan(event)
        return plan is not None and bool(plan.handlers)

    async def fire(self, event: E) -> Outcome[E]:
        """Ask every handler of `event` in order and fold what they answer.

        Handlers that need nothing but an await are asked right here; the first that answers or fails, and any that needs
        more, is `_Dispatch`'s.
        """
        plan = self.registry.plan(event)
        if plan is None or not plan.handlers:
            return Outcome(event)
        if not plan.immediate:
            return await _Dispatch(self, plan, event).run(0)
        journal = self.journal
        if journal.watchers:
            return await self._fire_watched(plan, event)
        position = 0
        call: Call | None = None
        answer: Decision | Answer | None = None
        problem: HookProblem | None = None
        asks = iter(plan.asks)
        try:
            if journal.on:
                clock = journal.clock
                record = journal.calls.append
                began = clock()
                for ask in asks:
                    record(call := Call(plan.handlers[position], event, began, position := position + 1))
                    answer = await ask(event)
                    if answer is not None or plan.stale:
                        break
                    call.stopped = began = clock()
            else:
                for ask in asks:
                    answer = await ask(event)
                    if answer is not None:
                        break
        except BaseException as error:
            problem = failure(plan.handlers[len(plan.asks) - length_hint(asks) - 1], error)
            if not crashed(error):
                if call is not None:
                    journal.failed(call, problem)
                raise
        if answer is None and problem is None and not plan.stale:
            return Outcome(event)
        return await _Dispatch(self, plan, event).resume(len(plan.asks) - length_hint(asks), call, answer, problem)

    async def _fire_watched(self, plan: Plan, event: E) -> Outcome[E]:
        """The same where the journal has watchers. A watcher's own exception is the host's, not the handler's failure."""
        journal = self.journal
        passed: list[Call] = []
        for position, handler in enumerate(plan.handlers, 1):
            call = journal.plan(handler, event, position)
            answer: Decision | Answer | None = None
            problem: HookProblem | None = None
            try:
                answer = await handler.ask(event)
            except BaseException as error:
                problem = failure(handler, error)
                if not crashed(error):
                    journal.failed(call, problem)
                    journal.tell([*passed, call])
                    raise
            if answer is not None or problem is not None or plan.stale:
                return await _Dispatch(self, plan, event, passed).resume(position, call, answer, problem)
            call.end, call.stopped = Ended.PASSED, journal.clock()
            passed.append(call)
        journal.tell(passed)
        return Outcome(event)


class _Dispatch(Generic[E]):
    """The state of one dispatch: the fold, the time that lanes have left, and what is handed over at the end; `passed` are calls
    that are over already.

    A handler's position is its 1-based place in the plan, which is also the index at which the plan goes on.
    """

    def __init__(self, dispatcher: Dispatcher, plan: Plan, event: E, passed: Sequence[Call] = ()) -> None:
        self._registry = dispatcher.registry
        self._background = dispatcher.background
        self._journal = dispatcher.journal
        self._plan = plan
        self._fired = event
        self._fold: Folding[E] = folding(event)
        self._left: dict[str, float] = {}
        self._queued: list[tuple[Handler, int]] = []
        self._finished: list[Call] = list(passed)

    async def resume(self, position: int, call: Call | None, answer: Decision | Answer | None, problem: HookProblem | None) -> Outcome[E]:
        """Go on after the handler at `position`, which has been asked by a bare await (or was not, where the plan was overtaken)."""
        if answer is OVERTAKEN:
            return await self.run(position - 1)
        handler = self._plan.handlers[position - 1]
        stop = self._check(handler, call, answer, position) if problem is None else self._fail(handler, call, problem)
        return await self.run(len(self._plan.handlers) if stop else self._next(position))

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
                call = self._journal.plan(handler, self._fold.value, position)
                await self._background.enqueue(Alone(call, self._journal, self._background))
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
        if handler.immediate:
            return await self._await(handler, self._journal.plan(handler, self._fold.value, position), position)
        try:
            wanted = handler.when is None or handler.when(self._fold.value)
        except Exception as error:
            return self._fail(handler, self._journal.plan(handler, self._fold.value, position), failure(handler, error))
        if not wanted or handler.removed:
            return False
        if isinstance(handler.delivery, Queued):
            self._queued.append((handler, position))
            return False
        call = self._journal.plan(handler, self._fold.value, position)
        if isinstance(handler.delivery, Detached):
            self._background.detach(Alone(call, self._journal, self._background))
            return False
        return await self._ask(handler, call, position)

    async def _await(self, handler: Handler, call: Call, position: int) -> bool:
        """Ask a handler that takes nothing but an await."""
        try:
            answer = await handler.ask(self._fold.value)
        except BaseException as error:
            return self._failed(handler, call, error)
        return self._check(handler, call, answer, position)

    async def _ask(self, handler: Handler, call: Call, position: int) -> bool:
        clock = self._journal.clock
        began = clock()
        try:
            answer = await ask_within(handler, self._fold.value, self._limit(handler), self._background, clock)
        except BaseException as error:
            return self._failed(handler, call, error)
        finally:
            self._spend(handler, clock() - began)
        return self._read(handler, call, answer, position)

    def _failed(self, handler: Handler, call: Call, error: BaseException) -> bool:
        """The call ended with `error`; raises it again where it is not the hook's own failure."""
        problem = failure(handler, error)
        if crashed(error):
            return self._fail(handler, call, problem)
        self._journal.failed(call, problem)
        self._finished.append(call)
        raise error

    def _limit(self, handler: Handler) -> Limit | None:
        """The shorter of the handler's own time and what is left of its lane's."""
        own = own_limit(handler)
        lane = handler.lane
        if lane is None or lane.seconds is None:
            return own
        left = lane.seconds if handler.mode is Mode.REPORT else self._left.get(lane.name, lane.seconds)
        return own if own is not None and own.seconds <= left else Limit(left, shared=True, given=lane.seconds)

    def _spend(self, handler: Handler, seconds: float) -> None:
        """Take `seconds` from what the lane has left; a hook in report mode costs it nothing."""
        lane = handler.lane
        if lane is not None and lane.seconds is not None and handler.mode is not Mode.REPORT:
            self._left[lane.name] = self._left.get(lane.name, lane.seconds) - seconds

    def _check(self, handler: Handler, call: Call | None, answer: Decision | Answer | None, position: int) -> bool:
        try:
            given = PASS if answer is None else checked(self._fired, answer)
        except HookFailed as problem:
            return self._fail(handler, call, problem)
        return self._read(handler, call, given, position)

    def _read(self, handler: Handler, call: Call | None, answer: Answer, position: int) -> bool:
        if call is not None:
            self._journal.answered(call, answer)
            self._finished.append(call)
            if handler.removed and not self._obeys(handler):
                call.error = "was removed while it was asked: not obeyed"
        if answer.decision is None or not self._obeys(handler):
            return False
        return self._fold.take(handler, answer.decision, position)

    def _fail(self, handler: Handler, call: Call | None, problem: HookProblem) -> bool:
        if call is not None:
            self._journal.failed(call, problem)
            self._finished.append(call)
        return self._obeys(handler) and self._fold.failed(handler, problem.message)

    def _obeys(self, handler: Handler) -> bool:
        """A hook in report mode is never obeyed, nor one that was removed while it was asked; a gate always is."""
        return self._fired.fold is Fold.GATE or not (handler.removed or handler.mode is Mode.REPORT)
