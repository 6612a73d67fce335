"""The file of an index: private, of one version, made anew where it is of no use, shared by processes, safe from kill -9."""

import asyncio
import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.kiln_rig import NAME, KilnRig, note
from tests.support.notes import write_notes
from treblehook.host.notes import NoteProblem
from treblehook.kiln.index import database as database_module
from treblehook.kiln.index.errors import IndexDamaged
from treblehook.kiln.kilns import KilnsMissing
from treblehook.kiln.watching import listening, watch

INDEXES = """
import asyncio, sys
from pathlib import Path
from treblehook.kiln.kiln import Hearer
from treblehook.kiln.kilns import Kilns

async def main():
    root, store = map(Path, sys.argv[1:3])
    hearer = Hearer(lambda event: print("event", event, flush=True), report=lambda problem: print("problem", problem, flush=True))
    kilns = Kilns({"notes": root}, store, hearer, lambda: None)
    await kilns.open(watch=False)
    print("open", flush=True)
    if len(sys.argv) > 3:
        sys.stdin.readline()
    complete = await kilns.index("notes", progress=lambda progress: print("at", progress.done, flush=True))
    print("complete", complete.processed, complete.skipped, complete.errors, flush=True)
    await kilns.close()

asyncio.run(main())
"""


def start(rig: KilnRig, *more: str) -> "subprocess.Popen[str]":
    argv = [sys.executable, "-c", INDEXES, str(rig.root), str(rig.store), *more]
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def file_of(rig: KilnRig) -> Path:
    return rig.store / "notes.sqlite3"


async def test_nobody_else_can_read_it(rig: KilnRig) -> None:
    rig.write("a.md", "secret")
    async with rig.indexed():
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in rig.store.iterdir()}

    assert set(modes.values()) == {0o600}
    assert {"notes.sqlite3", "notes.sqlite3-wal", "notes.sqlite3-shm"} <= modes.keys()
    assert stat.S_IMODE(rig.store.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda file: file.write_bytes(b"no database at all " * 500), "it was damaged (file is not a database)"),
        (lambda file: file.write_bytes(file.read_bytes()[:5000]), "it was damaged (database disk image is malformed)"),
        (lambda file: sqlite3.connect(file).execute("PRAGMA user_version = 99"), "it was of version 99, and this is version 1"),
        (lambda file: sqlite3.connect(file).execute("PRAGMA application_id = 5"), "it was no index of notes"),
    ],
)
async def test_an_index_of_no_use_is_made_anew_and_that_is_told(rig: KilnRig, damage: "object", why: str) -> None:
    rig.write("a.md", "a")
    async with rig.indexed():
        pass
    assert callable(damage)
    damage(file_of(rig))
    async with rig.indexed() as kilns:
        assert [info.id.path for info in await kilns.listed()] == ["a.md"]

    assert [problem.message for problem in rig.problems] == [f"kiln notes: its index was made anew: {why}"]
    assert rig.told() == []


async def test_an_empty_file_becomes_an_index(rig: KilnRig) -> None:
    rig.store.mkdir()
    file_of(rig).touch()
    async with rig.indexed():
        assert rig.problems == []


async def test_the_index_of_another_folder_is_made_anew_and_nothing_deleted(rig: KilnRig) -> None:
    rig.write("a.md", "a")
    async with rig.indexed():
        pass
    rig.root = rig.root.rename(rig.root.with_name("moved"))
    (rig.root / "a.md").rename(rig.root / "b.md")
    async with rig.indexed() as kilns:
        assert [info.id.path for info in await kilns.listed()] == ["b.md"]
    assert rig.told() == []


async def test_a_folder_for_indexes_that_cannot_be_made_stops_no_other_kiln(rig: KilnRig, tmp_path: Path) -> None:
    rig.store.write_text("in the way")
    async with rig.kilns() as kilns:
        await kilns.open(watch=False)
        assert kilns.kilns == (NAME,)
        with pytest.raises(NoteProblem, match=r"notes: this kiln is not open; the index .* cannot be used"):
            await kilns.read(note("a.md"))
        assert await kilns.search("x") == []
    assert "kiln notes: the index" in rig.problems[0].message


async def test_two_processes_open_and_index_at_once(rig: KilnRig) -> None:
    write_notes(rig.root, 600)
    processes = [start(rig, "wait") for _ in range(4)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate()[0].splitlines() for process in processes]

    assert all(lines[0] == "open" for lines in outputs), outputs
    done = [line.split()[1:] for lines in outputs for line in lines if line.startswith("complete")]
    assert [int(processed) + int(skipped) for processed, skipped, _ in done] == [600] * 4
    assert {errors for *_, errors in done} == {"0"}
    assert not [line for lines in outputs for line in lines if line.startswith(("event", "problem"))]
    async with rig.indexed() as kilns:
        assert len(await kilns.listed()) == 600
    assert integrity(rig) == "ok"


def integrity(rig: KilnRig) -> str:
    connection = sqlite3.connect(file_of(rig))
    try:
        connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")
        return str(connection.execute("PRAGMA integrity_check").fetchone()[0])
    finally:
        connection.close()


async def test_a_pass_that_is_killed_goes_on_where_it_was(rig: KilnRig) -> None:
    write_notes(rig.root, 1_500)
    process = start(rig)
    assert process.stdout is not None
    reached = 0
    for line in process.stdout:
        if line.startswith("at ") and (reached := int(line.split()[1])) >= 512:
            break
    process.kill()
    process.communicate()

    assert integrity(rig) == "ok"
    async with rig.indexed() as kilns:
        assert len(await kilns.listed()) == 1_500
    complete = rig.completes[-1]
    # What was written just before it was read is looked at once more, and found unchanged.
    assert complete.processed <= 1_500 - reached
    assert complete.processed + complete.skipped == 1_500
    assert rig.told() == []
    assert rig.problems == []


def test_a_disk_that_takes_no_more_is_told_and_the_next_run_goes_on(rig: KilnRig) -> None:
    write_notes(rig.root, 900)
    # What a process may write to a file is limited, as if the disk were full.
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, resource.RLIM_INFINITY))\n" + INDEXES
    limited = subprocess.run([sys.executable, "-c", code, str(rig.root), str(rig.store)], capture_output=True, text=True, check=False)
    assert limited.returncode == 1
    assert "NoteProblem: notes: the index" in limited.stderr
    assert integrity(rig) == "ok"

    free = start(rig).communicate()[0]
    assert "complete" in free
    assert integrity(rig) == "ok"


async def test_without_its_libraries_it_says_how_to_get_them(rig: KilnRig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    async with rig.kilns() as kilns:
        with pytest.raises(KilnsMissing, match=r"watchfiles is not installed\): pip install 'treblehook\[kiln\]'"):
            await kilns.open()


async def test_another_process_that_writes_is_waited_for_and_then_told(rig: KilnRig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "_PATIENCE_SECONDS", 0.05)
    async with rig.indexed() as kilns:
        other = sqlite3.connect(file_of(rig), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(NoteProblem, match="database is locked"):
            await kilns.write(note("a.md"), "a")
        assert "a.md" not in os.listdir(rig.root)
        other.execute("ROLLBACK")
        other.close()
        assert await kilns.write(note("a.md"), "a") == "created"


def spoil(rig: KilnRig, statement: str) -> None:
    """Damage the index as a bad disk would, from outside."""
    with closing(sqlite3.connect(file_of(rig))) as database, database:
        database.execute("PRAGMA writable_schema = ON")
        database.execute(statement)


SPOILED = ("DELETE FROM words_data WHERE id > 10", "DELETE FROM words_data", "DELETE FROM words_config")


@pytest.mark.parametrize("statement", SPOILED)
async def test_damage_that_a_search_comes_upon_is_made_good_by_it(rig: KilnRig, statement: str) -> None:
    for number in range(20):
        rig.write(f"{number}.md", f"# Note {number}\nthe treasure of island {number}")
    async with rig.indexed():
        pass
    spoil(rig, statement)
    async with rig.kilns() as kilns:
        await kilns.open(watch=False)
        found = await asyncio.gather(*(kilns.search("treasure", limit=100) for _ in range(5)))
        assert [len(one) for one in found] == [20] * 5
        assert [str(problem.message).count("made anew") for problem in rig.problems] == [1]
        assert rig.events == []
        assert len(rig.completes) == 2, "it was indexed again once, for all of them"


async def test_damage_that_a_change_comes_upon_ends_in_a_full_pass(rig: KilnRig, monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(*given: object) -> None:
        monkeypatch.undo()
        raise IndexDamaged(file_of(rig), sqlite3.DatabaseError("database disk image is malformed"))

    rig.write("a.md", "# A\nthe treasure of the island")
    async with rig.watched() as kilns:
        monkeypatch.setattr(watch, "_RETRY_SECONDS", 0.0)
        monkeypatch.setattr(listening, "absorb", damaged)
        rig.write("a.md", "# A\nthe wreck")
        await rig.until(lambda: len(rig.completes) == 2)
        await kilns.watching()
        assert [one.id.path for one in await kilns.search("wreck")] == ["a.md"]
        assert await kilns.search("treasure") == []


def held(rig: KilnRig) -> "subprocess.Popen[str]":
    argv = [sys.executable, "-c", HOLDS, str(rig.store / "notes.lock")]
    holder = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    holder.stdout.readline()
    return holder


async def test_an_index_that_another_process_looks_after_is_not_taken_from_under_it(rig: KilnRig) -> None:
    rig.write("a.md", "# A\nthe treasure")
    async with rig.watched():
        pass
    spoil(rig, SPOILED[1])
    holder = held(rig)
    inode = file_of(rig).stat().st_ino
    async with rig.kilns() as kilns:
        await kilns.open(watch=False)
        with pytest.raises(NoteProblem, match="damaged"):
            await kilns.search("treasure")
    assert file_of(rig).stat().st_ino == inode
    holder.communicate("", timeout=60)


HOLDS = """
import sys
from pathlib import Path
from treblehook.kiln.watching.ownership import Ownership
owned = Ownership.take(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""
