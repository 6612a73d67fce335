"""All hooks of one event are asked at once, on the event as it came, and all of them run whatever one of them says.

The engine asks handlers one after the other and stops at a refusal. So the first of them that is reached starts all, and each waits
until everybody has answered before it gives its own share of what they come to.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from treblehook.contracts.claude.settings.answers import Said
from treblehook.contracts.claude.settings.asking import Asking, Heard
from treblehook.contracts.claude.settings.entries import CommandLine, SettingsHook
from treblehook.contracts.claude.settings.matching import CommandRule
from treblehook.contracts.claude.settings.verdicts import Decide
from treblehook.engine import Answer, HookProblem
from treblehook.lifecycle import Decision, Event
from treblehook.lifecycle.tool_events import ToolEvent

Aside = Callable[[Coroutine[Any, Any, None]], None]
"""Starts what nobody waits for."""


class _Occurrence:
    """One occurrence of the event: whom it concerns, and what they said, once they have been asked."""

    def __init__(self, event: Event, concerned: Sequence[int]) -> None:
        self.event = event
        self.concerned = concerned
        self.heard: dict[int, Heard | HookProblem] | None = None
        self.decisions: dict[int, Decision | None] = {}


class Round:
    """The hooks of one event in one session, in their order. `obeyed` says of each whether what it says counts; of the others `unheeded`
    tells what they would have come to. `begins` is told of each occurrence before anybody is asked, also where nobody is."""

    def __init__(
        self,
        hooks: Sequence[SettingsHook],
        obeyed: Sequence[bool],
        *,
        asking: Asking,
        begins: Callable[[Any], None],
        decide: Decide,
        unheeded: Decide,
        rule: CommandRule,
        aside: Aside,
    ) -> None:
        self._hooks = hooks
        self._obeyed = obeyed
        self._asking = asking
        self._begins = begins
        self._decide = decide
        self._unheeded = unheeded
        self._rule = rule
        self._aside = aside
        # A dispatch asks its handlers in one task, one after the other, and has them in their order.
        self._current: WeakKeyDictionary[asyncio.Task[Any], _Occurrence] = WeakKeyDictionary()

    def concerns(self, at: int, event: Event) -> bool:
        """Whether the hook at `at` is asked about `event`; the first hook is always reached first, and begins the occurrence."""
        task = _task()
        if at == 0:
            self._begins(event)
            self._current[task] = _Occurrence(event, self._concerned(event))
        occurrence = self._current.get(task)
        return occurrence is not None and at in occurrence.concerned

    async def ask(self, at: int, event: Event) -> Answer:
        """The share of the hook at `at`. Raises `HookProblem` where it failed."""
        occurrence = self._current[_task()]
        if occurrence.heard is None:
            await self._ask_all(occurrence)
        assert occurrence.heard is not None, "all have been asked"
        heard = occurrence.heard[at]
        if isinstance(heard, HookProblem):
            raise heard
        return Answer(occurrence.decisions[at], raw=heard.raw)

    def _concerned(self, event: Event) -> tuple[int, ...]:
        """Those whom the event is for; of several that are the same, the first (HONOURED.md 3)."""
        found: dict[tuple[str, str], int] = {}
        for at, hook in enumerate(self._hooks):
            if self._is_for(hook, event):
                found.setdefault(hook.key, at)
        return tuple(found.values())

    def _is_for(self, hook: SettingsHook, event: Event) -> bool:
        kind = hook.event
        if not kind.happens(event):
            return False
        if hook.matcher is not None and kind.words is not None and not hook.matcher.matches(kind.words(event)):
            return False
        if hook.condition is None:
            return True
        assert isinstance(event, ToolEvent), "only hooks of tools have a condition"
        return hook.condition.holds(event.call, event.workspace, self._rule)

    async def _ask_all(self, occurrence: _Occurrence) -> None:
        heard = await asyncio.gather(*(self._ask_one(self._hooks[at], occurrence.event) for at in occurrence.concerned))
        occurrence.heard = dict(zip(occurrence.concerned, heard, strict=True))
        for at in occurrence.concerned:
            if not self._obeyed[at]:
                [occurrence.decisions[at]] = self._unheeded(occurrence.event, [_said(occurrence.heard[at])])
        counting = [at for at in occurrence.concerned if self._obeyed[at]]
        together = self._decide(occurrence.event, [_said(occurrence.heard[at]) for at in counting])
        occurrence.decisions.update(zip(counting, together, strict=True))

    async def _ask_one(self, hook: SettingsHook, event: Event) -> Heard | HookProblem:
        if isinstance(hook.how, CommandLine) and hook.how.background:
            self._aside(self._asking.in_background(hook, event))
            return Heard(Said(), "")
        try:
            return await self._asking.ask(hook, event)
        except HookProblem as problem:
            return problem


def _said(heard: Heard | HookProblem) -> Said | None:
    return heard.said if isinstance(heard, Heard) else None


def _task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None, "events are dispatched in a task"
    return task
