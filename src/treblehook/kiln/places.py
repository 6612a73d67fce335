"""`[kilns]` of a home's config.toml: name = folder."""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from treblehook.host.problems import Problem

_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}")
_ALLOWED: Final = "the absolute path of a folder; a leading ~ is your home folder"
_LONGEST_SHOWN: Final = 60


def read_kilns(values: Mapping[str, Any], file: str, environ: Mapping[str, str], problems: list[Problem]) -> dict[str, Path]:
    """The folders by the names of their kilns; what is wrong goes to `problems`. A folder need not be there: disks come and go."""
    found: dict[str, Path] = {}
    for name, value in values.items():
        place = f"kilns.{name}" if _NAME.fullmatch(name) else f"kilns.{_quoted(name)}"
        if not _NAME.fullmatch(name):
            remedy = "allowed: letters, digits, dots, - and _, at most 64, not beginning with a dot"
            problems.append(Problem(file, place, f"found {name!r} as the name of a kiln", remedy))
            continue
        problem = _problem(value)
        if problem:
            problems.append(Problem(file, place, problem, f"allowed: {_ALLOWED}"))
            continue
        folder = Path(os.path.normpath(_expanded(value, environ)))
        problems += _overlaps(file, place, name, folder, found)
        found[name] = folder
    return found


def _problem(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        return f"found {_shown(value)}"
    if "\0" in value:
        return "found a NUL character"
    if not os.path.isabs(value) and value != "~" and not value.startswith("~/"):
        return f"found the relative path {_shown(value)}"
    if os.path.isabs(value) and os.path.exists(value) and not os.path.isdir(value):
        return f"found {_shown(value)}, which is no folder"
    return ""


def _overlaps(file: str, place: str, name: str, folder: Path, others: Mapping[str, Path]) -> Iterable[Problem]:
    for other, there in others.items():
        if folder == there:
            yield Problem(file, place, f"is the folder of the kiln {other} as well", "every note is indexed twice", level="warning")
        if name.casefold() == other.casefold():
            yield Problem(file, place, f"differs from {other} only in case", "choose another name", level="warning")


def _expanded(path: str, environ: Mapping[str, str]) -> str:
    if not path.startswith("~"):
        return path
    return (environ.get("HOME") or os.path.expanduser("~")) + path[1:]


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _shown(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else "a table" if isinstance(value, dict) else str(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
