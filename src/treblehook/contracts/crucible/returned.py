"""What a handler returned, classified (crucible.md 4.1 and 4.2). Only the first value counts; what an event makes of it comes later."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from treblehook.contracts.crucible.author import Author
from treblehook.contracts.crucible.plain import ReturnInvalid, is_true, number_text, what
from treblehook.runtimes.lua import LuaReturn, LuaTable

Position = Literal["user_prefix", "user_suffix"]

DIRECTIVES: Final = ("cancel", "handled", "inject")
POSITIONS: Final[tuple[Position, ...]] = ("user_prefix", "user_suffix")


class Transform(Struct, frozen=True):
    """A table without a directive; `echoed` where it is an event, whose directives do not count. `empty` is `{}` and nothing else:
    keys that are neither strings nor whole numbers are not in `fields`."""

    fields: Mapping[Any, Any]
    echoed: bool = False
    empty: bool = False


class Scalar(Struct, frozen=True):
    """A string, number or boolean."""

    value: str | bytes | bool | int | float


class Injected(Struct, frozen=True):
    """Text for the user's next prompt. `cancels` is the reason where the same table wants to cancel too."""

    content: str
    position: Position
    cancels: str | None = None


class Handled(Struct, frozen=True):
    """The handler did it itself; `result` is any value."""

    result: Any
    terminate: bool = False


class Cancelled(Struct, frozen=True):
    """The thing shall not happen."""

    reason: str


Returned = Transform | Scalar | Injected | Handled | Cancelled


def classify(returned: LuaReturn, author: Author) -> Returned | None:
    """The class of the first value that a handler returned, None for nil.

    Raises `ReturnInvalid` for a function and its like, for a malformed `inject`, and for a table that cannot be passed on.
    """
    if returned.table is not None:
        return _table(returned.table, author)
    if isinstance(returned.value, str | bytes | bool | int | float):
        return Scalar(returned.value)
    if returned.kind in ("function", "thread", "userdata"):
        raise ReturnInvalid(f"returned a {'coroutine' if returned.kind == 'thread' else returned.kind}")
    return None


def _table(table: LuaTable, author: Author) -> Returned:
    if table.keys.get("type") is not None or "type" in table.invalid:
        if ignored := [key for key in DIRECTIVES if _has(table, key)]:
            author.warn(f"returned its event with `{ignored[0]}` set, which has no effect there; return a table of its own")
        return _transform(table, echoed=True)
    if (injected := _injected(table, author)) is not None:
        return injected
    if _has(table, "handled"):
        _check_flag(table, "handled", author)
        if (invalid := table.invalid.get("result")) is not None:
            raise ReturnInvalid(f"returned {invalid.what} at `{invalid.path}`, which cannot be a result")
        return Handled(table.keys.get("result"), _has(table, "terminate"))
    if _has(table, "cancel"):
        _check_flag(table, "cancel", author)
        return Cancelled(_reason(table))
    return _transform(table, echoed=False)


def _has(table: LuaTable, key: str) -> bool:
    """Whether the value is true as Lua has it; what cannot be passed on is."""
    return is_true(table.keys.get(key)) or key in table.invalid


def _check_flag(table: LuaTable, name: str, author: Author) -> None:
    if table.keys.get(name) is not True:
        author.warn(f"returned `{name}` that is {what(table.keys.get(name))}, which counts as true; true is meant")


def _transform(table: LuaTable, *, echoed: bool) -> Transform:
    for invalid in table.invalid.values():
        raise ReturnInvalid(f"returned {invalid.what} at `{invalid.path}`, which cannot be passed on")
    return Transform(table.keys, echoed, empty=not table.keys and not table.skipped)


def _reason(table: LuaTable) -> str:
    value = table.keys.get("reason")
    if isinstance(value, str):
        return value
    return number_text(value) if isinstance(value, int | float) and not isinstance(value, bool) else "cancelled"


def _injected(table: LuaTable, author: Author) -> Injected | None:
    """The injection of a table whose `inject` is a table."""
    invalid = table.invalid.get("inject")
    if invalid is not None and invalid.path != "inject":
        raise ReturnInvalid(f"returned {invalid.what} at `{invalid.path}`, which cannot be passed on")
    inject = table.keys.get("inject")
    if not isinstance(inject, dict | list):
        return None
    told = inject if isinstance(inject, dict) else {}
    content = told.get("content")
    if isinstance(content, int | float) and not isinstance(content, bool):
        content = number_text(content)
    if not isinstance(content, str):
        raise ReturnInvalid(f"returned `inject` whose `content` is {what(content)}; a string is needed")
    return Injected(content, _position(told.get("position"), author), _reason(table) if _has(table, "cancel") else None)


def _position(value: object, author: Author) -> Position:
    found = next((position for position in POSITIONS if position == value), None)
    if found is not None:
        return found
    if isinstance(value, str):
        author.warn(f"returned `inject` with the position `{value}`, allowed are {' and '.join(POSITIONS)}; it counts as user_prefix")
    return "user_prefix"


def warn_of_scalar(returned: Returned, author: Author) -> None:
    """A bare value does nothing, which its author may not know."""
    if isinstance(returned, Scalar):
        author.warn(f"returned {what(returned.value)}, which has no effect")
