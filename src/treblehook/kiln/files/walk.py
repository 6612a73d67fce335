"""Finding every note of a kiln."""

import os

from msgspec import Struct

from treblehook.kiln.files.paths import is_left_out, is_note, note_path
from treblehook.kiln.files.stamp import Stamp


class Found(Struct, frozen=True):
    """A note's file: `relative` is its path inside the kiln as the system has it, with bytes that are no UTF-8 as surrogates."""

    relative: str
    stamp: Stamp


class Walk(Struct):
    """What a walk came to, by the path that the index uses. `unread` are folders that could not be listed and `odd` files that
    could not be looked at, each with the reason: nothing is known of what is there. `left_out` are links and special files."""

    notes: dict[str, Found] = {}
    unread: dict[str, str] = {}
    odd: dict[str, str] = {}
    left_out: dict[str, str] = {}

    def knows(self, path: str) -> bool:
        """Whether the walk can tell that there is, or is not, a note of this path."""
        return path not in self.odd and not any(folder == "" or path.startswith(f"{folder}/") for folder in self.unread)


def walk(root: str, below: str = "") -> Walk:
    """Every note in `root`, or in a folder `below` it. Symbolic links are not followed: what they lead to inside the kiln is found
    where it is, and what is outside does not belong to it; so no loop is entered either."""
    found = Walk()
    waiting = [below]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as entries:
                for entry in entries:
                    _sort(entry, f"{folder}/{entry.name}" if folder else entry.name, waiting, found)
        except FileNotFoundError:
            # It went between being found and being listed; for the kiln's own folder that is another matter.
            if folder == "":
                found.unread[""] = "it does not exist"
        except OSError as error:
            found.unread[note_path(folder)] = error.strerror or str(error)
    return found


def _sort(entry: os.DirEntry[str], relative: str, waiting: list[str], found: Walk) -> None:
    name = entry.name
    if name[0] == ".":
        return
    if not is_note(name):
        if not is_left_out(name) and entry.is_dir(follow_symlinks=False):
            waiting.append(relative)
        return
    path = note_path(relative)
    try:
        if entry.is_symlink():
            found.left_out[path] = "it is a symbolic link, and these are not followed"
        elif entry.is_dir(follow_symlinks=False):
            waiting.append(relative)
        elif not entry.is_file(follow_symlinks=False):
            found.left_out[path] = "it is a device, a pipe or a socket"
        elif path in found.notes:
            found.odd[path] = "two files have this name once what is no UTF-8 in it is replaced; only one of them is indexed"
        else:
            found.notes[path] = Found(relative, Stamp.of(entry.stat(follow_symlinks=False)))
    except FileNotFoundError:
        return
    except OSError as error:
        found.odd[path] = error.strerror or str(error)
