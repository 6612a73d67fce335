"""Where a path leads."""

import errno
import os
from typing import Final

from msgspec import Struct

_MOST_LINKS: Final = 40


def plain(path: str) -> str:
    """An absolute path without `.`, `..` and doubled slashes; a double slash at its head would survive otherwise."""
    return "/" + os.path.normpath(path).lstrip("/")


class Folder(Struct, frozen=True):
    """A folder that paths are relative to: its absolute path, and the same without symbolic links."""

    path: str
    real: str


def folder_at(path: str) -> Folder:
    """The folder at an absolute path, as the links on it lead now."""
    return Folder(path, os.path.realpath(path))


def steps(path: str, folder: Folder) -> set[str]:
    """The names of what `path` leads to from `folder`: each with one symbolic link on the way kept, and one with none of them.

    `..` is taken both as the system does, behind the link, and as programs do that remove it from the text first. Nothing has to be there.
    """
    if "/" not in path and path not in ("", ".", "..") and not _target(here := f"{folder.real.rstrip('/')}/{path}"):
        # Most words of a command.
        return {here}
    inside = f"{folder.path}/"
    if path.startswith(inside):
        path = path[len(inside) :].lstrip("/")
    base = "" if path.startswith("/") else folder.real.rstrip("/")
    found = _followed(path, base)
    if ".." in path:
        found |= _followed(plain(f"{base}/{path}"), "")
        if not path.startswith("/"):
            found |= _followed(plain(inside + path), "")
    return found


def _followed(path: str, real: str) -> set[str]:
    """The names of `path`, seen from the folder `real`, which is no link and has none above it."""
    names: set[str] = set()
    left = path.split("/")[::-1]
    there, links = True, 0
    while left:
        part = left.pop()
        if part in ("", "."):
            continue
        if part == "..":
            real, there = real.rpartition("/")[0], True
            continue
        here = f"{real}/{part}"
        target = _target(here) if there else ""
        if not target:
            real, there = here, target is not None
            continue
        links += 1
        if links > _MOST_LINKS:
            # A circle: nobody gets anywhere.
            break
        if ".." not in left:
            names.add("/".join([here, *(rest for rest in reversed(left) if rest not in ("", "."))]))
        if target.startswith("/"):
            real = ""
        left.extend(reversed(target.split("/")))
    names.add(real or "/")
    return names


def _target(path: str) -> str | None:
    """Where a link leads, "" for what is no link, None where nothing is there."""
    try:
        return os.readlink(path)
    except OSError as error:
        return None if error.errno in (errno.ENOENT, errno.ENOTDIR) else ""
    except ValueError:
        # The system has no name for it.
        return None
