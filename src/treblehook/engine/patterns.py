"""Patterns of handlers: the glob of crucible.md section 5, matched on characters against a whole identifier."""

import itertools
import re
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

_DEPTH: Final = 10
"""How deep braces may nest."""
_ALTERNATIVES: Final = 1000
"""How many texts the braces of one pattern may stand for."""


class Pattern:
    """A compiled glob.

    `literals` are the identifiers that it names outright, `prefixes` the fixed texts with one of which every other match
    starts. A malformed pattern (`malformed` is true) never matches; one whose braces stand for more than 1,000 texts, or nest
    more than ten deep, is malformed.
    """

    __slots__ = ("_match", "_named", "_negated", "_wild", "literals", "malformed", "prefixes", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        body = text.lstrip("!")
        self._negated = (len(text) - len(body)) % 2 == 1
        try:
            variants = _expand(body)
            self.malformed = False
        except _Malformed:
            variants = []
            self.malformed = True
        self._wild = [variant for variant in variants if any(map(_is_wild, variant))]
        self._named = frozenset(_fixed_start(variant) for variant in variants if not any(map(_is_wild, variant)))
        self.literals = frozenset() if self._negated else self._named
        self.prefixes = frozenset([""]) if self._negated else frozenset(map(_fixed_start, self._wild))
        self._match: Callable[[str], object] | None = None

    def matches(self, target: str | None) -> bool:
        """Whether `target` matches; an event without identifier (None) never does."""
        if target is None or self.malformed:
            return False
        return (target in self._named or self._matches_wild(target)) != self._negated

    def _matches_wild(self, target: str) -> bool:
        if not self._wild:
            return False
        if self._match is None:
            # Compiling costs more than all else here, and most patterns of a large installation are never tried.
            source = "|".join(_regex(_tokens(variant)) for variant in self._wild)
            self._match = re.compile(source, re.DOTALL).fullmatch
        return self._match(target) is not None


class _Malformed(Exception):
    """The pattern is no glob."""


def _is_wild(piece: str) -> bool:
    return piece[0] in "*?["


def _text(piece: str) -> str:
    return piece[1:] if piece[0] == "\\" else piece


def _fixed_start(variant: "_Variant") -> str:
    """What is matched as it stands, up to the first wildcard."""
    return "".join(map(_text, itertools.takewhile(lambda piece: not _is_wild(piece), variant)))


_Variant = tuple[str, ...]
"""What a pattern stands for with one choice made in each of its braces: stars, `?`, classes, escapes, slashes and texts."""

_PLAIN: Final = re.compile(r"[^*?\[\\{},/]+")


def _expand(body: str) -> list[_Variant]:
    variants, _ = _expand_from(body, 0, 0)
    return variants


def _expand_from(body: str, at: int, depth: int) -> tuple[list[_Variant], int]:
    """The variants from `at` to the end of the brace at `depth` (0: of the pattern), and where to go on."""
    done: list[_Variant] = []
    variants: list[_Variant] = [()]
    while at < len(body):
        character = body[at]
        if depth and character == "}":
            return done + variants, at + 1
        if depth and character == ",":
            done += variants
            variants = [()]
            at += 1
            continue
        if character == "{":
            if depth == _DEPTH:
                raise _Malformed
            choices, at = _expand_from(body, at + 1, depth + 1)
        else:
            end = _piece_end(body, at)
            choices, at = [(body[at:end],)], end
        if len(done) + len(variants) * len(choices) > _ALTERNATIVES:
            raise _Malformed
        variants = [variant + choice for variant in variants for choice in choices]
    if depth:
        raise _Malformed
    return variants, at


def _piece_end(body: str, at: int) -> int:
    """Where the run of stars, the class, the escape or the text at `at` ends."""
    match body[at]:
        case "*":
            return next((end for end in range(at, len(body)) if body[end] != "*"), len(body))
        case "[":
            return _class_end(body, at)
        case "\\" if at + 1 == len(body):
            raise _Malformed
        case "\\":
            return at + 2
        case _:
            return plain.end() if (plain := _PLAIN.match(body, at)) else at + 1


def _class_end(body: str, at: int) -> int:
    at += 2 if body[at + 1 : at + 2] in ("!", "^") else 1
    first = at
    while at < len(body) and (body[at] != "]" or at == first):
        at += 2 if body[at] == "\\" else 1
    if at >= len(body):
        raise _Malformed
    return at + 1


class _Token(NamedTuple):
    """One part of a pattern without braces.

    `one` matches so many characters, with slashes at the same places always; `any` one that may be a slash or another; `star`
    a run without slash, `deep` whole segments with their slashes, `rest` everything.
    """

    kind: Literal["one", "any", "star", "deep", "rest"]
    regex: str


def _tokens(variant: _Variant) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while at < len(variant):
        piece = variant[at]
        following = variant[at + 1] if at + 1 < len(variant) else None
        if piece == "**" and following == "/" and (at == 0 or variant[at - 1] == "/"):
            found.append(_Token("deep", "(?:.*/)?"))
            at += 1
        else:
            found.append(_token(piece, last=following is None))
        at += 1
    return found


def _token(piece: str, *, last: bool) -> _Token:
    """Two stars cross `/` only as a whole path segment, or at the very end of the pattern."""
    if piece.startswith("*"):
        return _Token("rest", ".*") if last and len(piece) > 1 else _Token("star", "[^/]*")
    if piece.startswith("["):
        return _class(piece)
    return _Token("one", "[^/]" if piece == "?" else re.escape(_text(piece)))


def _class(text: str) -> _Token:
    """The token for a class; a range that runs backwards holds nothing."""
    negated = text[1] in "!^"
    members = _members(text[2:-1] if negated else text[1:-1])
    ranges = [(low, high) for low, high in members if low <= high]
    if not ranges:
        return _Token("any", "." if negated else "(?!)")
    slash = any(low <= "/" <= high for low, high in ranges)
    only_slash = slash and not negated and all(low == high == "/" for low, high in ranges)
    source = "".join(f"{re.escape(low)}-{re.escape(high)}" for low, high in ranges)
    return _Token("one" if only_slash or slash == negated else "any", f"[{'^' if negated else ''}{source}]")


def _members(inside: str) -> list[tuple[str, str]]:
    """The ranges that a class lists, one character being a range too."""
    characters = [(match[0][-1], match[0] == "-") for match in re.finditer(r"\\?.", inside, re.DOTALL)]
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(characters):
        low = characters[at][0]
        is_range = at + 2 < len(characters) and characters[at + 1][1]
        found.append((low, characters[at + 2][0] if is_range else low))
        at += 3 if is_range else 1
    return found


def _regex(tokens: list[_Token]) -> str:
    """The expression for a pattern without braces.

    A star that is followed by another takes the earliest place at which what stands between them fits, and never another:
    that finds every match, and a long identifier cannot make it slow. It does not hold where a class may match a slash or
    something else, so such a pattern is left to try everything.
    """
    if any(token.kind == "any" for token in tokens):
        return "".join(token.regex for token in tokens)
    first, *blocks = _split(tokens, "deep")
    source = _segments(first)
    for block in blocks[:-1]:
        source += f"(?>(?:.*?/)??{_segments(block)})"
    return source + (f"(?:.*/)?{_segments(blocks[-1])}" if blocks else "")


def _segments(tokens: list[_Token]) -> str:
    first, *runs = ("".join(token.regex for token in run) for run in _split(tokens, "star"))
    return first + "".join(f"(?>[^/]*?{run})" for run in runs[:-1]) + (f"[^/]*{runs[-1]}" if runs else "")


def _split(tokens: list[_Token], kind: str) -> list[list[_Token]]:
    parts: list[list[_Token]] = [[]]
    for token in tokens:
        if token.kind == kind:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts
