"""What a settings file says, as values."""

import re
import shlex
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from treblehook.contracts.claude.settings.events import SettingsEvent
from treblehook.contracts.claude.settings.matching import Condition, Matcher
from treblehook.host.problems import Problem

_LONGEST_NAME: Final = 60
_ENDS: Final = frozenset("|;&<>")
_FILE: Final = re.compile(r"""(?:/|~|\$|\.\.?/).*|[^\s"'()]+""", re.DOTALL)
"""A word that may be a path, and no program for jq or sed: one with a space in it begins as paths do."""


class CommandLine(Struct, frozen=True):
    """`type: command`: a line for the shell; nobody waits for one in the `background`."""

    line: str
    background: bool = False


class Endpoint(Struct, frozen=True):
    """`type: http`: where the payload is posted; `variables` are the environment variables that the headers may name."""

    url: str
    headers: Mapping[str, str] = {}
    variables: frozenset[str] = frozenset()


class SettingsHook(Struct, frozen=True):
    """One hook; `place` and the 1-based `line` are where it stands in `file`, `seconds` its time limit."""

    file: str
    place: str
    line: int
    event: SettingsEvent
    matcher: Matcher | None
    condition: Condition | None
    seconds: float
    how: CommandLine | Endpoint

    @property
    def key(self) -> tuple[str, str]:
        """What makes two hooks the same, of which one runs (HONOURED.md 3: identical handlers run once)."""
        return ("command", self.how.line) if isinstance(self.how, CommandLine) else ("http", self.how.url)

    @property
    def name(self) -> str:
        """By what users know it: the file that it runs, or its address."""
        if isinstance(self.how, Endpoint):
            return self.how.url.partition("://")[2][:_LONGEST_NAME]
        return _program(self.how.line)[:_LONGEST_NAME]


class SettingsFile(Struct, frozen=True):
    """One file. `disabled` is its `disableAllHooks`, None where it says nothing; the two lists that narrow HTTP hooks are None likewise.

    `problems` are errors, for what is malformed and left out, and warnings, for what is right there and not known here."""

    file: str
    hooks: tuple[SettingsHook, ...] = ()
    disabled: bool | None = None
    urls: tuple[str, ...] | None = None
    variables: tuple[str, ...] | None = None
    problems: tuple[Problem, ...] = ()


def _program(line: str) -> str:
    """The name of the first file in the first command of a line; its first word where none has a slash."""
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    first = []
    for word in words:
        if _ENDS.intersection(word):
            break
        first.append(word)
    file = next((word for word in first if "/" in word.rstrip("/") and _FILE.fullmatch(word)), None)
    return file.rstrip("/").rpartition("/")[2] if file else next(iter(first), line.strip() or "command")
