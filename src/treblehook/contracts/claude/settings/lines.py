"""Where the objects of a JSON text begin, so that a hook can be told by its line."""

import re
from typing import Final

_TOKEN: Final = re.compile(r'"(?:\\.|[^"\\])*"|[{}\[\],:]|[^\s{}\[\],:"]+')


def object_lines(text: str) -> dict[str, int]:
    """The 1-based line of each object by its place, such as `hooks.Stop[0].hooks[1]`; `text` is valid JSON. Of equal keys the last counts,
    as it does for who reads the text."""
    found: dict[str, int] = {}
    # What is open: its place, and the index in a list, or the key in an object.
    frames: list[tuple[str, int | str]] = []
    line, seen = 1, 0
    previous = ""
    for token in _TOKEN.finditer(text):
        line += text.count("\n", seen, token.start())
        seen = token.start()
        word = token[0]
        if word in "{[":
            place = _inside(frames)
            if word == "{":
                found[place] = line
            frames.append((place, "" if word == "{" else 0))
        elif word in "}]":
            frames.pop()
        elif word == ":":
            frames[-1] = (frames[-1][0], previous[1:-1])
        elif word == "," and isinstance(frames[-1][1], int):
            frames[-1] = (frames[-1][0], frames[-1][1] + 1)
        previous = word
    return found


def _inside(frames: list[tuple[str, int | str]]) -> str:
    if not frames:
        return ""
    place, at = frames[-1]
    if isinstance(at, int):
        return f"{place}[{at}]"
    return f"{place}.{at}" if place else at
