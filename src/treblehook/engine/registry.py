"""Who is bound to what. Registration is O(1); finding the handlers of an event costs what matches."""

import itertools
import weakref
from collections.abc import Iterator
from typing import Final

from treblehook.engine.errors import BindError
from treblehook.engine.handler import Answer, Handler, Mode
from treblehook.lifecycle import Decision, Event, Fold

_REMEMBERED_TARGETS: Final = 4096


class Plan:
    """The handlers of one event and target in their order; `stale` once a registration or removal may have changed them.

    `asks` are their functions while it is not. `immediate` is true where every one of them can be asked by a bare await.
    """

    __slots__ = ("__weakref__", "asks", "handlers", "immediate", "stale")

    def __init__(self, handlers: list[Handler]) -> None:
        self.handlers = handlers
        self.asks = [handler.ask for handler in handlers]
        self.stale = False
        self.immediate = all(h.immediate for h in handlers) and len({h.tier for h in handlers}) <= 1

    def overtake(self) -> None:
        """The registry has changed: whoever is still going through `asks` learns it from the next one."""
        self.stale = True
        self.asks[:] = [_overtaken] * len(self.asks)


class _Bucket:
    """The handlers of one event type, found by an identifier that they name, by the fixed start of a glob, or always."""

    __slots__ = ("always", "bound", "by_literal", "by_prefix", "leaning", "only", "plans")

    def __init__(self) -> None:
        self.bound: dict[Handler, None] = {}
        self.always: dict[Handler, None] = {}
        self.by_literal: dict[str, dict[Handler, None]] = {}
        self.by_prefix: dict[int, dict[str, dict[Handler, None]]] = {}
        self.plans: dict[str | None, Plan] = {}
        self.only: Plan | None = None
        """the plan of every target, where no handler has a pattern"""
        self.leaning: weakref.WeakSet[Plan] = weakref.WeakSet()
        """plans of registries laid over this one"""

    @property
    def patterned(self) -> bool:
        """Whether some handler looks at the target."""
        return len(self.always) < len(self.bound)

    def changed(self, handler: Handler) -> None:
        """Drop the plans that `handler` may belong to; each was paid for when it was made."""
        if handler.pattern is None or handler.pattern.prefixes:
            self.forget()
        else:
            for literal in handler.pattern.literals:
                if (plan := self.plans.pop(literal, None)) is not None:
                    plan.overtake()
        if self.only is not None:
            self.only.overtake()
            self.only = None
        for plan in self.leaning:
            plan.overtake()
        if self.leaning:
            self.leaning.clear()

    def forget(self) -> None:
        """Drop all plans; a dispatch that still uses one asks again at the next tier."""
        for plan in self.plans.values():
            plan.overtake()
        self.plans.clear()

    def put(self, handler: Handler) -> None:
        self.bound[handler] = None
        if handler.pattern is None:
            self.always[handler] = None
            return
        for literal in handler.pattern.literals:
            self.by_literal.setdefault(literal, {})[handler] = None
        for prefix in handler.pattern.prefixes:
            self.by_prefix.setdefault(len(prefix), {}).setdefault(prefix, {})[handler] = None

    def take(self, handler: Handler) -> None:
        del self.bound[handler]
        if handler.pattern is None:
            del self.always[handler]
            return
        for literal in handler.pattern.literals:
            _take(self.by_literal, literal, handler)
        for prefix in handler.pattern.prefixes:
            _take(self.by_prefix[len(prefix)], prefix, handler)
            if not self.by_prefix[len(prefix)]:
                del self.by_prefix[len(prefix)]

    def matching(self, target: str | None) -> Iterator[Handler]:
        yield from self.always
        if target is None:
            return
        found = dict.fromkeys(self.by_literal.get(target, ()))
        for length, prefixes in self.by_prefix.items():
            for handler in prefixes.get(target[:length], ()):
                if handler.pattern is not None and handler.pattern.matches(target):
                    found[handler] = None
        yield from found


def _take(shelves: dict[str, dict[Handler, None]], name: str, handler: Handler) -> None:
    shelf = shelves[name]
    del shelf[handler]
    if not shelf:
        del shelves[name]


class Registry:
    """The handlers of a home, or of one session laid over its home's (`below`).

    `gates_only` leaves out every handler but gates, the ones below included (`--bare`, `--prompt-only`).
    """

    def __init__(self, below: "Registry | None" = None, *, gates_only: bool = False) -> None:
        self._below = below
        self._gates_only: bool = gates_only or (below is not None and below._gates_only)
        self._count: Iterator[int] = itertools.count() if below is None else below._count
        self._buckets: dict[type[Event], _Bucket] = {}

    def add(self, handler: Handler) -> Handler:
        """Bind `handler` after those already bound; raises `BindError` where it is bound already."""
        if handler.sequence >= 0:
            raise BindError(handler.name, handler.event.__name__, "this handler has been bound already")
        handler.sequence = next(self._count)
        bucket = self._bucket(handler.event)
        bucket.put(handler)
        bucket.changed(handler)
        return handler

    def remove(self, handler: Handler) -> None:
        """Take `handler` out; a dispatch that is under way skips it. Raises KeyError where it is not bound here."""
        bucket = self._buckets[handler.event]
        bucket.take(handler)
        handler.removed = True
        # Journals still know the handler; what the hook held is free now.
        handler.ask = _overtaken
        handler.when = None
        bucket.changed(handler)

    def _bucket(self, event: type[Event]) -> _Bucket:
        bucket = self._buckets.get(event)
        if bucket is None:
            bucket = self._buckets[event] = _Bucket()
        return bucket

    def plan(self, event: Event) -> Plan | None:
        """The handlers that `event` reaches now, or None where there are none bound to its kind."""
        bucket = self._buckets.get(event.__class__)
        if bucket is None:
            if self._below is None:
                return None
            bucket = self._bucket(event.__class__)
        plan = bucket.only
        if plan is not None and not plan.stale:
            return plan
        target = event.target if event.targeted else None
        plan = bucket.plans.get(target)
        return self._make(bucket, event, target) if plan is None or plan.stale else plan

    def _make(self, bucket: _Bucket, event: Event, target: str | None) -> Plan:
        handlers = sorted(self._asked(event.__class__, target), key=lambda handler: handler.key)
        plan = Plan(handlers)
        if not any(layer._bucket(event.__class__).patterned for layer in self._layers()):
            bucket.only = plan
        for layer in self._layers():
            if layer is not self and (under := layer._bucket(event.__class__)) is not bucket:
                under.leaning.add(plan)
        if len(bucket.plans) >= _REMEMBERED_TARGETS:
            bucket.forget()
        bucket.plans[target] = plan
        return plan

    def _asked(self, event: type[Event], target: str | None) -> Iterator[Handler]:
        if self._gates_only and event.fold is not Fold.GATE:
            return
        for layer in self._layers():
            bucket = layer._buckets.get(event)
            if bucket is not None:
                yield from (handler for handler in bucket.matching(target) if handler.mode is not Mode.OFF)

    def _layers(self) -> Iterator["Registry"]:
        layer: Registry | None = self
        while layer is not None:
            yield layer
            layer = layer._below

    def listens(self, event: type[Event]) -> bool:
        """Whether some handler here or below may be asked about an `event`, whatever its target."""
        if self._gates_only and event.fold is not Fold.GATE:
            return False
        bound = (layer._buckets[event].bound for layer in self._layers() if event in layer._buckets)
        return any(handler.mode is not Mode.OFF for handlers in bound for handler in handlers)

    def handlers(self) -> list[Handler]:
        """Every handler bound here or below, switched off ones included, in the order of tier, priority, registration."""
        found = [h for layer in self._layers() for bucket in layer._buckets.values() for h in bucket.bound]
        return sorted(found, key=lambda handler: handler.key)


class _Overtaken(Decision, frozen=True):
    """What asking for a handler by a plan that is stale answers: nobody has been asked."""


OVERTAKEN: Final = _Overtaken()


async def _overtaken(event: Event) -> Decision | Answer | None:
    return OVERTAKEN
