"""Which folders of a kiln are watched, and how.

The library that watches follows symbolic links, gives up where a folder cannot be read, and would spend the system's few watches on
`node_modules`; so it is given those trees that have nothing of the kind in them, and the folders above those one by one.
"""

import os

from msgspec import Struct

from treblehook.kiln.files.paths import is_left_out


class Folders(Struct):
    """`trees` are watched with all that is and comes below them, `single` ones by themselves: a new folder there needs a new plan.
    `unwatched` cannot be watched, each with the reason."""

    trees: list[str] = []
    single: set[str] = set()
    unwatched: dict[str, str] = {}


def plan_folders(root: str) -> Folders:
    """The plan for a kiln. Raises `OSError` where `root` itself cannot be listed."""
    planned = Folders()
    inside: dict[str, list[str]] = {}
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            inside[folder], with_others = _folders_in(folder)
        except OSError as error:
            if folder == root:
                raise
            planned.unwatched[folder] = error.strerror or str(error)
            _split(os.path.dirname(folder), root, planned.single)
            continue
        if with_others:
            _split(folder, root, planned.single)
        waiting += inside[folder]
    readable = [folder for folder in inside if folder not in planned.single]
    planned.trees = [folder for folder in readable if folder == root or os.path.dirname(folder) in planned.single]
    return planned


def _folders_in(folder: str) -> tuple[list[str], bool]:
    """The folders that are looked into, and whether there are others."""
    found, with_others = [], False
    with os.scandir(folder) as entries:
        for entry in entries:
            if not _is_folder(entry):
                continue
            if is_left_out(entry.name) or entry.is_symlink():
                with_others = True
            else:
                found.append(entry.path)
    return found, with_others


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        # A symbolic link that leads in a circle.
        return False


def _split(folder: str, root: str, single: set[str]) -> None:
    """Every folder from the root to this one is watched by itself."""
    while folder not in single:
        single.add(folder)
        if folder == root:
            return
        folder = os.path.dirname(folder)
