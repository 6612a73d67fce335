"""An agent's file is written whole or not at all, stays what it was in every other respect, and nobody's change is lost."""

import os
import resource
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.unprivileged import NOBODY, give_away, reachable_folder
from treblehook.gateway.install.files import ChangedMeanwhile, check_writable, drop_first, find, first_of, keep_first, write
from treblehook.host.problems import ConfigInvalid


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "settings.json"
    path.write_bytes(b"{}\r\n")
    path.chmod(0o640)
    return path


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_keeps_its_mode_unless_it_gets_another(file: Path) -> None:
    write(find(file), b"[]", None)
    assert (file.read_bytes(), mode(file)) == (b"[]", 0o640)
    write(find(file), b"[1]", 0o600)
    assert (file.read_bytes(), mode(file)) == (b"[1]", 0o600)
    assert os.listdir(file.parent) == ["settings.json"]


def test_a_new_file_and_its_folders_are_for_their_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b" / "settings.json"
    write(find(file), b"{}", None)
    assert [mode(path) for path in (file, file.parent, file.parent.parent)] == [0o600, 0o700, 0o700]


def test_a_link_stays_and_what_it_leads_to_is_written(file: Path, tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    link, second = tmp_path / "agent" / "settings.json", tmp_path / "agent" / "second"
    second.symlink_to("../settings.json")
    link.symlink_to("second")
    write(find(link), b"[]", None)
    assert (os.readlink(link), os.readlink(second)) == ("second", "../settings.json")
    assert (file.read_bytes(), mode(file)) == (b"[]", 0o640)
    assert find(link).linked
    assert not find(file).linked


def test_a_link_to_nothing_gets_what_it_leads_to(tmp_path: Path) -> None:
    link = tmp_path / "settings.json"
    link.symlink_to("dotfiles/settings.json")
    write(find(link), b"{}", None)
    assert link.is_symlink()
    assert (tmp_path / "dotfiles" / "settings.json").read_bytes() == b"{}"


def test_a_folder_that_is_a_link_is_no_link_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "linked").symlink_to("real")
    file = tmp_path / "linked" / "settings.json"
    write(find(file), b"{}", None)
    assert not find(file).linked
    assert (tmp_path / "real" / "settings.json").read_bytes() == b"{}"


@pytest.mark.parametrize("kind", ["folder", "pipe", "loop"])
def test_what_is_no_file_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "settings.json"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(path)
    with pytest.raises(ConfigInvalid, match=r"settings\.json: it (is no regular file|cannot be read)"):
        find(path)


@pytest.mark.parametrize("becomes", ["edited", "removed", "replaced by a link"])
def test_what_somebody_else_has_changed_meanwhile_is_not_overwritten(file: Path, tmp_path: Path, becomes: str) -> None:
    found = find(file)
    if becomes == "edited":
        file.write_bytes(b'{"by": "somebody else"}')
    else:
        file.unlink()
    if becomes == "replaced by a link":
        (tmp_path / "other").write_bytes(b"{}\r\n")
        file.symlink_to("other")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for content in (b"[]", None):
        with pytest.raises(ChangedMeanwhile, match="changed by somebody else"):
            write(found, content, None)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_file_that_comes_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    found = find(file)
    file.write_bytes(b"{}")
    with pytest.raises(ChangedMeanwhile):
        write(found, b"[]", None)
    assert file.read_bytes() == b"{}"


def test_a_read_only_file_is_refused(file: Path) -> None:
    file.chmod(0o444)
    with pytest.raises(ConfigInvalid, match=r"it has mode 0444: it is read-only \(chmod u\+w .*settings.json\)"):
        check_writable(find(file))


@contextmanager
def full_disk() -> Iterator[None]:
    """No file of this process may grow beyond a few bytes: what a full disk looks like to a writer."""
    limit, ignored = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limit[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, ignored)


def test_a_full_disk_leaves_everything_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(b"{}")
    for target in (file, tmp_path / "made" / "for" / "it"):
        with full_disk(), pytest.raises(ConfigInvalid, match="it cannot be written: "):
            write(find(target), b"x" * 100, None)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"settings.json": b"{}"}


WRITE = """
import os, sys
from pathlib import Path
from treblehook.gateway.install.files import find, write
{killed}
try:
    write(find(Path({file!r})), b"x" * 100, None)
except Exception as error:
    sys.exit(f"{{type(error).__name__}}: {{error}}")
"""


def run(file: Path, killed: str = "") -> "subprocess.CompletedProcess[str]":
    code = WRITE.format(file=str(file), killed=killed)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("moment", ["fsync", "rename"])
def test_a_writer_that_is_killed_leaves_the_file_whole(file: Path, moment: str) -> None:
    killed = f"import os\nos.{moment} = lambda *_: os.kill(os.getpid(), 9)"
    assert run(file, killed).returncode == -signal.SIGKILL
    assert file.read_bytes() == b"{}\r\n"
    # What is left behind is for nobody else to read, and in nobody's way.
    assert [mode(path) & 0o077 for path in file.parent.iterdir() if path != file] in ([0], [0o040])
    assert run(file).returncode == 0
    assert file.read_bytes() == b"x" * 100


def test_a_folder_that_may_not_be_written_is_told() -> None:
    before = os.geteuid()
    with reachable_folder() as folder:
        file = folder / "settings.json"
        file.write_bytes(b"{}")
        file.chmod(0o666)
        folder.chmod(0o555)
        if before == 0:
            os.seteuid(NOBODY)
        try:
            with pytest.raises(ConfigInvalid, match=r"settings\.json: it cannot be written: Permission denied"):
                write(find(file), b"[]", None)
        finally:
            os.seteuid(before)
        assert file.read_bytes() == b"{}"
        folder.chmod(0o755)


def test_the_copy_has_the_mode_of_the_file_and_goes_when_the_file_is_that_again(file: Path) -> None:
    copy = keep_first(find(file))
    assert copy == first_of(file)
    assert (copy.read_bytes(), mode(copy)) == (b"{}\r\n", 0o640)
    assert drop_first(file, b"other") == copy
    assert copy.exists()
    assert drop_first(file, b"{}\r\n") is None
    assert not copy.exists()


def test_a_copy_that_was_left_by_an_earlier_installation_is_written_anew(file: Path) -> None:
    first_of(file).write_bytes(b"older")
    assert keep_first(find(file)) == first_of(file)
    assert first_of(file).read_bytes() == b"{}\r\n"


def test_no_copy_is_written_through_a_link(file: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").write_bytes(b"precious")
    first_of(file).symlink_to("precious")
    with pytest.raises(ConfigInvalid, match="it is no regular file"):
        keep_first(find(file))
    assert (tmp_path / "precious").read_bytes() == b"precious"


def test_there_is_no_copy_of_a_file_that_was_not_there(tmp_path: Path) -> None:
    assert keep_first(find(tmp_path / "settings.json")) is None
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_somebody_else_stays_theirs(file: Path) -> None:
    give_away(file)
    owner = file.stat().st_uid, file.stat().st_gid
    write(find(file), b"[]", None)
    assert (file.stat().st_uid, file.stat().st_gid, mode(file)) == (*owner, 0o640)
