"""`Hooks`: plain Python functions bound to events (design, section 6)."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from treblehook.engine import Background, Dispatcher, Handler, Journal, OnFailure, Origin, Outcome, Registry, Tier
from treblehook.lifecycle import Decision, Event

E = TypeVar("E", bound=Event)
F = TypeVar("F", bound=Callable[..., Any])


class Hooks:
    """A program's own hooks; `fire` asks them alone, and a session that gets them asks them among the others."""

    def __init__(self) -> None:
        self._made: list[Callable[[], Handler]] = []
        self._registry = Registry()
        self._dispatcher = Dispatcher(self._registry, background=Background(), journal=Journal())

    def on(
        self,
        event: type[Event],
        *,
        pattern: str | None = None,
        priority: int = 100,
        timeout: float | None = None,
        on_error: str = "open",
        name: str | None = None,
    ) -> Callable[[F], F]:
        """Bind the decorated function to `event`; sync functions work too. Raises `BindError` and ValueError."""
        if on_error not in ("open", "closed"):
            raise ValueError(f"on_error is {on_error!r}; it must be 'open' or 'closed'")

        def bind(function: F) -> F:
            code = inspect.unwrap(function).__code__

            def make() -> Handler:
                return Handler(
                    event,
                    _asking(function),
                    name=name or function.__name__,
                    origin=Origin("python", event.__name__, code.co_filename, code.co_firstlineno),
                    tier=Tier.PYTHON,
                    priority=priority,
                    pattern=pattern,
                    timeout=timeout,
                    on_failure=OnFailure(on_error),
                )

            self._registry.add(make())
            self._made.append(make)
            return function

        return bind

    def bind(self, registry: Registry) -> None:
        """Bind every function to a session's registry as well."""
        for make in self._made:
            registry.add(make())

    async def fire(self, event: E) -> Outcome[E]:
        """Ask these hooks about `event`."""
        return await self._dispatcher.fire(event)


def _asking(function: Callable[..., Any]) -> Callable[[Any], Awaitable[Decision | None]]:
    if inspect.iscoroutinefunction(function):
        return function

    async def ask(event: Any) -> Decision | None:
        answer: Decision | None = function(event)
        return answer

    return ask
