"""JSON as JavaScript reads and writes it: what hooks print, what config.json holds, what hooks are sent (vera.md 3.0, 6)."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, Never

MAX_DEPTH: Final = 200
"""Levels of nesting. The contract names no bound; this one keeps whoever handles the value later off the recursion limit."""

TRIMMED: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What JavaScript's `trim` takes off either end: white space, line ends and the byte order mark."""

_LONE_SURROGATE: Final = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
_STRING_OR_CONSTANT: Final = re.compile(r'"(?:\\.|[^"\\])*"|(-?Infinity|NaN)', re.DOTALL)
_LONGEST_WHOLE: Final = 308
"""Digits of a number that surely fits a double; a longer one is read as JavaScript does, which may be as infinity."""


class NotJson(Exception):
    """A text is not one JSON value. `line` and `column` are 1-based, None where no single place is at fault."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message if line is None else f"{message} at line {line}, column {column}")
        self.message = message
        self.line = line
        self.column = column


class TooDeep(NotJson):
    """A JSON value is nested deeper than `MAX_DEPTH` levels."""

    def __init__(self) -> None:
        super().__init__(f"nested deeper than {MAX_DEPTH} levels")


def trimmed(raw: bytes) -> str:
    """`raw` as text without white space around it; bytes that are not UTF-8 become U+FFFD."""
    return raw.decode("utf-8", "replace").strip(TRIMMED)


def parsed(text: str, *, finite: bool = True) -> Any:
    """The one JSON value that `text` is. The last of several equal keys wins, and half a surrogate pair becomes U+FFFD, which
    has as many bytes. With `finite` a number too big for a double is refused, else it is infinity. Raises NotJson, TooDeep."""

    def number(digits: str) -> float:
        value = float(digits)
        if finite and math.isinf(value):
            raise NotJson(f"{shortened(digits)} is not a finite number")
        return value

    def whole(digits: str) -> float:
        return int(digits) if len(digits) <= _LONGEST_WHOLE else number(digits)

    def constant(name: str) -> Never:
        raise NotJson(f"{name} is not JSON", *_place_of_constant(text))

    try:
        value = json.loads(_whole_surrogates(text), parse_float=number, parse_int=whole, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise NotJson(error.msg, error.lineno, error.colno) from error
    except RecursionError as error:
        raise TooDeep from error
    if _deeper_than(MAX_DEPTH, value):
        raise TooDeep
    return value


def doubled_keys(text: str) -> Iterator[tuple[str, str]]:
    """Each key that an object in `text`, which `parsed` has read, has more than once: its place, such as `hooks[2].argv`, and itself."""
    # Objects become tuples of pairs, so that nothing is lost; arrays stay lists. Numbers do not matter.
    return _doubled("", json.loads(_whole_surrogates(text), object_pairs_hook=tuple, parse_float=str, parse_int=str))


def encoded(value: Any) -> bytes:
    """`value` as compact UTF-8 JSON. Half a surrogate pair is written as its escape, as `JSON.stringify` does.

    Raises NotJson for what JSON cannot hold.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except RecursionError as error:
        raise TooDeep from error
    except (TypeError, ValueError) as error:
        raise NotJson(str(error)) from error
    return text.encode("utf-8", "backslashreplace")


_WORD: Final = 8


def shown(value: Any) -> str:
    """A value as a message quotes it: JSON, cut short."""
    return shortened(json.dumps(value, ensure_ascii=False))


def named(value: Any) -> str:
    """A hook's own value as a message about its answer names it. What is longer than a word is not quoted: the message is kept
    in the session file, and another hook may have been meant to take that text out."""
    if isinstance(value, str):
        return shown(value) if len(value) <= _WORD else f"a text of {len(value)} characters"
    if isinstance(value, list):
        return f"an array of {len(value)}" if value else "[]"
    if isinstance(value, dict):
        return f"an object of {len(value)}" if value else "{}"
    return shown(value)


def shortened(text: str) -> str:
    """`text` with at most 60 characters."""
    return text if len(text) <= 60 else f"{text[:57]}..."


def _whole_surrogates(text: str) -> str:
    if "\\ud" not in text and "\\uD" not in text:
        return text
    return _LONE_SURROGATE.sub(lambda escape: "\\ufffd" if escape[1] else escape[0], text)


def _place_of_constant(text: str) -> tuple[int, int]:
    """Line and column of the first NaN or Infinity; what stands before it has been read and is JSON."""
    for found in _STRING_OR_CONSTANT.finditer(text):
        if found[1]:
            at = found.start()
            return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    raise AssertionError("the reader met a constant that is not there")


def _deeper_than(levels: int, value: Any) -> bool:
    layer = [value]
    for _ in range(levels + 1):
        layer = [child for node in layer for child in _children(node)]
        if not layer:
            return False
    return True


def _children(node: Any) -> Any:
    if isinstance(node, dict):
        return node.values()
    return node if isinstance(node, list) else ()


def _doubled(place: str, node: Any) -> Iterator[tuple[str, str]]:
    if isinstance(node, list):
        for index, child in enumerate(node):
            yield from _doubled(f"{place}[{index}]", child)
    elif isinstance(node, tuple):
        inside = f"{place}." if place else ""
        yield from ((f"{inside}{key}", key) for key, times in Counter(key for key, _ in node).items() if times > 1)
        for key, child in node:
            yield from _doubled(f"{inside}{key}", child)
