"""A path argument as the rules see it: as given, and as the file that it leads to."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from treblehook.agent.permissions.argument import Argument

_MOST_LINKS: Final = 40


def path_argument(path: str, workspace: Path) -> Argument:
    """`path` of a file tool that works in `workspace`; `~` is expanded, as the tools do.

    A deny or ask rule holds for the path as given, for the file with every symbolic link resolved, and for each step on the way
    there; each of them absolute, relative to the workspace, and relative to the user's home as `~/...`. An allow rule has to
    cover the file itself.
    """
    if not _is_path(path):
        return Argument((path,), ())
    whole = os.path.join(workspace, os.path.expanduser(path))
    forms = {path: None}
    for step in _steps(whole):
        forms.update(_names(step, workspace))
    return Argument(tuple(forms), (tuple(_names(_plain(os.path.realpath(whole)), workspace)),))


def _is_path(path: str) -> bool:
    """Whether the system has a name for it; no tool gets anywhere with another."""
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def _steps(path: str) -> Iterator[str]:
    """The path without `..` and doubled slashes, then after each symbolic link on it, and at last the file itself."""
    yield _plain(path)
    for _ in range(_MOST_LINKS):
        followed = _followed(path)
        if followed is None:
            break
        path = followed
        yield _plain(path)
    yield _plain(os.path.realpath(path))


def _plain(path: str) -> str:
    """An absolute path without `.`, `..` and doubled slashes; a double slash at its head would survive otherwise."""
    return "/" + os.path.normpath(path).lstrip("/")


def _followed(path: str) -> str | None:
    """The path with its first symbolic link replaced by where it leads; None without a link."""
    parts = path.split("/")
    for end in range(2, len(parts) + 1):
        prefix = "/".join(parts[:end])
        try:
            target = os.readlink(prefix)
        except OSError:
            # No link, or nothing there: the next part may still be asked.
            continue
        return os.path.join(os.path.dirname(prefix), target, *parts[end:])
    return None


def _names(path: str, workspace: Path) -> dict[str, None]:
    """An absolute path in the ways in which a rule may name it."""
    names = {path: None}
    for folder in (str(workspace), os.path.realpath(workspace)):
        inside = _inside(path, folder)
        if inside is not None:
            names[f"./{inside}"] = None
            if not inside.startswith("~"):
                names[inside] = None
    user_home = os.path.expanduser("~")
    for folder in (user_home, os.path.realpath(user_home)):
        inside = _inside(path, folder)
        if inside is not None:
            names[f"~/{inside}"] = None
    return names


def _inside(path: str, folder: str) -> str | None:
    """The path relative to a folder that it is in or that it is; None elsewhere."""
    if path == folder:
        return "."
    prefix = folder.rstrip("/") + "/"
    return path.removeprefix(prefix) if path.startswith(prefix) else None
