"""Functions of the host as Lua calls them: with values in flat form, and never with an exception."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from treblehook.runtimes.lua.errors import LuaRaise
from treblehook.runtimes.lua.machine import Form, Machine

RESULT, RAISED, FAILED, ENDED = 0, 1, 2, 3


def called(machine: Machine, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that answers at once."""

    def call(form: Form, *leaves: Any) -> Any:
        try:
            value = function(*machine.arguments(form, leaves))
            return None if value is None else answer(machine, value)
        except BaseException as error:
            return refusal(machine, error)

    return call


def beginning(machine: Machine, function: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
    """A function that the run waits for: notes what is to be awaited."""

    def begin(form: Form, *leaves: Any) -> Any:
        try:
            machine.begun = function, machine.arguments(form, leaves)
        except BaseException as error:
            return refusal(machine, error)
        return None

    return begin


def answer(machine: Machine, value: object) -> tuple[Any, ...]:
    """A result as Lua takes it; a tuple is several."""
    form, leaves = machine.inward(value if isinstance(value, tuple) else (value,))
    return RESULT, form, *leaves


def refusal(machine: Machine, error: BaseException) -> tuple[Any, ...]:
    """An exception as Lua takes it: an error with a text. What is no `Exception` ends the whole run and comes out at its other end."""
    if isinstance(error, LuaRaise):
        return RAISED, error.message.encode("utf-8", "replace")
    if isinstance(error, Exception):
        return FAILED, f"{type(error).__name__}: {error}".encode("utf-8", "replace")
    machine.ending = error
    return (ENDED,)
