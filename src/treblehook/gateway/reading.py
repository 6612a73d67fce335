"""Reading one field of a payload, or telling what is wrong with it."""

from collections.abc import Mapping
from typing import Any

from treblehook.gateway.codec import PayloadInvalid

_LONGEST_SHOWN = 60


def text(payload: Mapping[str, Any], key: str, default: str | None = None) -> str:
    """A text; without a `default` it must be there, and null is as good as missing. Raises `PayloadInvalid`."""
    value = payload.get(key)
    if value is None:
        value = default
    if not isinstance(value, str):
        raise PayloadInvalid(key, shown(value), "a text")
    return value


def mapping(payload: Mapping[str, Any], key: str) -> dict[str, Any]:
    """An object, which must be there. Raises `PayloadInvalid`."""
    value = payload.get(key)
    if not isinstance(value, dict):
        raise PayloadInvalid(key, shown(value), "an object")
    return value


def flag(payload: Mapping[str, Any], key: str) -> bool:
    """True or false; false where it is missing or null. Raises `PayloadInvalid`."""
    value = payload.get(key)
    if value is None:
        return False
    if not isinstance(value, bool):
        raise PayloadInvalid(key, shown(value), "true or false")
    return value


def number(payload: Mapping[str, Any], key: str) -> float:
    """A number; 0 where it is missing or null. Raises `PayloadInvalid`."""
    value = payload.get(key)
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PayloadInvalid(key, shown(value), "a number")
    return float(value)


def shown(value: Any) -> str:
    """What was found, cut where it is long."""
    if value is None:
        return "nothing"
    shown = repr(value)
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}..."
