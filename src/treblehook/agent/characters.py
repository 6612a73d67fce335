"""Texts made of characters alone: what a surrogate stands in for cannot be written in UTF-8."""

from typing import Any


def characters(value: Any) -> Any:
    """The JSON value with every text made of characters: pairs of surrogates joined, lone ones replaced by U+FFFD."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {characters(key): characters(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [characters(item) for item in value]
    return value
