"""Opening a file of which nobody knows what it is."""

import os
from typing import BinaryIO


def open_unknown(path: str | os.PathLike[str], *, follow_link: bool = True) -> BinaryIO:
    """Open what is at `path` for reading, without waiting for a pipe's writer.

    Raises `OSError`, for a folder too; then nothing stays open.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow_link else os.O_NOFOLLOW)
    # A descriptor that is handed in stays open where it turns out to lead to a folder; one from an opener does not.
    return open(path, "rb", opener=lambda name, _: os.open(name, flags))
