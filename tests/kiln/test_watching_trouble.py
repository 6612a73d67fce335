"""A watched kiln whose disk goes away, whose system reaches its limits, and whose index cannot be written."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.kiln_rig import NAME, KilnRig, disk_takes, note
from tests.support.needs import needs
from treblehook.kiln.kilns import Kilns
from treblehook.kiln.watching import listening
from treblehook.kiln.watching.notifier import Notifier

WATCHES = """
import asyncio, sys
from pathlib import Path
from treblehook.kiln.kiln import Hearer
from treblehook.kiln.kilns import Kilns

async def main():
    root, store = map(Path, sys.argv[1:3])

    def event(one):
        print("event", type(one).__name__, flush=True)

    def problem(one):
        print("problem", one, flush=True)

    hearer = Hearer(event, report=problem)
    kilns = Kilns({"notes": root}, store, hearer, lambda: None)
    await kilns.open()
    await kilns.indexed()
    print("indexed", len(await kilns.listed()), flush=True)
    await kilns.watching()
    print("watching", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def start(rig: KilnRig, *before: str) -> "subprocess.Popen[str]":
    argv = [*before, sys.executable, "-c", WATCHES, str(rig.root), str(rig.store)]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)


def reads(process: "subprocess.Popen[str]", beginning: str) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(beginning):
            return line.strip()
    raise AssertionError(f"no line {beginning!r}")


async def watching(kilns: Kilns) -> None:
    await asyncio.wait_for(kilns.watching(), 60)


async def test_a_kiln_that_disappears_and_comes_back_loses_no_note(rig: KilnRig) -> None:
    for path in ("a.md", "b.md", "deep/c.md"):
        rig.write(path, path)
    async with rig.watched() as kilns:
        away = rig.root.rename(rig.root.with_name("away"))
        await rig.until(lambda: bool(rig.problems))
        assert "is not there; what the index knows of its notes is kept" in rig.problems[0].message
        assert len(await kilns.listed()) == 3
        (away / "b.md").write_text("changed")
        (away / "d.md").write_text("new")
        away.rename(rig.root)
        await rig.until(lambda: len(rig.completes) == 2)
        await watching(kilns)
        assert await rig.settled() == []
        rig.write("a.md", "again")
        assert await rig.settled() == ["file modified <a.md>", "modified a.md content"]
        assert [hit.id.path for hit in await kilns.search("new changed")] == ["b.md", "d.md"]


async def test_a_kiln_in_whose_place_there_is_another_folder_loses_no_note(rig: KilnRig) -> None:
    rig.write("a.md", "a")
    async with rig.watched() as kilns:
        away = rig.root.rename(rig.root.with_name("away"))
        rig.root.mkdir()
        await rig.until(lambda: any("if its disk is not mounted" in problem.message for problem in rig.problems))
        assert len(await kilns.listed()) == 1
        rig.root.rmdir()
        away.rename(rig.root)
        await rig.until(lambda: rig.completes[-1].skipped == 1)
        await watching(kilns)
        assert await rig.settled() == []


async def test_a_kiln_that_is_not_there_yet_is_indexed_when_it_comes(rig: KilnRig) -> None:
    rig.root.rmdir()
    async with rig.kilns() as kilns:
        await kilns.open()
        await kilns.indexed()
        assert rig.completes[0].errors == 1
        rig.write("a.md", "a")
        await watching(kilns)
        await rig.until(lambda: rig.completes[-1].processed == 1)
        assert rig.told() == []


async def test_removing_the_whole_kiln_stops_nothing(rig: KilnRig) -> None:
    rig.write("a.md", "a")
    async with rig.watched() as kilns:
        shutil.rmtree(rig.root)
        await rig.until(lambda: bool(rig.problems))
        rig.root.mkdir()
        await rig.until(lambda: len(rig.completes) == 2)
        await watching(kilns)
        rig.write("b.md", "b")
        await rig.settled()
        assert "created b.md 'b'" in rig.told()


async def test_a_kiln_is_closed_while_things_happen(rig: KilnRig) -> None:
    for number in range(40):
        async with rig.watched():
            rig.write("a.md", str(number))
            # Until what has happened is about to be dealt with, which takes its time.
            await asyncio.sleep(number / 1000)


async def test_changes_that_the_system_did_not_tell_are_found_after_a_burst(rig: KilnRig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "BURST", 3)
    rig.write("lost.md", "one")
    told = Notifier._tell

    def forgetful(self: Notifier, paths: set[str]) -> None:
        # As a queue does that has overflowed.
        told(self, {path for path in paths if "lost" not in path})

    monkeypatch.setattr(Notifier, "_tell", forgetful)
    async with rig.watched():
        rig.write("lost.md", "two")
        rig.write("lost-too.md", "new")
        for number in range(10):
            rig.write(f"{number}.md", "x")
        await rig.until(lambda: "modified lost.md content" in rig.told() and "created lost-too.md 'lost-too'" in rig.told())


async def test_what_the_index_cannot_take_is_told_of_the_file_and_indexed_later(rig: KilnRig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "_OWED_SECONDS", 0.05)
    rig.write("a.md", "a")
    async with rig.watched() as kilns:
        disk_takes(kilns, 1)
        rig.write("b.md", "treasure " * 20_000)
        await rig.until(lambda: bool(rig.problems))
        assert "database or disk is full" in rig.problems[0].message
        assert rig.told() == ["file created <b.md>"]
        disk_takes(kilns, 1_000_000)
        await rig.until(lambda: rig.told() == ["file created <b.md>", "created b.md 'b'"])


async def test_one_process_watches_and_the_next_takes_over(rig: KilnRig) -> None:
    rig.write("a.md", "a")
    first = start(rig)
    assert reads(first, "watching") == "watching"
    async with rig.kilns() as kilns:
        await kilns.open()
        await kilns.indexed()
        assert kilns.owner(NAME) == first.pid
        assert [info.id.path for info in await kilns.listed()] == ["a.md"]
        assert rig.completes == []

        rig.write("b.md", "b")
        assert reads(first, "event") == "event FileChanged"
        assert reads(first, "event") == "event NoteCreated"
        first.kill()
        first.wait()

        await watching(kilns)
        assert kilns.owner(NAME) == os.getpid()
        await rig.settled()
        assert rig.told() == []
    assert first.stdout is not None
    first.stdout.close()


async def test_a_note_renamed_beside_the_watching_process_is_told_by_the_one_that_did_it(rig: KilnRig) -> None:
    rig.write("a.md", "a")
    first = start(rig)
    reads(first, "watching")
    async with rig.kilns() as kilns:
        await kilns.open(watch=False)
        await kilns.rename(note("a.md"), "b.md")
    assert rig.told() == ["deleted a.md True", "created b.md 'b'", "renamed a.md b.md"]
    assert reads(first, "event") == "event FileMoved"
    rig.write("z.md", "z")
    assert [reads(first, "event") for _ in range(2)] == ["event FileChanged", "event NoteCreated"]
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert first.stdout is not None
    first.stdout.close()


def test_too_few_open_files_are_told_clearly_and_the_notes_are_indexed(rig: KilnRig) -> None:
    rig.write("a.md", "a")
    code = WATCHES.replace(
        "await kilns.open()",
        "import resource, os; resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[3]), 4096)); await kilns.open()",
    )
    for limit in range(24, 12, -1):
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(rig.root), str(rig.store), str(limit)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        line = process.stdout.readline()
        process.kill()
        process.wait()
        process.stdout.close()
        if "cannot be watched" in line:
            break
    assert "the system's limit on watchers is reached" in line
    assert "fs.inotify.max_user_instances" in line


@needs("unshare")
def test_the_limit_on_watched_folders_is_told_clearly_and_the_notes_are_indexed(rig: KilnRig) -> None:
    for number in range(40):
        rig.write(f"folder{number}/a.md", "a")
    limited = 'echo 10 > /proc/sys/user/max_inotify_watches && exec "$@"'
    if subprocess.run(["unshare", "-U", "-r", "sh", "-c", limited, "sh", "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system lets nobody limit the watches of a user namespace")

    process = start(rig, "unshare", "-U", "-r", "sh", "-c", limited, "sh")
    try:
        problem = reads(process, "problem")
        assert "the system's limit on watched folders is reached" in problem
        assert "fs.inotify.max_user_watches" in problem
        assert reads(process, "indexed") == "indexed 40"
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def test_the_room_loads_its_libraries_late(tmp_path: Path) -> None:
    late = {"numpy", "wordllama", "watchfiles", "yaml", "anyio"}
    code = f"import sys, treblehook.kiln, treblehook.kiln.tools; print(sorted({late} & set(sys.modules)))"

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout == "[]\n"
