"""The file of a scripted model: a list of turns, or an object with `turns`, `routes`, `after` and `aux`.

The same file can be played by a test server that speaks the providers' protocols; what only such a server can use (a tool's
`input`, a free-form text) is accepted here and not used.

    {"turns":  [TURN, ...],                     played to requests that no route takes
     "routes": [{"match": "text", "where": "first", "turns": [TURN, ...]}, ...],
     "after":  TURN,                            when the turns have run out; without it the text "Done."
     "aux":    TURN}                            for requests that offer no tools; without it the text "ok", null plays the turns

A TURN is a reply; every key may be left out:

    {"text": "...", "tools": [{"name": "bash|shell", "args": {...}}], "repeat": 3, "usage": {"input": 10, "output": 5},
     "delay": 0.5, "status": 529, "error": "overloaded", "capture": "port (\\d+)", "stop": "max_tokens"}
"""

import json
import re
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType, ValidationError, convert

Where = Literal["first", "last", "any", "system"]
WireStop = Literal["end_turn", "tool_use", "max_tokens", "refusal"]
Count = Annotated[int, Meta(ge=0)]


class ScriptInvalid(Exception):
    """A script cannot be played; the message names the file, the place in it, what was found and what is allowed."""


class ScriptedCall(Struct, frozen=True, forbid_unknown_fields=True):
    """A tool call. `name` may list alternatives, `a|b|c`: the first that is offered is called, with the arguments it declares."""

    name: Annotated[str, Meta(min_length=1)]
    args: dict[str, Any] = {}
    input: str | None = None


class ScriptedUsage(Struct, frozen=True, forbid_unknown_fields=True):
    """Tokens of a request."""

    input: Count = 10
    output: Count = 5


class ScriptedTurn(Struct, frozen=True, forbid_unknown_fields=True):
    """One reply, played `repeat` times. `delay` is in seconds; a `status` of 400 and more fails the request with `error`.

    `capture` is a regular expression: its groups, matched in the newest tool result or prompt, replace `{1}`, `{2}` in the
    arguments; an argument that is nothing but a placeholder becomes a number where the group is one.
    """

    text: str | None = None
    tools: tuple[ScriptedCall, ...] | None = None
    repeat: Count = 1
    usage: ScriptedUsage | None = None
    delay: Annotated[float, Meta(ge=0)] | None = None
    status: int = 200
    error: str | None = None
    capture: str | None = None
    stop: WireStop | None = None


class ScriptedRoute(Struct, frozen=True, forbid_unknown_fields=True):
    """Turns of their own for conversations with `match` in the text that `where` names."""

    match: str
    turns: tuple[ScriptedTurn, ...]
    where: Where = "first"


class Script(Struct, frozen=True, forbid_unknown_fields=True):
    """A whole file."""

    turns: tuple[ScriptedTurn, ...] = ()
    routes: tuple[ScriptedRoute, ...] = ()
    after: ScriptedTurn | None = None
    aux: ScriptedTurn | UnsetType | None = UNSET


# By the last name in a place, what may stand there.
_OBJECTS: dict[str, type[Struct]] = {
    "": Script,
    "turns": ScriptedTurn,
    "after": ScriptedTurn,
    "aux": ScriptedTurn,
    "routes": ScriptedRoute,
    "tools": ScriptedCall,
    "usage": ScriptedUsage,
}
_WORDS: dict[str, tuple[str, ...]] = {"where": get_args(Where), "stop": get_args(WireStop)}


def read_script(file: Path) -> Script:
    """Read a file anew. Raises `ScriptInvalid`."""
    try:
        content = json.loads(file.read_bytes())
    except OSError as error:
        raise ScriptInvalid(f"{file}: cannot be read: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise ScriptInvalid(f"{file}: line {error.lineno}, column {error.colno}: is no JSON: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise ScriptInvalid(f"{file}: byte {error.start}: is no UTF-8") from error
    try:
        script = convert({"turns": content} if isinstance(content, list) else content, Script)
    except ValidationError as error:
        raise ScriptInvalid(f"{file}: {_told(str(error))}") from error
    for place, turn in _turns(script):
        _check_capture(file, place, turn)
    return script


def _told(message: str) -> str:
    """msgspec's message with the place in front, and with what is allowed where it names only what is not."""
    problem, _, place = message.partition(" - at `$")
    place = place.rstrip("`").lstrip(".")
    last = re.sub(r"\[\d+\]$", "", place.rpartition(".")[2])
    if "unknown field" in problem and last in _OBJECTS:
        problem += f"; allowed: {', '.join(_OBJECTS[last].__struct_fields__)}"
    if "enum value" in problem and last in _WORDS:
        problem += f"; allowed: {', '.join(_WORDS[last])}"
    return f"{place}: {problem}" if place else problem


def _turns(script: Script) -> list[tuple[str, ScriptedTurn]]:
    found = [(f"turns[{number}]", turn) for number, turn in enumerate(script.turns)]
    for at, route in enumerate(script.routes):
        found += [(f"routes[{at}].turns[{number}]", turn) for number, turn in enumerate(route.turns)]
    return [*found, *((place, turn) for place, turn in (("after", script.after), ("aux", script.aux)) if isinstance(turn, ScriptedTurn))]


def _check_capture(file: Path, place: str, turn: ScriptedTurn) -> None:
    try:
        re.compile(turn.capture or "")
    except re.error as error:
        raise ScriptInvalid(f"{file}: {place}.capture: {turn.capture!r} is no regular expression: {error}") from error
