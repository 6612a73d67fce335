"""Hooks at every row of the lifecycle that note in which order they are asked, and answer where a test says so."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from treblehook.contracts.python import Hooks
from treblehook.lifecycle import ROWS, Decision, Event
from treblehook.lifecycle.tool_events import ToolEvent

E = TypeVar("E", bound=Event)
Given = Decision | BaseException | Callable[[Any], Any] | None


class Rows:
    """`events` is what was asked about, in order, and `hooks` go into a session."""

    def __init__(self) -> None:
        self.hooks = Hooks()
        self.events: list[Event] = []
        for _, event in ROWS:
            self.hooks.on(event, name="note", priority=0)(self._note)

    def _note(self, event: Any) -> None:
        self.events.append(event)

    def on(self, event: type[Event], given: Given, **options: Any) -> None:
        """Bind a hook that gives a decision, raises, or answers what a function of the event answers (sync or async)."""
        self.hooks.on(event, **{"name": "hook", **options})(_asked(given))

    def of(self, kind: type[E]) -> list[E]:
        """The events of one kind."""
        return [event for event in self.events if type(event) is kind]

    def only(self, kind: type[E]) -> E:
        """The one event of a kind."""
        (event,) = self.of(kind)
        return event

    def log(self) -> list[str]:
        """The rows in order; with the place of its call in the reply for those of a tool call."""
        return [_named(event) for event in self.events]


def _named(event: Event) -> str:
    name = type(event).__name__
    return f"{name} {event.call.input.get('command', event.call.name)}" if isinstance(event, ToolEvent) else name


def _asked(given: Given) -> Callable[[Any], Any]:
    async def ask(event: Any) -> Any:
        answer: Any = given(event) if callable(given) else given
        if inspect.isawaitable(answer):
            answer = await answer
        if isinstance(answer, BaseException):
            raise answer
        return answer

    return ask
