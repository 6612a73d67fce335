"""A process that is killed in the middle of a renaming: the next pass carries it to its end (crucible.md 7.5)."""

import signal
import subprocess
import sys

import pytest

from tests.support.kiln_rig import NAME, KilnRig, note
from treblehook.kiln.renaming.journal import Begun, Journal

_RENAMES = """
import asyncio, os, signal, sys
from pathlib import Path
from treblehook.host.notes import NoteId
from treblehook.kiln.kiln import Hearer
from treblehook.kiln.kilns import Kilns
from treblehook.kiln.renaming import files, rename

def dies(*given):
    os.kill(os.getpid(), signal.SIGKILL)

root, store, phase = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
if phase == "begun":
    rename.FileChanges.move = dies
elif phase == "both names":
    os.unlink = dies
elif phase == "indexed":
    rename.Journal.end = dies
elif phase != "done":
    left = int(phase)
    whole = files.write_file
    def write(*given):
        global left
        left -= 1
        if left < 0:
            dies()
        return whole(*given)
    files.write_file = write

async def main():
    async with Kilns({"notes": root}, store, Hearer(lambda event: None), lambda: None) as kilns:
        await kilns.open(watch=False)
        await kilns.rename(NoteId("notes", "old.md"), "sub/new.md")

asyncio.run(main())
"""

LINKING = {"a.md": "[[old]] ", "b.md": "![[old#Map|there]] ", "c/d.md": "[x](../old.md) ", "z.md": "[[old]] "}
LINKED = {"a.md": "[[new]] ", "b.md": "![[new#Map|there]] ", "c/d.md": "[x](../sub/new.md) ", "z.md": "[[new]] "}
OLD = "# Old\n[[old]] [up](a.md)"
NEW = "# Old\n[[new]] [up](../a.md)"


def rename_until(rig: KilnRig, phase: str) -> int:
    command = [sys.executable, "-c", _RENAMES, str(rig.root), str(rig.store), phase]
    return subprocess.run(command, timeout=60, check=False).returncode


async def begin(rig: KilnRig) -> None:
    for path, text in {**LINKING, "old.md": OLD}.items():
        rig.write(path, text)
    async with rig.indexed():
        pass
    rig.events.clear()


@pytest.mark.parametrize("phase", ["both names", "0", "1", "2", "3", "4", "indexed"])
async def test_a_renaming_that_was_killed_is_finished_by_the_next_pass(rig: KilnRig, phase: str) -> None:
    await begin(rig)
    assert rename_until(rig, phase) == -signal.SIGKILL
    async with rig.indexed() as kilns:
        assert not (rig.root / "old.md").exists()
        assert rig.text("sub/new.md") == NEW
        assert {path: rig.text(path) for path in LINKED} == LINKED
        assert [one.path for one in await kilns.backlinks(note("sub/new.md"))] == sorted([*LINKED, "sub/new.md"])
        told = rig.told()
        assert told[:2] == ["deleted old.md True", "created sub/new.md 'Old'"]
        assert told[-1] == "renamed old.md sub/new.md"
        await kilns.index(NAME)
        assert rig.told() == told, "it is finished once"


async def test_a_renaming_that_had_moved_nothing_has_never_been(rig: KilnRig) -> None:
    await begin(rig)
    assert rename_until(rig, "begun") == -signal.SIGKILL
    async with rig.indexed():
        assert rig.text("old.md") == OLD
        assert {path: rig.text(path) for path in LINKING} == LINKING
        assert rig.told() == []


async def test_a_renaming_that_came_to_its_end_leaves_no_word(rig: KilnRig) -> None:
    await begin(rig)
    assert rename_until(rig, "done") == 0
    assert not (rig.store / "notes.renaming").exists()


async def test_what_was_written_meanwhile_stays(rig: KilnRig) -> None:
    await begin(rig)
    assert rename_until(rig, "1") == -signal.SIGKILL
    rig.write("b.md", "mine, with [[old]]")
    rig.write("sub/new.md", "mine [up](a.md)")
    async with rig.indexed():
        assert rig.text("b.md") == "mine, with [[new]]"
        assert rig.text("sub/new.md") == "mine [up](a.md)", "whether its links were repointed already cannot be told any more"


async def test_another_note_that_took_the_name_meanwhile_stays(rig: KilnRig) -> None:
    await begin(rig)
    assert rename_until(rig, "begun") == -signal.SIGKILL
    rig.write("sub/new.md", "another")
    async with rig.indexed():
        assert (rig.text("old.md"), rig.text("sub/new.md"), rig.text("a.md")) == (OLD, "another", "[[old]] ")


async def test_a_word_waits_for_a_disk_that_is_away(rig: KilnRig) -> None:
    await begin(rig)
    assert rename_until(rig, "0") == -signal.SIGKILL
    away = rig.root.with_name("away")
    rig.root.rename(away)
    async with rig.indexed() as kilns:
        assert rig.told() == []
        away.rename(rig.root)
        await kilns.index(NAME)
        assert {path: rig.text(path) for path in LINKED} == LINKED


@pytest.mark.parametrize("begun", [Begun("../../x.md", "a.md", ""), Begun("a.md", "../../x.md", ""), Begun("/etc/passwd", "/etc/x", "")])
async def test_a_word_that_leads_out_of_the_kiln_moves_nothing(rig: KilnRig, begun: Begun) -> None:
    await begin(rig)
    outside = rig.root.parent.parent / "x.md"
    outside.write_text("outside")
    Journal(rig.store / "notes.sqlite3").begin(begun)
    async with rig.indexed():
        assert outside.read_text() == "outside"
        assert {path: rig.text(path) for path in LINKING} == LINKING
    assert not (rig.store / "notes.renaming").exists()


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[]", b'{"source": 1}'])
async def test_a_word_that_cannot_be_read_stops_nothing(rig: KilnRig, content: bytes) -> None:
    await begin(rig)
    (rig.store / "notes.renaming").write_bytes(content)
    async with rig.indexed() as kilns:
        assert await kilns.rename(note("old.md"), "sub/new.md")
    assert {path: rig.text(path) for path in LINKED} == LINKED
