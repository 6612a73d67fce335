"""A pass over a whole kiln: silent but for what is gone, and never fooled by a disk that is not there."""

import asyncio
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.kiln_rig import NAME, KilnRig, note
from tests.support.notes import write_notes
from treblehook.kiln.files.reading import LARGEST
from treblehook.kiln.index.index import NoteIndex
from treblehook.kiln.indexing.full_pass import STEP, FullPass, ProcessComplete
from treblehook.kiln.indexing.run import Progress


async def again(rig: KilnRig) -> ProcessComplete:
    """Close and open, as a daemon does that was down meanwhile."""
    rig.events.clear()
    async with rig.indexed():
        return rig.completes[-1]


async def paths(rig: KilnRig) -> list[str]:
    async with rig.kilns() as kilns:
        await kilns.open(watch=False)
        return [info.id.path for info in await kilns.listed()]


@contextmanager
def gone(rig: KilnRig) -> Iterator[None]:
    """The kiln's disk is not mounted: its folder is another one, and empty."""
    away = rig.root.with_name("away")
    rig.root.rename(away)
    rig.root.mkdir()
    yield
    rig.root.rmdir()
    away.rename(rig.root)


async def test_case_125_the_first_open_announces_no_note(rig: KilnRig) -> None:
    written = write_notes(rig.root, 100)

    async with rig.watched():
        assert await rig.settled() == []

    assert rig.completes == [ProcessComplete(NAME, 100, 100, 0, 0)]
    assert await paths(rig) == sorted([*written, "barrier1.md"])


async def test_case_126_what_was_removed_while_nobody_watched_is_announced_once(rig: KilnRig) -> None:
    written = write_notes(rig.root, 40)
    async with rig.indexed():
        assert rig.told() == []
    for path in written[:3]:
        (rig.root / path).unlink()

    complete = await again(rig)

    assert rig.told() == [f"deleted {path} True" for path in written[:3]]
    assert complete == ProcessComplete(NAME, 37, 0, 37, 0, 3)
    await again(rig)
    assert rig.told() == []


async def test_case_132_a_missing_root_deletes_nothing(rig: KilnRig) -> None:
    written = write_notes(rig.root, 30)
    async with rig.indexed():
        pass
    away = rig.root.rename(rig.root.with_name("away"))

    complete = await again(rig)

    assert rig.told() == []
    assert complete == ProcessComplete(NAME, 0, 0, 0, 1)
    assert "the index knows of its notes is kept" in rig.problems[-1].message
    assert await paths(rig) == written
    away.rename(rig.root)
    assert await again(rig) == ProcessComplete(NAME, 30, 0, 30, 0)


async def test_the_empty_place_of_a_disk_deletes_nothing(rig: KilnRig) -> None:
    written = write_notes(rig.root, 30)
    async with rig.indexed():
        pass

    with gone(rig):
        await again(rig)
        assert rig.told() == []
        assert "if its disk is not mounted" in rig.problems[-1].message
        assert await paths(rig) == written

    assert await again(rig) == ProcessComplete(NAME, 30, 0, 30, 0)


async def test_a_kiln_that_was_emptied_loses_its_notes(rig: KilnRig) -> None:
    written = write_notes(rig.root, 5)
    async with rig.indexed():
        pass
    for entry in list(rig.root.iterdir()):
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()

    await again(rig)

    assert rig.told() == [f"deleted {path} True" for path in written]


def test_a_root_that_vanishes_in_the_middle_of_a_pass_deletes_nothing(rig: KilnRig) -> None:
    rig.write("a.md", "a")
    rig.write("b.md", "b")
    index = NoteIndex(NAME, rig.store / "notes.sqlite3", str(rig.root))
    first = FullPass(index, str(rig.root), force=False)
    first.look()
    first.step()
    first.sweep()
    (rig.root / "b.md").unlink()

    second = FullPass(index, str(rig.root), force=True)
    second.look()
    rig.root.rename(rig.root.with_name("away"))
    second.step()

    assert second.sweep() == []
    assert sorted(index.known()) == ["a.md", "b.md"]
    assert "went away while it was indexed" in second.problems[""]
    index.close()


async def test_a_folder_that_cannot_be_read_keeps_its_notes(rig: KilnRig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.write("open/a.md", "a")
    rig.write("closed/b.md", "b")
    rig.write("closed/deeper/c.md", "c")
    async with rig.indexed():
        pass
    scandir = os.scandir

    def refusing(path: str) -> object:
        if str(path).endswith("/closed"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    # Nobody can take a folder's rights from root, who may run the tests.
    monkeypatch.setattr(os, "scandir", refusing)
    complete = await again(rig)

    assert rig.told() == []
    assert (complete.errors, complete.removed) == (1, 0)
    assert rig.problems[-1].file == f"{rig.root}/closed"
    assert "cannot be read: Permission denied" in rig.problems[-1].message
    assert await paths(rig) == ["closed/b.md", "closed/deeper/c.md", "open/a.md"]


async def test_a_file_that_cannot_be_read_is_reported_and_kept(rig: KilnRig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.write("a.md", "# Map")
    async with rig.indexed():
        pass
    rig.write("a.md", "# Another")
    opened = os.open

    def refusing(path: str, flags: int, mode: int = 0o777) -> int:
        if str(path).endswith("a.md"):
            raise PermissionError(13, "Permission denied", path)
        return opened(path, flags, mode)

    monkeypatch.setattr(os, "open", refusing)
    complete = await again(rig)

    assert complete == ProcessComplete(NAME, 1, 0, 0, 1)
    assert rig.told() == []
    assert [problem.message for problem in rig.problems] == ["kiln notes: Permission denied"]
    assert await paths(rig) == ["a.md"]


async def test_an_unchanged_kiln_is_not_read_again(rig: KilnRig) -> None:
    for number in range(5):
        file = rig.write(f"{number}.md", f"note {number}")
        os.utime(file, (1_000_000, 1_000_000))
    async with rig.indexed():
        pass

    assert await again(rig) == ProcessComplete(NAME, 5, 0, 5, 0)


async def test_what_changed_while_nobody_watched_is_indexed_silently(rig: KilnRig) -> None:
    rig.write("a.md", "anchor")
    rig.write("b.md", "ballast")
    async with rig.indexed():
        pass
    rig.write("a.md", "cutlass")
    rig.write("c.md", "doubloon")

    rig.events.clear()
    async with rig.indexed() as kilns:
        found = [hit.id.path for word in ("cutlass", "doubloon", "anchor") for hit in await kilns.search(word)]

    assert rig.told() == []
    assert found == ["a.md", "c.md"]
    assert rig.completes[-1] == ProcessComplete(NAME, 3, 2, 1, 0)


async def test_the_same_size_and_time_do_not_hide_another_content(rig: KilnRig) -> None:
    file = rig.write("a.md", "anchor")
    os.utime(file, (1_000_000, 1_000_000))
    async with rig.indexed():
        pass
    rig.write("a.md", "cannon")
    os.utime(file, (1_000_000, 1_000_000))

    async with rig.indexed() as kilns:
        assert [hit.id.path for hit in await kilns.search("cannon")] == ["a.md"]


async def test_a_touched_file_is_unchanged(rig: KilnRig) -> None:
    file = rig.write("a.md", "anchor")
    async with rig.indexed():
        pass
    os.utime(file, (2_000_000, 2_000_000))

    assert await again(rig) == ProcessComplete(NAME, 1, 0, 1, 0)
    async with rig.indexed() as kilns:
        assert (await kilns.listed())[0].modified == 2_000_000


async def test_a_forced_pass_reads_everything_and_announces_nothing(rig: KilnRig) -> None:
    written = write_notes(rig.root, STEP + 50)
    seen: list[Progress] = []
    async with rig.indexed() as kilns:
        complete = await kilns.index(NAME, force=True, progress=seen.append)

    assert complete == ProcessComplete(NAME, len(written), len(written), 0, 0)
    assert rig.told() == []
    assert [(one.done, one.total) for one in seen] == [(0, 306), (STEP, 306), (306, 306)]


async def test_a_note_that_is_too_big_is_reported_with_the_limit(rig: KilnRig) -> None:
    rig.write("small.md", "small")
    with (rig.root / "big.md").open("wb") as file:
        file.truncate(200 * 1024 * 1024)

    complete = await again(rig)

    assert complete == ProcessComplete(NAME, 2, 1, 1, 0)
    assert str(rig.problems[0]) == f"{rig.root}/big.md: kiln notes: it has 209,715,200 bytes, and a note has {LARGEST:,} at most"


async def test_a_note_that_became_too_big_keeps_its_entry(rig: KilnRig) -> None:
    file = rig.write("log.md", "rum")
    async with rig.indexed():
        pass
    os.truncate(file, LARGEST + 1)

    await again(rig)

    assert rig.told() == []
    assert await paths(rig) == ["log.md"]


async def test_an_index_whose_damage_shows_only_in_the_work_is_made_anew(rig: KilnRig) -> None:
    write_notes(rig.root, 300)
    async with rig.indexed():
        pass
    database = rig.store / "notes.sqlite3"
    with database.open("r+b") as file:
        # Its first tables stay, so that it opens.
        file.seek(database.stat().st_size // 4)
        file.write(b"\xa5" * (database.stat().st_size // 2))

    async with rig.kilns() as kilns:
        await kilns.open(watch=False)
        assert rig.problems == []
        complete = await kilns.index(NAME, force=True)
        assert (complete.processed, len(await kilns.listed())) == (300, 300)

    assert "its index was made anew: it was damaged" in rig.problems[-1].message
    assert rig.told() == []


async def test_others_write_while_a_kiln_is_indexed(rig: KilnRig) -> None:
    write_notes(rig.root, STEP * 3)
    async with rig.kilns() as kilns:
        await kilns.open(watch=False)
        written: list[str] = []

        async def writes() -> None:
            written.append(await kilns.write(note("mine.md"), "# Mine"))

        pending: list[asyncio.Task[None]] = []

        def progress(one: Progress) -> None:
            if one.done == STEP:
                pending.append(asyncio.ensure_future(writes()))

        await kilns.index(NAME, progress=progress)
        assert pending[0].done(), "it waited for more than a step"

    assert written == ["created"]
    assert rig.told() == ["created mine.md 'Mine'"]


async def test_what_is_no_regular_file_is_left_out_and_told(rig: KilnRig) -> None:
    outside = rig.root.with_name("outside")
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    rig.write("a.md", "a")
    os.mkfifo(rig.root / "pipe.md")
    (rig.root / "link.md").symlink_to(outside / "secret.md")
    (rig.root / "loop").symlink_to(rig.root)
    (rig.root / "round.md").symlink_to("round.md")
    (rig.root / "out").symlink_to(outside)

    complete = await again(rig)

    assert complete == ProcessComplete(NAME, 1, 1, 0, 0)
    assert sorted(str(problem) for problem in rig.problems) == [
        f"{rig.root}/link.md: kiln notes: it is a symbolic link, and these are not followed",
        f"{rig.root}/pipe.md: kiln notes: it is a device, a pipe or a socket",
        f"{rig.root}/round.md: kiln notes: it is a symbolic link, and these are not followed",
    ]


async def test_names_that_are_no_utf_8_are_indexed_with_replacements(rig: KilnRig) -> None:
    rig.write(os.fsdecode(b"caf\xe9/\xff.md"), "# Coffee")
    rig.write(os.fsdecode(b"caf\xe9/\xfe.md"), "# Tea")

    complete = await again(rig)

    assert (complete.discovered, complete.processed, complete.errors) == (1, 1, 1)
    assert "only one of them is indexed" in rig.problems[0].message
    assert await paths(rig) == ["caf\ufffd/\ufffd.md"]
    assert await again(rig) == ProcessComplete(NAME, 1, 0, 1, 1)
    assert rig.told() == []


async def test_a_kiln_that_is_itself_behind_a_link_is_a_kiln(rig: KilnRig) -> None:
    rig.write("a.md", "a")
    real = rig.root
    rig.root = real.with_name("link")
    rig.root.symlink_to(real)
    async with rig.watched() as kilns:
        (real / "b.md").write_text("b")
        await rig.until(lambda: len(rig.events) == 2)
        assert await kilns.write(note("c/d.md"), "d") == "created"
        assert await kilns.read(note("c/d.md")) == "d"
    assert rig.notes_told() == ["created b.md 'b'", "created c/d.md 'd'"]
