"""Which file a name stands for."""

import os
import stat
from pathlib import Path


def resolve_executable(name: str, search_path: str, cwd: Path) -> Path | None:
    """The canonical path, symbolic links resolved, of the program that `name` stands for; None where there is none.

    A name with a slash is a path, relative to `cwd`, and only has to exist. A bare name is looked for in the folders of
    `search_path` (as in PATH): the first one with an executable regular file of that name. Rule: murmur.md 5.6.
    """
    if "/" in name:
        path = os.path.join(cwd, name)
        return Path(os.path.realpath(path)) if os.path.exists(path) else None
    return find_on_path(name, search_path)


def find_on_path(name: str, search_path: str) -> Path | None:
    """The canonical path of the first executable regular file `name` in the absolute folders of `search_path`, or None.

    Relative folders (also the empty one) are passed over: through them a workspace could put its own file in the place of
    a program that the user meant.
    """
    for folder in search_path.split(os.pathsep):
        candidate = os.path.join(folder, name)
        if os.path.isabs(folder) and _is_executable_file(candidate):
            return Path(os.path.realpath(candidate))
    return None


def _is_executable_file(path: str) -> bool:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        # Missing, not reachable, or no path at all (a NUL character): not what is looked for.
        return False
    return stat.S_ISREG(status.st_mode) and bool(status.st_mode & 0o111)
