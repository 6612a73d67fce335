"""JSON as the only form in which a run keeps values."""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any

import msgspec

from treblehook.contracts.vera.json_text import NotJson, encoded, parsed
from treblehook.workflow.errors import WorkflowError


def json_value(value: Any, what: str) -> Any:
    """A copy of `value` as it will be read back: tuples are lists. Raises `WorkflowError` of kind `serialize`; `what` names it."""
    try:
        copy = parsed(encoded(value).decode())
    except NotJson as error:
        raise WorkflowError("serialize", f"{what} is not JSON: {error}") from error
    for key in _odd_keys([value]):
        raise WorkflowError("serialize", f"{what} is not JSON: it has the key {key!r}, and only texts are keys")
    return copy


def digest(value: Any) -> str:
    """Twelve hexadecimal digits that tell JSON values apart, whatever the order of their keys."""
    return sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()[:12]


def _odd_keys(values: Iterable[Any]) -> Iterator[object]:
    for value in values:
        if isinstance(value, dict):
            yield from (key for key in value if not isinstance(key, str))
            yield from _odd_keys(value.values())
        elif isinstance(value, list | tuple):
            yield from _odd_keys(value)
