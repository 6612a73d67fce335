"""What the file tools share: where a path leads, work in a thread, failures as sentences, and the atomic write."""

import asyncio
import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event

from treblehook.host.tool import ToolInputInvalid, ToolOutput


class Refused(Exception):
    """The work cannot be done; the message is the sentence that the model reads."""


def joined(path: str, workspace: Path) -> Path:
    """Where `path` leads: relative to the workspace, `~` expanded, symbolic links kept. Raises ToolInputInvalid for a NUL."""
    if "\0" in path:
        raise ToolInputInvalid("`path` holds a NUL character, which no path may.")
    return workspace / os.path.expanduser(path)


def located(path: str, workspace: Path) -> Path:
    """`joined`, which also looks whether the workspace is still there. Raises Refused where it is not."""
    if not workspace.is_dir():
        raise Refused(f"The workspace folder {workspace} does not exist any more.")
    return joined(path, workspace)


def shown(path: str | Path, workspace: Path) -> str:
    """`path` as the model reads it: relative where it lies in the workspace; bytes that are no UTF-8 become U+FFFD."""
    text = os.fspath(path)
    inside = os.path.join(workspace, "")
    if text.startswith(inside):
        text = text[len(inside) :]
    return os.fsencode(text).decode("utf-8", "replace")


async def in_thread(doing: str, work: Callable[[Event], str]) -> ToolOutput:
    """Do file work away from the event loop; what `work` returns is for the model. `doing` begins a failure: "Cannot read x".

    The event is set when nobody waits for the work any more; long work looks at it. Short work ends behind the caller's back.
    """
    given_up = Event()
    try:
        return ToolOutput(await asyncio.to_thread(work, given_up))
    except Refused as refusal:
        return ToolOutput(str(refusal), is_error=True)
    except OSError as error:
        return ToolOutput(f"{doing}: {error.strerror or error}.", is_error=True)
    except RecursionError:
        # From making folders, which the standard library does by recursion.
        return ToolOutput(f"{doing}: the path has too many folders.", is_error=True)
    finally:
        given_up.set()


def regular_file(path: Path, name: str) -> int:
    """A descriptor that reads the regular file `path`; the caller closes it. Raises Refused for anything else, or OSError."""
    # Without O_NONBLOCK, opening a named pipe would wait for a writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    raise _not_a_file(mode, name)


def write_file(path: Path, name: str, data: bytes) -> bool:
    """Put `data` in the place of the file `path` at one stroke, or leave everything as it was. Whether there was a file before.

    A symbolic link stays, and what it leads to is replaced. Mode and, where that is permitted, owner stay; a new file has
    the usual mode. Raises Refused where something that is no regular file is in the way, or OSError.
    """
    target = os.path.realpath(path)
    try:
        before = os.stat(target)
    except FileNotFoundError:
        before = None
    if before is not None and not stat.S_ISREG(before.st_mode):
        raise _not_a_file(before.st_mode, name)
    folder, _ = os.path.split(target)
    os.makedirs(folder, exist_ok=True)
    draft = os.path.join(folder, f".{secrets.token_hex(8)}.tmp")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), "wb") as file:
            file.write(data)
            if before is not None:
                # A write takes the set-user-id bit away, so everything is written first.
                file.flush()
                _make_alike(file.fileno(), before)
        os.replace(draft, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(draft)
        raise
    return before is not None


def _make_alike(descriptor: int, before: os.stat_result) -> None:
    # Only root may give a file away; for everybody else it becomes the writer's own.
    with suppress(PermissionError):
        os.fchown(descriptor, before.st_uid, before.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


def _not_a_file(mode: int, name: str) -> Refused:
    if stat.S_ISDIR(mode):
        return Refused(f'{name} is a folder. The glob tool lists it: pattern "*", path "{name}".')
    return Refused(f"{name} is no regular file but a device, a pipe or a socket.")
