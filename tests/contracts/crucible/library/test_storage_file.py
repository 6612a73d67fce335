"""The file behind `cru.storage`: real SQLite, real processes, real kills."""

import asyncio
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from treblehook.contracts.crucible.library.storage_file import StorageFailed, StorageFile

_WRITER = """
import sys
from pathlib import Path
from treblehook.contracts.crucible.library.storage_file import StorageFile

file = StorageFile(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    file.put(sys.argv[2], f"key{number}", number)
    print(number, flush=True)
"""


def _writer(file: Path, plugin: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", _WRITER, str(file), plugin, str(count)], stdout=subprocess.PIPE, text=True)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "storage.db"


def test_values_come_back_with_their_bytes_and_kinds(file: Path) -> None:
    value = {"text": "é", "bytes": b"\xff\x00", "list": [1, 1.5, None, True], "nested": {"7": {}}}
    StorageFile(file).put("digest", "k", value)
    assert StorageFile(file).value("digest", "k") == value


def test_plugins_do_not_see_each_other(file: Path) -> None:
    storage = StorageFile(file)
    storage.put("a", "k", 1)
    storage.put("b", "k", 2)
    assert storage.remove("a", "k")
    assert (storage.value("a", "k"), storage.value("b", "k")) == (None, 2)
    assert not storage.remove("a", "k")


def test_keys_by_prefix_are_taken_literally(file: Path) -> None:
    storage = StorageFile(file)
    for key in ("a%b", "a_b", "axb", "é1", "b"):
        storage.put("p", key, 1)
    assert storage.keys("p", "a_") == ["a_b"]
    assert storage.keys("p", "é") == ["é1"]
    assert len(storage.keys("p", "")) == 5


def test_only_the_owner_may_read_the_file(file: Path) -> None:
    StorageFile(file).put("p", "k", "secret")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_nothing_is_made_before_the_first_call(file: Path) -> None:
    StorageFile(file).close()
    assert not file.parent.exists()


def test_what_was_told_to_be_stored_survives_a_kill(file: Path) -> None:
    with _writer(file, "p", 1_000_000) as process:
        assert process.stdout is not None
        told = [int(process.stdout.readline()) for _ in range(200)]
        os.kill(process.pid, signal.SIGKILL)
        told += [int(line) for line in process.stdout.read().splitlines() if line]
    storage = StorageFile(file)
    assert [storage.value("p", f"key{number}") for number in told] == told


def test_processes_write_at_the_same_time(file: Path) -> None:
    writers = [_writer(file, plugin, 100) for plugin in ("p0", "p1", "p2", "p3")]
    for writer in writers:
        writer.communicate()
    assert [writer.returncode for writer in writers] == [0, 0, 0, 0]
    storage = StorageFile(file)
    assert [len(storage.keys(f"p{number}", "")) for number in range(4)] == [100] * 4


async def test_threads_share_one_file(file: Path) -> None:
    storage = StorageFile(file)
    await asyncio.gather(*(asyncio.to_thread(storage.put, "p", f"k{number}", number) for number in range(100)))
    assert storage.values("p", lambda key: key.endswith("7")) == {f"k{number}": number for number in range(7, 100, 10)}


def test_a_damaged_file_is_named(file: Path) -> None:
    file.parent.mkdir()
    file.write_bytes(b"this is no database" * 100)
    with pytest.raises(StorageFailed, match=r"storage\.db"):
        StorageFile(file).value("p", "k")


def test_a_place_that_is_no_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")
    with pytest.raises(StorageFailed, match=r"state"):
        StorageFile(tmp_path / "state" / "storage.db").put("p", "k", 1)
