"""The rules for single fields of an answer, for both protocols; each raises HookFailed with what was found and what is allowed."""

from collections.abc import Mapping
from typing import Any, Final

from treblehook.contracts.vera.json_text import named
from treblehook.contracts.vera.phases import CONTEXT_BYTES
from treblehook.engine import HookFailed

DISPLAY_CHARACTERS: Final = 200
"""Counted in characters (code points), so that an emoji counts once."""
_LINE_BREAKS: Final = "\n\r\v\f\x85\u2028\u2029"


def text(answer: Mapping[str, Any], key: str) -> str:
    """The non-empty string under `key`."""
    value = answer.get(key)
    if isinstance(value, str) and value:
        return value
    raise HookFailed(f"{_found(answer, key)}; it must be a text that is not empty")


def context(answer: Mapping[str, Any], key: str) -> str:
    """The text for the model under `key`; "" is legal here."""
    value = answer.get(key)
    if isinstance(value, str):
        return within_context(value, key)
    raise HookFailed(f"{_found(answer, key)}; it must be a text")


def within_context(value: str, what: str) -> str:
    """`value`, which has at most `CONTEXT_BYTES` bytes of UTF-8; a longer one is refused, not cut."""
    size = len(value.encode())
    if size > CONTEXT_BYTES:
        raise HookFailed(f"its {what} has {size} bytes; {CONTEXT_BYTES} are allowed")
    return value


def display(answer: Mapping[str, Any]) -> str:
    """The row for the transcript: one line; "" where there is none."""
    value = answer.get("display", "")
    if not isinstance(value, str):
        raise HookFailed(f"{_found(answer, 'display')}; it must be a text")
    if len(value) > DISPLAY_CHARACTERS:
        raise HookFailed(f"its display has {len(value)} characters; {DISPLAY_CHARACTERS} are allowed")
    if any(character in value for character in _LINE_BREAKS):
        raise HookFailed("its display has a line break; one line is allowed")
    return value


def flag(answer: Mapping[str, Any], key: str) -> bool:
    """The boolean under `key`."""
    value = answer.get(key)
    if isinstance(value, bool):
        return value
    raise HookFailed(f"{_found(answer, key)}; it must be true or false")


def mapping(answer: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The object under `key`."""
    value = answer.get(key)
    if isinstance(value, dict):
        return value
    raise HookFailed(f"{_found(answer, key)}; it must be an object")


def names(answer: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """The array of non-empty strings under `key`."""
    value = answer.get(key)
    if isinstance(value, list) and all(isinstance(name, str) and name for name in value):
        return tuple(value)
    raise HookFailed(f"{_found(answer, key)}; it must be an array of names")


def text_blocks(answer: Mapping[str, Any], key: str) -> str:
    """The text blocks under `key`, joined by line feeds; "" for an empty array."""
    value = answer.get(key)
    if isinstance(value, list) and all(map(_is_text_block, value)):
        return "\n".join(block["text"] for block in value)
    raise HookFailed(f'{_found(answer, key)}; it must be an array of {{"type":"text","text":...}}')


def _is_text_block(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)


def _found(answer: Mapping[str, Any], key: str) -> str:
    return f"its {key} is {named(answer[key])}" if key in answer else f"gave no {key}"
