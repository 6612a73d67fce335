"""JSON with the place of everything in it, and with comments where an agent allows them."""

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct

DEEPEST: Final = 100
"""How deep containers may be nested."""

_TOKEN: Final = re.compile(
    r"""(?P<space>[ \t\r\n]+)|(?P<comment>//[^\r\n]*|/\*.*?\*/)
    |(?P<string>"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")
    |(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)|(?P<word>true|false|null)|(?P<mark>[{}\[\]:,])""",
    re.DOTALL | re.VERBOSE,
)
_LONGEST_SHOWN: Final = 20
_MARK: Final = "\ufeff"
"""The byte order mark, with which some editors begin a file."""


class JsonInvalid(Exception):
    """A text that is no JSON; `line` and `column` count from 1, `found` and `allowed` are in words."""

    def __init__(self, line: int, column: int, found: str, allowed: str) -> None:
        super().__init__(f"line {line}, column {column}: found {found}, allowed: {allowed}")
        self.line = line
        self.column = column
        self.found = found
        self.allowed = allowed


class Span(Struct, frozen=True):
    """From `start` up to, not including, `end`, in characters."""

    start: int
    end: int


class Node(Struct, frozen=True):
    """A value in a text; its `kind` is object, list, string, number or word. `parts` are the entries of a list or the values of an object,
    whose `keys` are in the same order; `value` is that of anything else. `begins` is where each part begins in its container: an object's
    at its key."""

    span: Span
    kind: str
    value: Any = None
    keys: tuple[str, ...] = ()
    parts: tuple["Node", ...] = ()
    begins: tuple[int, ...] = ()

    def get(self, key: str) -> "Node | None":
        """The value of an object's key, the last one where there are several."""
        return next((part for name, part in zip(reversed(self.keys), reversed(self.parts), strict=True) if name == key), None)

    def plain(self) -> Any:
        """The value without places."""
        if self.kind == "object":
            return {key: part.plain() for key, part in zip(self.keys, self.parts, strict=True)}
        return [part.plain() for part in self.parts] if self.kind == "list" else self.value


class Document(Struct, frozen=True):
    """A text that has been read."""

    text: str
    root: Node
    comments: tuple[Span, ...]

    def comments_in(self, span: Span) -> list[Span]:
        """Those within a part of the text."""
        return [one for one in self.comments if span.start <= one.start and one.end <= span.end]

    def place(self, at: int) -> str:
        """A position as `line 3, column 5`."""
        line, column = line_column(self.text, at)
        return f"line {line}, column {column}"


class _Token(Struct, frozen=True):
    kind: str
    text: str
    span: Span


def read(text: str, *, comments: bool, marked: bool = False) -> Document:
    """The document in `text`. Raises `JsonInvalid`; so does a comment or, unless it may be `marked`, a byte order mark where none is
    allowed, and a comma before a closing bracket."""
    if text.startswith(_MARK) and not marked:
        raise JsonInvalid(1, 1, "a byte order mark", "UTF-8 without one")
    tokens, notes = _tokens(text, len(_MARK) if text.startswith(_MARK) else 0, comments=comments)
    reader = _Reader(text, tokens)
    root = reader.value(0)
    reader.end()
    return Document(text, root, tuple(notes))


def line_column(text: str, at: int) -> tuple[int, int]:
    """A position as line and column, both from 1."""
    return text.count("\n", 0, at) + 1, at - (text.rfind("\n", 0, at) + 1) + 1


def _number(text: str) -> int | float:
    """As the agents read it: nothing of it is precise beyond sixteen digits."""
    return int(text) if text.lstrip("-").isdigit() and len(text) < 16 else float(text)


def _tokens(text: str, at: int, *, comments: bool) -> tuple[list[_Token], list[Span]]:
    tokens: list[_Token] = []
    notes: list[Span] = []
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise _invalid(text, at, "JSON")
        span = Span(at, match.end())
        if match.lastgroup == "comment":
            if not comments:
                raise JsonInvalid(*line_column(text, at), "a comment", "JSON without comments")
            notes.append(span)
        elif match.lastgroup != "space":
            kind = match.group() if match.lastgroup == "mark" else match.lastgroup
            tokens.append(_Token(kind, match.group(), span))
        at = match.end()
    return tokens, notes


def _invalid(text: str, at: int, allowed: str) -> JsonInvalid:
    found = text[at : at + _LONGEST_SHOWN].split("\n")[0]
    return JsonInvalid(*line_column(text, at), repr(found) if found else "the end of the file", allowed)


class _Reader:
    def __init__(self, text: str, tokens: Sequence[_Token]) -> None:
        self._text = text
        self._tokens = tokens
        self._at = 0

    def value(self, depth: int) -> Node:
        token = self._next("a value")
        if token.kind == "{" or token.kind == "[":
            if depth == DEEPEST:
                raise JsonInvalid(*line_column(self._text, token.span.start), "one more level", f"{DEEPEST} levels of nesting")
            return self._object(token, depth + 1) if token.kind == "{" else self._list(token, depth + 1)
        if token.kind in ("string", "number", "word"):
            return Node(token.span, token.kind, _number(token.text) if token.kind == "number" else json.loads(token.text))
        raise _invalid(self._text, token.span.start, "a value")

    def end(self) -> None:
        if self._at < len(self._tokens):
            raise _invalid(self._text, self._tokens[self._at].span.start, "nothing after the value")

    def _list(self, opening: _Token, depth: int) -> Node:
        parts: list[Node] = []
        while True:
            if not parts and self._peek("]"):
                break
            parts.append(self.value(depth))
            if self._next("`,` or `]`", ",", "]").kind == "]":
                self._at -= 1
                break
        span = Span(opening.span.start, self._next("`]`", "]").span.end)
        return Node(span, "list", parts=tuple(parts), begins=tuple(part.span.start for part in parts))

    def _object(self, opening: _Token, depth: int) -> Node:
        keys: list[_Token] = []
        parts: list[Node] = []
        while True:
            if not parts and self._peek("}"):
                break
            keys.append(self._next("a key in double quotes", "string"))
            self._next("`:`", ":")
            parts.append(self.value(depth))
            if self._next("`,` or `}`", ",", "}").kind == "}":
                self._at -= 1
                break
        span = Span(opening.span.start, self._next("`}`", "}").span.end)
        names = tuple(json.loads(key.text) for key in keys)
        return Node(span, "object", keys=names, parts=tuple(parts), begins=tuple(key.span.start for key in keys))

    def _peek(self, kind: str) -> bool:
        return self._at < len(self._tokens) and self._tokens[self._at].kind == kind

    def _next(self, allowed: str, *kinds: str) -> _Token:
        if self._at == len(self._tokens):
            raise _invalid(self._text, len(self._text), allowed)
        token = self._tokens[self._at]
        if kinds and token.kind not in kinds:
            raise _invalid(self._text, token.span.start, allowed)
        self._at += 1
        return token
