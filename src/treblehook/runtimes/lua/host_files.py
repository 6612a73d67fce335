"""What Lua code may open: files that cannot make it wait."""

import os
import stat
from collections.abc import Callable
from typing import Any

from treblehook.runtimes.lua.names import Names
from treblehook.runtimes.lua.source import prepared

# No source file is as long.
LONGEST_SOURCE = 16 * 1024 * 1024


def refused(path: bytes) -> bytes | None:
    """Why a file may not be opened: reading a pipe or a terminal could block every other session. None where it may."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return None
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode) or os.path.realpath(path) == b"/dev/null":
        return None
    return b"not a file (a pipe or a device could make everybody wait)"


def is_file(path: bytes) -> bool:
    """Whether a regular file is there."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def source_reader(names: Names) -> Callable[[bytes], tuple[Any, bytes]]:
    """Reads source files for `require`, `dofile` and `loadfile`: the text and its chunk name, or None and why not."""

    def read(path: bytes) -> tuple[Any, bytes]:
        if not is_file(path):
            return None, b"cannot open " + path
        try:
            if os.stat(path).st_size > LONGEST_SOURCE:
                return None, path + b" is too long for a source file"
            with open(path, "rb") as file:
                source = file.read()
        except OSError as error:
            return None, b"cannot read %s (%s)" % (path, str(error.strerror).encode())
        return prepared(source), names.chunk(os.fsdecode(path))

    return read
