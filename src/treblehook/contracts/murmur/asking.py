"""Asking a hook about an event: after the fact, before a call, and while a session is staged (murmur.md 4.3, 5.3)."""

from collections.abc import Awaitable, Callable
from typing import Any

from treblehook.contracts.murmur import faults
from treblehook.contracts.murmur.answers import decided, observed, refused
from treblehook.contracts.murmur.bindings import Binding, ExecutionMode
from treblehook.contracts.murmur.errors import StagingFailed
from treblehook.contracts.murmur.failures import CallFailed
from treblehook.contracts.murmur.faults import FaultSink
from treblehook.contracts.murmur.payloads import POINTS, LaunchFacts
from treblehook.contracts.murmur.running import RunningHook
from treblehook.engine import HookFailed
from treblehook.lifecycle import Decision, Event, Refuse
from treblehook.runtimes.wasm import Err

Ask = Callable[[Any], Awaitable[Decision | None]]


class Asking:
    """Asks one hook at one of its bindings. `traced` is false where there is no trace yet."""

    def __init__(self, hook: RunningHook, binding: Binding, facts: LaunchFacts, sink: FaultSink, *, traced: bool = True) -> None:
        self._hook = hook
        self._manifest = hook.manifest
        self._binding = binding
        self._record = POINTS[binding].record
        self._facts = facts
        self._sink = sink
        self._traced = traced

    async def observes(self, event: Event) -> Decision | None:
        """After the fact. Raises `HookFailed` for what is not honoured, which by then is logged and, where it must be, a fault."""
        try:
            answer = await self._call(event)
        except CallFailed as failed:
            if not failed.closed:
                self._errs(str(failed))
            raise HookFailed(str(failed)) from failed
        if isinstance(answer, Err):
            self._errs(answer.value)
            raise HookFailed(answer.value)
        read = observed(self._manifest, self._binding, answer.value.case, answer.value.value)
        if read.fault:
            raise HookFailed(self._fault(read.fault))
        return read.decision

    async def decides(self, event: Event) -> Refuse | None:
        """Before the call: whatever is not a clean `none` refuses."""
        try:
            answer = await self._call(event)
        except CallFailed as failed:
            if not failed.closed:
                self._sink.log(self._manifest.name, str(failed))
            return refused(self._manifest, self._binding, str(failed))
        if isinstance(answer, Err):
            self._sink.log(self._manifest.name, answer.value)
            return refused(self._manifest, self._binding, f"it answered with an error: {answer.value}")
        verdict = decided(self._manifest, self._binding, answer.value.case, answer.value.value)
        if verdict.fault:
            self._fault(verdict.fault)
        return verdict.refusal

    async def _call(self, event: Event) -> Any:
        try:
            record = self._record(event, self._facts)
        except Exception as error:
            raise CallFailed(f"hook '{self._manifest.name}' {self._binding.value} cannot be handed this event: {error}") from error
        return await self._hook.call(self._binding, record)

    def _errs(self, text: str) -> None:
        """The hook gave no answer. Of a hook that is waited for only its log tells (A-2)."""
        self._sink.log(self._manifest.name, text)
        if self._manifest.mode is ExecutionMode.ASYNC:
            self._sink.fault(self._manifest.name, self._binding.value, faults.ERROR)

    def _fault(self, arm: str) -> str:
        text = faults.not_honoured(self._manifest.name, self._binding, arm)
        self._sink.log(self._manifest.name, text)
        if self._traced:
            self._sink.fault(self._manifest.name, self._binding.value, arm)
        return text


def asking_at_stage(new: Callable[[], RunningHook], facts: LaunchFacts, sink: FaultSink, failed: Callable[[StagingFailed], None]) -> Ask:
    """At `on-stage` each call has an instance of its own, and nothing is traced. `failed` is told of one that does not start."""

    async def ask(event: Event) -> Decision | None:
        hook = new()
        try:
            await hook.open()
            return await Asking(hook, Binding.STAGE, facts, sink, traced=False).observes(event)
        except StagingFailed as error:
            sink.log(hook.manifest.name, str(error))
            failed(error)
            raise HookFailed(str(error)) from error
        finally:
            await hook.close()

    return ask
