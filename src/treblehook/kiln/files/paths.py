"""Where a note may be: its path inside the kiln, and the file on disk."""

import os
from typing import Final

from treblehook.kiln.parsing.links import NOTE_SUFFIXES

EXCLUDED: Final = frozenset({"node_modules", "CVS", "_darcs"})
"""Folders that hold no notes, beside every hidden one (`.git`, `.obsidian`, `.crucible`, `.treblehook` among them)."""


class PathRefused(Exception):
    """A path that no note may have; the message says why, and begins with a verb."""


def is_note(name: str) -> bool:
    """Whether a file of this name is a note."""
    return not name.startswith(".") and name.lower().endswith(NOTE_SUFFIXES)


def is_left_out(folder: str) -> bool:
    """Whether a folder of this name is not looked into."""
    return folder.startswith(".") or folder in EXCLUDED


def note_path(relative: str) -> str:
    """The kiln-relative path as the index has it: what is no UTF-8 becomes U+FFFD (crucible.md 7.6)."""
    return os.fsencode(relative).decode("utf-8", "replace")


def stem_of(path: str) -> str:
    """The name of a note without its suffix."""
    name = path.rsplit("/", 1)[-1]
    return name[: name.rindex(".")] if "." in name else name


def checked_path(path: str) -> str:
    """`path` with its needless parts removed. Raises `PathRefused` for what leads out of the kiln, or is no note."""
    if "\0" in path:
        raise PathRefused("holds a NUL character, which no path may")
    try:
        path.encode()
    except UnicodeEncodeError:
        raise PathRefused("holds half of a surrogate pair, so it is no Unicode text") from None
    if path.startswith("/"):
        raise PathRefused("is absolute; a note is named by its path inside the kiln")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise PathRefused("holds `..`, which leads out of the kiln")
    left_out = next((part for part in parts[:-1] if is_left_out(part)), None)
    if left_out is not None:
        raise PathRefused(f"is in the folder {left_out!r}, where no notes are kept")
    if not parts or path.endswith("/") or not is_note(parts[-1]):
        raise PathRefused(f"is no note; its name must end with {', '.join(NOTE_SUFFIXES)} and not begin with a dot")
    return "/".join(parts)


def inside(root: str, relative: str) -> str:
    """The file of a note. Raises `PathRefused` where a symbolic link leads to it, and `OSError`."""
    file = os.path.join(root, relative)
    folder = os.path.dirname(file)
    # Every folder is looked at, since one that is a link may lead anywhere.
    if os.path.realpath(folder) != os.path.join(os.path.realpath(root), *relative.split("/")[:-1]).rstrip("/"):
        raise PathRefused("leads through a symbolic link")
    if os.path.islink(file):
        raise PathRefused("is a symbolic link")
    return file
