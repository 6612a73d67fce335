"""The tool `write`: whole files, at one stroke."""

import errno
import os
import resource
import shutil
import signal
import stat
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from treblehook.host.tool import ToolInputInvalid, ToolOutput
from treblehook.host.tools import files
from treblehook.host.tools.write import Write

Run = Callable[..., Awaitable[ToolOutput]]


@pytest.fixture
def write(run: Run) -> Run:
    async def write(path: str, content: str) -> ToolOutput:
        return await run(Write(), path=path, content=content)

    return write


@contextmanager
def files_at_most(size: int) -> Iterator[None]:
    """No file may grow over `size` bytes in this block, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_a_new_file_with_its_folders(write: Run, workspace: Path) -> None:
    output = await write("a/b/new.txt", "grün\r\n")

    assert output.content == "Created a/b/new.txt: 7 bytes."
    assert (workspace / "a/b/new.txt").read_bytes() == "grün\r\n".encode()
    assert os.listdir(workspace / "a/b") == ["new.txt"]


async def test_a_new_file_has_the_usual_mode(write: Run, workspace: Path) -> None:
    before = os.umask(0o027)
    try:
        await write("new", "")
    finally:
        os.umask(before)

    assert mode_of(workspace / "new") == 0o640


async def test_an_old_file_keeps_its_mode_and_owner(write: Run, workspace: Path) -> None:
    old = workspace / "script"
    old.write_text("old and longer")
    if os.geteuid() == 0:
        os.chown(old, 1234, 1235)
    os.chmod(old, 0o4750)
    before = os.stat(old)

    output = await write("script", "new")

    assert output.content == "Replaced script: 3 bytes."
    after = os.stat(old)
    assert old.read_text() == "new"
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)


async def test_a_reader_of_the_old_file_keeps_the_old_file(write: Run, workspace: Path) -> None:
    (workspace / "file").write_text("old")
    reader = os.open(workspace / "file", os.O_RDONLY)

    await write("file", "new")

    assert os.read(reader, 10) == b"old"
    os.close(reader)


@pytest.mark.parametrize("there", [True, False])
async def test_a_symbolic_link_stays_and_its_target_is_written(there: bool, write: Run, workspace: Path) -> None:
    target = workspace / "deep" / "target"
    if there:
        target.parent.mkdir()
        target.write_text("old")
    (workspace / "link").symlink_to("deep/target")

    output = await write("link", "new")

    assert not output.is_error
    assert (workspace / "link").is_symlink()
    assert target.read_text() == "new"


async def test_a_disk_that_is_full_leaves_the_old_file_and_no_draft(write: Run, workspace: Path) -> None:
    (workspace / "file").write_text("old")

    with files_at_most(1000):
        output = await write("file", "x" * 5000)

    assert output.is_error
    assert output.content == f"Cannot write file: {os.strerror(errno.EFBIG)}."
    assert os.listdir(workspace) == ["file"]
    assert (workspace / "file").read_text() == "old"


async def test_no_space_is_said_in_these_words(write: Run, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: str, target: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "replace", full)

    output = await write("file", "x")

    assert output.content == "Cannot write file: No space left on device."
    assert os.listdir(workspace) == []


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("file/below", "Cannot write file/below: Not a directory."),
        ("file/far/below", "Cannot write file/far/below: Not a directory."),
        ("/proc/new", "Cannot write /proc/new: No such file or directory."),
        ("folder", 'folder is a folder. The glob tool lists it: pattern "*", path "folder".'),
        ("/dev/null", "/dev/null is no regular file but a device, a pipe or a socket."),
        ("loop", "Cannot write loop: Too many levels of symbolic links."),
        ("x" * 300, f"Cannot write {'x' * 300}: File name too long."),
        ("d/" * 1900 + "f", f"Cannot write {'d/' * 1900}f: the path has too many folders."),
    ],
)
async def test_a_place_where_no_file_can_be(path: str, message: str, write: Run, workspace: Path) -> None:
    (workspace / "file").write_text("text")
    (workspace / "folder").mkdir()
    (workspace / "loop").symlink_to("loop")

    output = await write(path, "new")

    assert output.is_error
    assert output.content == message


async def test_a_deleted_workspace_is_not_made_again(write: Run, workspace: Path) -> None:
    shutil.rmtree(workspace)

    output = await write("a/file", "text")

    assert output.is_error
    assert output.content == f"The workspace folder {workspace} does not exist any more."
    assert os.listdir(workspace.parent) == []


async def test_half_a_surrogate_pair_is_refused(write: Run) -> None:
    with pytest.raises(ToolInputInvalid, match="`content` holds half of a surrogate pair at character 2"):
        await write("file", "ab\udc80")


async def test_the_content_is_required(run: Run) -> None:
    with pytest.raises(ToolInputInvalid, match="The input lacks the required field `content`"):
        await run(Write(), path="file")
