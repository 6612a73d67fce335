"""What a function's annotations say about the events and decisions that it can have to do with."""

import inspect
import types
from collections.abc import Awaitable, Coroutine, Iterator
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from treblehook.contracts.python.functions import Function, written
from treblehook.engine import Answer, BindError
from treblehook.lifecycle import Decision, Event

_UNIONS: Final = (Union, types.UnionType)
_AWAITABLES: Final = (Awaitable, Coroutine)


def check(function: Function, event: type[Event], name: str) -> None:
    """Raise `BindError` where `function` can never give a usable answer to `event`; what is not annotated is not judged."""
    code = written(function)
    if inspect.isgeneratorfunction(code) or inspect.isasyncgenfunction(code):
        raise BindError(name, event.__name__, "it yields, and an answer is returned")
    hints = _hints(code)
    first = _first_parameter(function, event, name)
    if first in hints and not any(_takes(kind, event) for kind in _alternatives(hints[first])):
        raise BindError(name, event.__name__, f"it takes {_called(hints[first])}")
    for kind in _alternatives(hints.get("return")):
        _check_answer(kind, event, name)


def _hints(code: Any) -> dict[str, Any]:
    try:
        return get_type_hints(code)
    except Exception:
        # An annotation may be any expression, and one that does not hold here says nothing about the function.
        return {}


def _first_parameter(function: Function, event: type[Event], name: str) -> str | None:
    try:
        signature = inspect.signature(function)
    except ValueError:
        return None
    try:
        bound = signature.bind(None)
    except TypeError as error:
        raise BindError(name, event.__name__, f"it cannot be called with the event alone: {error}") from error
    return next(iter(bound.arguments), None)


def _alternatives(hint: Any) -> Iterator[Any]:
    """The members of a union; what is awaited counts as what it gives."""
    if get_origin(hint) in _UNIONS:
        for member in get_args(hint):
            yield from _alternatives(member)
    elif get_origin(hint) in _AWAITABLES:
        yield from _alternatives(get_args(hint)[-1])
    else:
        yield hint


def _takes(kind: Any, event: type[Event]) -> bool:
    return kind is Any or not isinstance(kind, type) or issubclass(event, kind)


def _check_answer(kind: Any, event: type[Event], name: str) -> None:
    if kind in (Any, object) or not isinstance(kind, type) or issubclass(kind, types.NoneType | Answer):
        return
    accepted = ", ".join(each.__name__ for each in event.accepts) or "nothing but a pass"
    if not issubclass(kind, Decision):
        raise BindError(name, event.__name__, f"it answers {_called(kind)}, which is no decision; accepted are {accepted}")
    if not any(issubclass(kind, each) or issubclass(each, kind) for each in event.accepts):
        raise BindError(name, event.__name__, f"it answers {_called(kind)}; accepted are {accepted}")


def _called(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint)
