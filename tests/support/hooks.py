"""Stub handlers, and a dispatcher in virtual time that tells what it asked."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from tests.support.virtual import now
from treblehook.engine import (
    Answer,
    Background,
    Call,
    Dispatcher,
    Ended,
    Handler,
    Journal,
    Origin,
    Outcome,
    Registry,
    Tier,
    Watcher,
)
from treblehook.lifecycle import Decision, Event, ToolCall

E = TypeVar("E", bound=Event)
Given = Decision | Answer | BaseException | Callable[[Any], Any] | None

CALL = ToolCall("call_1", "bash", {"command": "ls"})


def stub(event: type[Event], given: Given = None, *, name: str = "hook", tier: Tier = Tier.SESSION, **options: Any) -> Handler:
    """A handler that gives `given`: an answer, an exception to raise, or a function of the event (sync or async)."""

    async def ask(event: Event) -> Any:
        result = given(event) if callable(given) and not isinstance(given, type) else given
        if isinstance(result, Awaitable):
            result = await result
        if isinstance(result, BaseException):
            raise result
        return result

    return Handler(event, ask, name=name, origin=Origin("test", event.__name__), tier=tier, **options)


def after(seconds: float, given: Given = None) -> Callable[[Any], Awaitable[Any]]:
    """Gives `given` after `seconds`."""

    async def wait(event: Any) -> Any:
        await asyncio.sleep(seconds)
        return given

    return wait


def deaf(seconds: float, given: Given = None) -> Callable[[Any], Awaitable[Any]]:
    """Gives `given` after `seconds`, however often it is cancelled."""

    async def wait(event: Any) -> Any:
        until = now() + seconds
        while (left := until - now()) > 0:
            try:
                await asyncio.sleep(left)
            except asyncio.CancelledError:
                continue
        return given

    return wait


class Seen(Watcher):
    """What a journal told, in order."""

    def __init__(self) -> None:
        self.planned_calls: list[Call] = []
        self.finished_calls: list[Call] = []

    def planned(self, call: Call) -> None:
        self.planned_calls.append(call)

    def finished(self, calls: Sequence[Call]) -> None:
        self.finished_calls.extend(calls)


class Rig:
    """A registry with its dispatcher and journal; times are the running loop's. `watched` journals take the slower path."""

    def __init__(self, *handlers: Handler, registry: Registry | None = None, watched: bool = True, on: bool = True) -> None:
        self.registry = registry or Registry()
        self.background = Background()
        self.journal = Journal(clock=now, on=on)
        self.seen = Seen()
        if watched:
            self.journal.watchers.append(self.seen)
        self.dispatcher = Dispatcher(self.registry, background=self.background, journal=self.journal)
        self.add(*handlers)

    def add(self, *handlers: Handler) -> None:
        for handler in handlers:
            self.registry.add(handler)

    async def fire(self, event: E) -> Outcome[E]:
        return await self.dispatcher.fire(event)

    @property
    def asked(self) -> list[str]:
        """The names of the hooks that were asked, in order."""
        return [call.handler.name for call in self.journal.calls]

    @property
    def ends(self) -> list[tuple[str, Ended | None]]:
        """How each call ended, in the order in which they were planned."""
        return [(call.handler.name, call.ended) for call in self.journal.calls]

    def check_journal(self) -> None:
        """Every call was planned once and finished once."""
        assert all(call.ended is not None for call in self.journal.calls), self.ends
        if self.journal.watchers:
            planned = [id(call) for call in self.seen.planned_calls]
            assert len(set(planned)) == len(planned)
            assert sorted(planned) == sorted(id(call) for call in self.seen.finished_calls)


def given_by(outcome: Outcome[Any]) -> list[tuple[str, Decision]]:
    """Who contributed what."""
    return [(contribution.handler.name, contribution.decision) for contribution in outcome.contributions]
