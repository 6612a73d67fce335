"""JSON for Lua: what has no counterpart on the other side is an error that says where, never a silent change.

- A null member of an object is left out, so that `if payload.error then` means what it seems to (crucible.md 10.2, as D11 for events);
  a null in a list, or alone, is `cru.json.null`, since nil would tear a hole.
- Of two members with the same name the last one counts.
- Integers stay integers; one that Lua's 64 bits do not hold is refused, because as a float it would be another number.
"""

import math
from typing import Any, Final

import msgspec

DEPTH: Final = 98
"""How deep lists and objects may nest; a little less than values may on their way to Lua and back."""
_SMALLEST: Final = -(2**63)
_LARGEST: Final = 2**63 - 1


class JsonInvalid(Exception):
    """A text is not JSON, or a value has no JSON; the message says what and where (`a.b[3]`)."""


def decoded(text: bytes) -> object:
    """The value of a JSON text. Raises `JsonInvalid`."""
    try:
        value = msgspec.json.decode(text)
    except RecursionError:
        raise JsonInvalid(_too_deep("")) from None
    except msgspec.ValidationError as error:
        raise JsonInvalid(str(error).replace(" - at `$", " at `")) from None
    except msgspec.DecodeError as error:
        raise JsonInvalid(str(error)) from None
    return _for_lua(value, "", 0)


def encoded(value: object) -> bytes:
    """Compact JSON, the members of objects sorted by name. Raises `JsonInvalid`."""
    return msgspec.json.encode(for_json(value), order="sorted")


def for_json(value: object) -> Any:
    """`value` as JSON can say it: every key is text, and nothing is in it that JSON has no form for. Raises `JsonInvalid`."""
    return _for_json(value, "", 0)


def _for_lua(value: object, place: str, depth: int) -> object:
    if depth > DEPTH:
        raise JsonInvalid(_too_deep(place))
    match value:
        case bool():
            return value
        case int():
            if not _SMALLEST <= value <= _LARGEST:
                raise JsonInvalid(f"the integer {_short(value)}{_at(place)} does not fit into Lua's 64 bits")
        case list():
            return [_for_lua(item, f"{place}[{index}]", depth + 1) for index, item in enumerate(value, 1)]
        case dict():
            return {name: _for_lua(item, _member(place, name), depth + 1) for name, item in value.items() if item is not None}
    return value


def _for_json(value: object, place: str, depth: int) -> Any:
    if depth > DEPTH:
        raise JsonInvalid(_too_deep(place))
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            if not math.isfinite(value):
                raise JsonInvalid(f"{'a NaN' if math.isnan(value) else 'an infinite number'}{_at(place)} has no JSON")
            return value
        case bytes():
            raise JsonInvalid(f"the string{_at(place)} is not UTF-8")
        case list():
            return [_for_json(item, f"{place}[{index}]", depth + 1) for index, item in enumerate(value, 1)]
        case dict():
            return {_name(name, place): _for_json(item, _member(place, name), depth + 1) for name, item in value.items()}
    raise JsonInvalid(f"a {type(value).__name__}{_at(place)} has no JSON")


def _name(name: object, place: str) -> str:
    # An integer key is as good as its text: a list with holes is an object.
    if isinstance(name, int) and not isinstance(name, bool):
        return str(name)
    if not isinstance(name, str):
        raise JsonInvalid(f"the table{_at(place)} has a key that is no text in UTF-8 and no integer")
    return name


def _member(place: str, name: object) -> str:
    return f"{place}.{name}" if place else str(name)


def _at(place: str) -> str:
    return f" at `{place}`" if place else ""


def _too_deep(place: str) -> str:
    return f"it nests deeper than {DEPTH}{_at(place[:60] + '…' if len(place) > 60 else place)}"


def _short(number: int) -> str:
    return str(number) if abs(number) < 10**40 else "of more than 40 digits"
