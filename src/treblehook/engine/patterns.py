"""Patterns of handlers: the glob of crucible.md section 5, matched on characters against a whole identifier."""

import re

_WILD = frozenset("*?[{\\!")


class Pattern:
    """A compiled glob.

    `literal` is the identifier itself where the text has no wildcard, `prefix` the fixed text that every match starts
    with. A malformed pattern (`malformed` is true) never matches.
    """

    __slots__ = ("_match", "_negated", "literal", "malformed", "prefix", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        body = text.lstrip("!")
        self._negated = (len(text) - len(body)) % 2 == 1
        self.literal = None if _WILD & set(text) else text
        source = _translate(body)
        self.malformed = source is None
        self._match = re.compile(source, re.DOTALL).fullmatch if source is not None else None
        self.prefix = "" if len(body) != len(text) else _fixed_prefix(body)

    def matches(self, target: str | None) -> bool:
        """Whether `target` matches; an event without identifier (None) never does."""
        if target is None or self._match is None:
            return False
        return (self._match(target) is None) == self._negated


def _fixed_prefix(body: str) -> str:
    for position, character in enumerate(body):
        if character in _WILD:
            return body[:position]
    return body


def _translate(body: str) -> str | None:
    """`body` as a regular expression, or None where it is malformed."""
    out: list[str] = []
    depth = 0
    at = 0
    while at < len(body):
        character = body[at]
        if character == "*":
            piece, at = _stars(body, at)
            out.append(piece)
            continue
        if character == "[":
            found = _bracket(body, at)
            if found is None:
                return None
            piece, at = found
            out.append(piece)
            continue
        if character == "\\":
            if at + 1 == len(body):
                return None
            at += 1
            out.append(re.escape(body[at]))
        elif character == "?":
            out.append("[^/]")
        elif character == "{":
            depth += 1
            out.append("(?:")
        elif character == "}" and depth:
            depth -= 1
            out.append(")")
        elif character == "," and depth:
            out.append("|")
        else:
            out.append(re.escape(character))
        at += 1
    return None if depth else "".join(out)


def _stars(body: str, at: int) -> tuple[str, int]:
    """The expression for the run of stars at `at`, and where to go on.

    Two stars cross `/` only as a whole path segment, or at the very end of the pattern.
    """
    end = at
    while end < len(body) and body[end] == "*":
        end += 1
    if end - at < 2:
        return "[^/]*", end
    opens = at == 0 or body[at - 1] == "/"
    if end == len(body):
        return ".*", end
    if opens and end - at == 2 and body[end] == "/":
        return "(?:.*/)?", end + 1
    return "[^/]*", end


def _bracket(body: str, at: int) -> tuple[str, int] | None:
    """The character class that opens at `at`, and where to go on; None where it is not closed."""
    at += 1
    negated = at < len(body) and body[at] in "!^"
    at += negated
    members: list[str] = []
    first = True
    while at < len(body):
        character = body[at]
        if character == "]" and not first:
            return f"[{'^' if negated else ''}{''.join(members)}]", at + 1
        first = False
        if character == "\\":
            at += 1
            if at == len(body):
                return None
            members.append(re.escape(body[at]))
            at += 1
            continue
        if _is_range(body, at):
            low, high = character, body[at + 2]
            if low > high:
                return None
            members.append(f"{re.escape(low)}-{re.escape(high)}")
            at += 3
            continue
        members.append(re.escape(character))
        at += 1
    return None


def _is_range(body: str, at: int) -> bool:
    return at + 2 < len(body) and body[at + 1] == "-" and body[at + 2] not in "]\\"
