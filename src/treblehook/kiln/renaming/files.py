"""Changes to files that can be taken back, one by one, as long as nobody else has touched them."""

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from treblehook.host.tools.files import Refused, write_file


class Undone(Exception):
    """A change cannot be taken back; the message says what stays."""


class FileChanges:
    """What was done to files; `take_back` does the opposite, the last first."""

    def __init__(self) -> None:
        self._opposites: list[Callable[[], None]] = []

    def make_folder(self, folder: str) -> None:
        """Make a folder with those above it. Raises `OSError`."""
        if os.path.isdir(folder):
            return
        if os.path.lexists(folder):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder)
        self.make_folder(os.path.dirname(folder))
        os.mkdir(folder)
        self._opposites.append(lambda: _remove_folder(folder))

    def move(self, source: str, destination: str) -> None:
        """Move a file to where none is. Raises `FileExistsError` and other `OSError`s."""
        move(source, destination)
        self._opposites.append(lambda: _move_back(source, destination))

    def rewrite(self, file: str, before: bytes, after: bytes) -> None:
        """Replace the content of a file. Raises `OSError` and `Refused`."""
        write_file(Path(file), file, after)
        self._opposites.append(lambda: _restore(file, before, after))

    def take_back(self) -> list[str]:
        """Take everything back; answers what stays as it is, in words."""
        stays = []
        for opposite in reversed(self._opposites):
            try:
                opposite()
            except Undone as problem:
                stays.append(str(problem))
        self._opposites.clear()
        return stays


def move(source: str, destination: str) -> None:
    """Move a file and overwrite none, not even one that comes into being meanwhile. Raises `OSError`."""
    if os.path.lexists(destination) and os.path.samefile(source, destination):
        # Another case of the same name, on a file system that knows no case.
        os.rename(source, destination)
        return
    try:
        os.link(source, destination, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:
        # Not every file system has hard links.
        if os.path.lexists(destination):
            raise FileExistsError(destination) from None
        os.rename(source, destination)
        return
    os.unlink(source)


def _move_back(source: str, destination: str) -> None:
    try:
        move(destination, source)
    except OSError as error:
        raise Undone(f"{destination} could not be moved back to {source}: {error.strerror or error}") from error


def _restore(file: str, before: bytes, after: bytes) -> None:
    try:
        with open(file, "rb") as opened:
            if opened.read() != after:
                raise Undone(f"{file} keeps its new links, since somebody has changed it meanwhile")
        write_file(Path(file), file, before)
    except (OSError, Refused) as error:
        raise Undone(f"{file} keeps its new links: {error}") from error


def _remove_folder(folder: str) -> None:
    # Somebody may have put something into it.
    with suppress(OSError):
        os.rmdir(folder)
