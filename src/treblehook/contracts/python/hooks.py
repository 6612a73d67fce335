"""`Hooks`: plain Python functions bound to events (design, section 6)."""

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final, Literal, Never, Protocol, TypeVar, overload

from treblehook.contracts.python.functions import Function, asking, name_of, origin_of
from treblehook.contracts.python.signature import check
from treblehook.engine import Background, BindError, Dispatcher, Handler, Journal, Mode, OnFailure, Outcome, Registry, Tier
from treblehook.lifecycle import Event

E = TypeVar("E", bound=Event)
Ev = TypeVar("Ev")
De = TypeVar("De")
Ev_co = TypeVar("Ev_co", covariant=True)
De_co = TypeVar("De_co", covariant=True)

OnError = Literal["open", "closed"]
_POLICIES: Final = {"open": OnFailure.OPEN, "closed": OnFailure.CLOSED}


class Answered(Protocol[Ev_co, De_co]):
    """An event class that accepts decisions, as a type checker sees it."""

    def _binding(self) -> tuple[Ev_co, De_co]: ...


class Bind(Protocol[Ev, De]):
    """Binds a function that takes an `Ev` and answers a `De` or None, and gives it back as it is."""

    @overload
    def __call__(self, function: Callable[[Ev], Coroutine[Any, Any, De | None]], /) -> Callable[[Ev], Coroutine[Any, Any, De | None]]: ...

    @overload
    def __call__(self, function: Callable[[Ev], De | None], /) -> Callable[[Ev], De | None]: ...


class Hooks:
    """A program's own hooks: `fire` asks them alone; a session that is opened with them asks them among all others.

    An event is shared by all who are asked: a function answers a `Rewrite` to change it, and leaves what the event holds as
    it is. `journal` tells of the calls that `fire` made.
    """

    def __init__(self) -> None:
        self.journal = Journal()
        self._registry = Registry()
        self._dispatcher = Dispatcher(self._registry, background=Background(), journal=self.journal)
        self._makers: list[Callable[[Mapping[str, Mode]], Handler]] = []

    @overload
    def on(
        self,
        event: type[Answered[Ev, De]],
        *,
        pattern: str | None = None,
        priority: int = 100,
        timeout: float | None = None,
        on_error: OnError = "open",
        name: str | None = None,
    ) -> Bind[Ev, De]: ...

    @overload
    def on(
        self,
        event: type[E],
        *,
        pattern: str | None = None,
        priority: int = 100,
        timeout: float | None = None,
        on_error: OnError = "open",
        name: str | None = None,
    ) -> Bind[E, Never]: ...

    def on(
        self,
        event: type[Any],
        *,
        pattern: str | None = None,
        priority: int = 100,
        timeout: float | None = None,
        on_error: OnError = "open",
        name: str | None = None,
    ) -> Any:
        """Bind the function that is decorated, sync or async, to `event`.

        `pattern` is a glob on the event's target (a tool's name, a note's path), a lower `priority` is asked earlier, `timeout`
        is in seconds: a sync function that has one runs in a thread of its own, any other on the event loop. `on_error`
        "closed" makes of a failure the strictest decision of the event. `name` is by default the function's own.

        Raises `BindError` where the binding could never be kept: the annotations name another event or a decision that `event`
        does not accept. Raises ValueError for an unknown `on_error`.
        """
        if on_error not in _POLICIES:
            raise ValueError(f"on_error is {on_error!r}; allowed are {', '.join(map(repr, _POLICIES))}")

        def bind(function: Function) -> Function:
            called = name or name_of(function)
            if not (isinstance(event, type) and issubclass(event, Event)):
                raise BindError(called, repr(event), "it is no event")
            check(function, event, called)
            ask = asking(function, in_thread=timeout is not None)
            origin = origin_of(function, event)

            def make(modes: Mapping[str, Mode]) -> Handler:
                return Handler(
                    event,
                    ask,
                    name=called,
                    origin=origin,
                    tier=Tier.PYTHON,
                    priority=priority,
                    pattern=pattern,
                    timeout=timeout,
                    on_failure=_POLICIES[on_error],
                    mode=modes.get(called, Mode.ON),
                )

            self._registry.add(make({}))
            self._makers.append(make)
            return function

        return bind

    def bind(self, registry: Registry, *, modes: Mapping[str, Mode] | None = None) -> list[Handler]:
        """Bind every function that is here by now to a session's registry too; says which handlers they became there.

        `modes` is by the name of the hook. Raises `BindError` where one is not allowed.
        """
        return [registry.add(make(modes or {})) for make in self._makers]

    async def fire(self, event: E) -> Outcome[E]:
        """Ask these hooks about `event`, in order of priority, then of registration."""
        return await self._dispatcher.fire(event)
