"""The hooks of one launch: what they are bound to, and when they begin and end."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from treblehook.contracts.murmur import faults
from treblehook.contracts.murmur.asking import Ask, Asking, asking_at_stage
from treblehook.contracts.murmur.bindings import Binding, ExecutionMode
from treblehook.contracts.murmur.errors import StagingFailed
from treblehook.contracts.murmur.faults import FaultSink
from treblehook.contracts.murmur.interfaces import REQUIRED, export
from treblehook.contracts.murmur.launch import Launch
from treblehook.contracts.murmur.payloads import POINTS
from treblehook.contracts.murmur.running import RunningHook
from treblehook.contracts.murmur.services import MurmurServices
from treblehook.contracts.murmur.staging import StagedHook
from treblehook.contracts.murmur.whole import WholeCalls
from treblehook.engine import INLINE, Call, GaveUp, Handler, Lane, Mode, Origin, Queued, QueueFull, Tier, Watcher
from treblehook.lifecycle import Event, SessionStart
from treblehook.runtimes.wasm import WasmRuntime

DEPTH: Final = 1024
"""Events that wait for a hook that nobody waits for; one more may be under way (murmur.md 2.7)."""
CONTRACT: Final = "murmur"
ALL_ON: Final[Mapping[str, Mode]] = {}


class MurmurHooks:
    """In the order of the operator's list. `handlers` may be bound before `open`, and `on-stage` is asked before it."""

    def __init__(
        self, staged: Sequence[StagedHook], runtime: WasmRuntime, launch: Launch, services: MurmurServices, sink: FaultSink
    ) -> None:
        self._staged = staged
        self._launch = launch
        self._sink = sink
        self._calls = WholeCalls()
        self._failed_at_stage: StagingFailed | None = None
        self._new: Callable[[StagedHook], RunningHook] = lambda hook: RunningHook(hook, runtime, launch, services, at_stage=True)
        self._running = [RunningHook(hook, runtime, launch, services) for hook in staged]
        self._overflows = _Overflows({hook.manifest.name for hook in staged}, sink)

    @property
    def watcher(self) -> Watcher:
        """For every journal of a dispatcher that has these handlers: it hears which events a full queue has lost."""
        return self._overflows

    async def open(self) -> None:
        """Start one instance of each hook, whatever it is bound to (murmur.md 4.6). Raises `StagingFailed`; nothing runs then."""
        try:
            if self._failed_at_stage is not None:
                raise self._failed_at_stage
            for hook in self._running:
                await hook.open()
        except BaseException:
            await self.close()
            raise

    def handlers(self, modes: Mapping[str, Mode] = ALL_ON) -> list[Handler]:
        """New handlers of all hooks, to be registered in this order; `modes` is by hook name. Raises `BindError` for a policy that is not
        on."""
        bound = []
        for hook, running in zip(self._staged, self._running, strict=True):
            mode = modes.get(hook.manifest.name, Mode.ON)
            bound += [self._handler(hook, binding, event, ask, mode) for binding, event, ask in self._asks(hook, running)]
        return bound

    def drained(self, gave_up: Sequence[GaveUp], seconds: float = 15.0) -> None:
        """Tell what a drain of `seconds` left undone, and what full queues have lost."""
        for name, lost in self._overflows.lost.items():
            self._sink.log(
                name, f"hook '{name}' lost {lost} events: its queue holds {DEPTH}, and its manifest entry says on_overflow: drop"
            )
        late = {entry.handler.name for entry in gave_up if entry.handler.origin.contract == CONTRACT}
        for hook in self._staged:
            name = hook.manifest.name
            if name in late:
                self._sink.log(
                    name, f"hook '{name}' was abandoned: it was not done within {seconds * 1000:.0f} ms at the end of the session"
                )
                self._sink.fault(name, faults.DRAIN, faults.TIMEOUT)

    async def close(self) -> None:
        """End the instances; twice is fine."""
        await asyncio.gather(*(hook.close() for hook in self._running))
        await self._calls.over()

    def _asks(self, hook: StagedHook, running: RunningHook) -> Iterator[tuple[Binding, type[Event], Ask]]:
        """Where a hook is asked, before the call and after it, and how."""
        for binding in filter(hook.manifest.hears, Binding):
            point = POINTS[binding]
            asking = Asking(running, binding, self._launch.facts, self._sink)
            if binding is Binding.STAGE:
                yield binding, point.observed, self._asking_at_stage(hook)
            elif binding not in REQUIRED and export(binding) not in hook.component.exports:
                # An optional function that is not there is not missed (murmur.md 3.3).
                continue
            elif hook.manifest.mode is ExecutionMode.ASYNC:
                yield binding, point.observed, asking.observes
            else:
                if hook.manifest.is_policy and point.asked is not None:
                    yield binding, point.asked, self._calls.asking(asking.decides)
                yield binding, point.observed, self._calls.asking(asking.observes)

    def _asking_at_stage(self, hook: StagedHook) -> Ask:
        if export(Binding.STAGE) in hook.component.exports:
            return asking_at_stage(lambda: self._new(hook), self._launch.facts, self._sink, self._fail_at_stage)

        async def misses(event: Event) -> None:
            self._sink.log(hook.manifest.name, f"hook {hook.manifest.name}@{hook.manifest.version} missing on-stage")

        return misses

    def _fail_at_stage(self, failed: StagingFailed) -> None:
        self._failed_at_stage = self._failed_at_stage or failed

    def _handler(self, hook: StagedHook, binding: Binding, event: type[Event], ask: Ask, mode: Mode) -> Handler:
        name = hook.manifest.name
        queued = hook.manifest.mode is ExecutionMode.ASYNC
        return Handler(
            event,
            ask,
            name=name,
            origin=Origin(CONTRACT, binding.value, str(hook.artifact.file)),
            tier=Tier.CAPSULE,
            timeout=self._launch.limits.deadline_seconds,
            keeps_time=True,
            lane=Lane(name),
            delivery=Queued(DEPTH, hook.overflow, f"{CONTRACT} {name}") if queued else INLINE,
            mode=mode,
            when=_begins if event is SessionStart else None,
        )


def _begins(event: SessionStart) -> bool:
    """Only the beginning of a session is one; what was compacted goes on."""
    return event.reason != "compacted"


class _Overflows(Watcher):
    """Counts the events that full queues have lost, by hook."""

    def __init__(self, hooks: set[str], sink: FaultSink) -> None:
        self._hooks = hooks
        self._sink = sink
        self.lost: Counter[str] = Counter()

    def finished(self, calls: Sequence[Call]) -> None:
        for call in calls:
            handler = call.handler
            if call.problem is QueueFull and handler.origin.contract == CONTRACT and handler.name in self._hooks:
                self.lost[handler.name] += 1
                self._sink.fault(handler.name, handler.origin.event, faults.OVERFLOW)
