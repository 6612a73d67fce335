"""The file of a session under what happens to real ones: killed writers, full disks, second writers, read-only homes."""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.unprivileged import NOBODY, give_away, reachable_folder
from treblehook.agent.transcript import SessionBusy, Transcript, TranscriptFailed, read_records

WRITER = Path(__file__).with_name("writer.py")


def writer(path: Path, how: str, count: int, size: int = 100, *setup: str, before: tuple[str, ...] = ()) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*before, sys.executable, str(WRITER), str(path), how, str(count), str(size), *setup],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process: "subprocess.Popen[str]") -> list[str]:
    output, errors = process.communicate(timeout=60)
    assert errors == ""
    return output.splitlines(keepends=True)


def acknowledged(lines: list[str]) -> list[int]:
    """The numbers after `ack`; the last line of a killed writer may be torn."""
    return [int(line[4:]) for line in lines if line.startswith("ack ") and line.endswith("\n")]


@pytest.mark.slow
@pytest.mark.parametrize("size", [10, 1000, 20_000, 500_000])
def test_a_killed_writer_loses_nothing_that_it_acknowledged(tmp_path: Path, size: int) -> None:
    path = tmp_path / "s.jsonl"
    Transcript.create(path).close()
    chance = random.Random(size)
    acknowledgements = 0

    for _ in range(25):
        process = writer(path, "resume", 40, size)
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        # It is killed some time after one of its records, which is mostly in the middle of another.
        lines = [process.stdout.readline() for _ in range(chance.randrange(30))]
        process.kill()
        lines += process.communicate(timeout=60)[0].splitlines(keepends=True)

        transcript, records = Transcript.resume(path)
        transcript.close()
        assert [record["n"] for record in records] == list(range(len(records)))
        assert transcript.damage == ()
        acknowledgements = max([acknowledgements, *(number + 1 for number in acknowledged(lines))])
        assert len(records) >= acknowledgements

    assert acknowledgements > 0


def mounts(folder: Path) -> tuple[str, ...] | None:
    """What a command is started with to find a disk of 64 KiB at `folder`; None where this system allows no such mount."""
    script = 'mount -t tmpfs -o size=64k tmpfs "$0" && exec "$@"'
    before = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, str(folder))
    try:
        tried = subprocess.run([*before, "true"], capture_output=True, check=False)
    except FileNotFoundError:
        return None
    return before if tried.returncode == 0 else None


def test_a_full_disk_fails_and_takes_nothing_with_it(tmp_path: Path) -> None:
    """On a disk that is full where one can be mounted, else under a limit of the file's size."""
    folder = tmp_path / "disk"
    folder.mkdir()
    before = mounts(folder)
    # What the disk held is gone with its last process, so that process shows it.
    shows = f'{sys.executable} "$@"; cat "{folder}/s.jsonl" >&2'
    process = subprocess.Popen(
        [*(before or ()), "sh", "-c", shows, "sh", str(WRITER), f"{folder}/s.jsonl", "create", "1000", "500"]
        + ([] if before else ["limit=65536"]),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    output, kept = process.communicate(timeout=60)

    lines = output.splitlines(keepends=True)
    assert lines[-1] == f"failed TranscriptFailed {'No space left on device' if before else 'File too large'}\n"
    contents = read_records(kept.encode(), "f")
    assert [record["n"] for record in contents.records] == acknowledged(lines)
    assert len(contents.records) > 50
    assert kept.endswith("\n")


def test_a_failed_append_is_cut_off_and_a_later_one_succeeds(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"

    lines = finished(writer(path, "create", 1000, 500, "limit=10000", "retry=20000"))

    assert lines[-2:] == ["failed TranscriptFailed File too large\n", "retried\n"]
    contents = read_records(path.read_bytes(), "f")
    assert [record["n"] for record in contents.records] == [*acknowledged(lines), "retried"]
    assert contents.damage == ()
    transcript, records = Transcript.resume(path)
    transcript.close()
    assert len(records) == len(contents.records)


def test_a_line_that_could_not_be_cut_off_is_cut_before_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.jsonl"
    transcript = Transcript.create(path)
    transcript.append({"n": 1})
    write, truncate = os.write, os.ftruncate
    failures: Iterator[OSError] = iter([OSError(5, "Input/output error")])

    def torn(descriptor: int, data: bytes) -> int:
        if len(data) > 4:
            return write(descriptor, data[:4])
        raise next(failures)

    def refused(descriptor: int, length: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as broken:
        broken.setattr(os, "write", torn)
        broken.setattr(os, "ftruncate", refused)
        with pytest.raises(TranscriptFailed) as caught:
            transcript.append({"n": 2})
    assert caught.value.reason == "Input/output error"
    assert path.read_bytes() == b'{"n":1}\n{"n"'

    assert os.ftruncate is truncate
    transcript.append({"n": 3})
    transcript.close()
    assert path.read_bytes() == b'{"n":1}\n{"n":3}\n'


def test_a_sync_that_fails_is_told_and_closes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    transcript = Transcript.create(tmp_path / "s.jsonl")

    def refused(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", refused)
    with pytest.raises(TranscriptFailed):
        transcript.close()
    Transcript.resume(tmp_path / "s.jsonl")


def test_a_second_process_is_refused_and_told_who_has_it(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    first = writer(path, "create", 0)
    assert first.stdout is not None
    assert first.stdout.readline() == "open\n"

    with pytest.raises(SessionBusy) as caught:
        Transcript.resume(path)
    assert caught.value.session == "s"
    assert caught.value.pid in (first.pid, None)
    assert finished(writer(path, "resume", 1))[-1].startswith("failed SessionBusy")

    assert finished(first)[-1] == "closed\n"
    transcript, _ = Transcript.resume(path)
    transcript.close()


def test_a_killed_process_leaves_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    first = writer(path, "create", 0)
    assert first.stdout is not None
    first.stdout.readline()
    first.kill()
    first.communicate(timeout=60)

    transcript, _ = Transcript.resume(path)
    transcript.close()


def test_of_many_writers_one_gets_the_session(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    Transcript.create(path).close()

    many = [writer(path, "resume", 0) for _ in range(6)]
    opened = [process.stdout.readline() for process in many if process.stdout is not None]
    assert opened.count("open\n") == 1
    for process in many:
        finished(process)


def test_a_child_process_does_not_keep_the_session(tmp_path: Path) -> None:
    transcript = Transcript.create(tmp_path / "s.jsonl")
    child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    try:
        transcript.close()
        again, _ = Transcript.resume(tmp_path / "s.jsonl")
        again.close()
    finally:
        child.communicate()


@pytest.mark.parametrize("how", ["create", "resume"])
def test_a_home_that_cannot_be_written_is_told(how: str) -> None:
    with reachable_folder() as folder:
        path = folder / "s.jsonl"
        if how == "resume":
            Transcript.create(path).close()
            give_away(path)
            path.chmod(0o400)
        folder.chmod(0o555)

        lines = finished(writer(path, how, 1, 10, f"user={NOBODY}"))

        assert lines == ["failed TranscriptFailed Permission denied\n"]
        folder.chmod(0o700)
