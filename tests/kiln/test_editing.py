"""Notes that are written, deleted and read through the kiln."""

import asyncio
import os
from pathlib import Path

import pytest

from tests.support.kiln_rig import NAME, KilnRig, disk_takes, note
from treblehook.host.notes import NoteId, NoteInfo, NoteProblem
from treblehook.kiln import editing
from treblehook.kiln.files.reading import LARGEST


async def test_a_note_is_created_then_modified_then_unchanged(rig: KilnRig) -> None:
    async with rig.indexed() as kilns:
        written = [await kilns.write(note("Deep/er/a.md"), text) for text in ("# One", "# Two", "# Two")]
        assert written == ["created", "modified", "unchanged"]
        assert rig.told() == ["created Deep/er/a.md 'One'", "modified Deep/er/a.md content"]
        assert await kilns.read(note("Deep/er/a.md")) == rig.text("Deep/er/a.md") == "# Two"
        assert await kilns.delete(note("Deep/er/a.md")) is True
        assert rig.told()[2:] == ["deleted Deep/er/a.md True"]
        assert not (rig.root / "Deep/er/a.md").exists()


async def test_what_is_known_of_a_note(rig: KilnRig) -> None:
    file = rig.write("Daily/a.md", "---\ntags: [x]\n---\n# Title #y\n[[b|c]] [[b]] [[D/e#f]] [g](h.md)")
    os.utime(file, (1_000_000, 1_000_000))
    rig.write("Dailyx.md")
    rig.write("Daily/b/c.md")
    async with rig.indexed() as kilns:
        info = NoteInfo(note("Daily/a.md"), "Title #y", ("x", "y"), ("b", "D/e"), 1_000_000.0)
        assert await kilns.info(note("Daily/a.md")) == info
        assert await kilns.info(note("nowhere.md")) is None
        assert [one.id.path for one in await kilns.listed(folder="Daily")] == ["Daily/a.md", "Daily/b/c.md"]
        assert [one.id.path for one in await kilns.listed(folder="Daily/b/")] == ["Daily/b/c.md"]
        assert len(await kilns.listed()) == 3
        assert await kilns.listed(kilns=()) == []


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("../out.md", "holds `..`, which leads out of the kiln"),
        ("a/../../out.md", "holds `..`"),
        ("/etc/note.md", "is absolute"),
        ("a.png", "is no note; its name must end with .md, .markdown, .canvas, .txt"),
        ("", "is no note"),
        ("a/", "is no note"),
        (".hidden.md", "is no note"),
        (".obsidian/a.md", "is in the folder '.obsidian', where no notes are kept"),
        ("node_modules/a.md", "is in the folder 'node_modules'"),
        ("a\0.md", "holds a NUL character"),
        ("a\ud800.md", "holds half of a surrogate pair"),
        ("link/a.md", "leads through a symbolic link"),
        ("link.md", "is a symbolic link"),
        ("file.md/a.md", "Not a directory"),
        ("folder.md", "is a folder"),
        ("a" * 300 + ".md", "File name too long"),
    ],
)
async def test_a_path_that_no_note_can_have_is_refused(rig: KilnRig, tmp_path: Path, path: str, why: str) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside.md").write_text("secret")
    (rig.root / "link").symlink_to(tmp_path / "outside")
    (rig.root / "link.md").symlink_to(tmp_path / "outside.md")
    rig.write("file.md")
    (rig.root / "folder.md").mkdir()
    before = sorted(rig.root.rglob("*"))
    async with rig.indexed() as kilns:
        with pytest.raises(NoteProblem) as raised:
            await kilns.write(note(path), "text")
        assert why in str(raised.value)
        assert str(raised.value).startswith("notes: ")
        with pytest.raises(NoteProblem):
            await kilns.rename(note("file.md"), path)
    assert sorted(rig.root.rglob("*")) == before
    assert (tmp_path / "outside.md").read_text() == "secret"
    assert list((tmp_path / "outside").iterdir()) == []
    assert rig.told() == []


async def test_needless_parts_of_a_path_are_removed(rig: KilnRig) -> None:
    async with rig.indexed() as kilns:
        await kilns.write(note("./a//b.md"), "x")
    assert rig.told() == ["created a/b.md 'b'"]


async def test_an_unknown_kiln_is_named_with_those_that_there_are(rig: KilnRig) -> None:
    async with rig.indexed() as kilns:
        for attempt in (kilns.read(NoteId("nope", "a.md")), kilns.search("x", kilns=["nope"]), kilns.listed(kilns=["nope"])):
            with pytest.raises(NoteProblem, match=r"nope: there is no kiln of this name; there are: notes"):
                await attempt


async def test_a_note_that_is_not_there_cannot_be_read(rig: KilnRig) -> None:
    async with rig.indexed() as kilns:
        with pytest.raises(NoteProblem, match=r"notes: a\.md does not exist"):
            await kilns.read(note("a.md"))


async def test_a_text_that_cannot_be_stored_is_refused(rig: KilnRig) -> None:
    async with rig.indexed() as kilns:
        with pytest.raises(NoteProblem, match="half of a surrogate pair"):
            await kilns.write(note("a.md"), "\ud800")
        with pytest.raises(NoteProblem, match=f"a note has {LARGEST:,} at most"):
            await kilns.write(note("a.md"), "x" * (LARGEST + 1))
    assert list(rig.root.iterdir()) == []


async def test_a_full_disk_under_the_index_is_told_and_the_old_index_is_intact(rig: KilnRig) -> None:
    rig.write("a.md", "anchor")
    async with rig.indexed() as kilns:
        disk_takes(kilns, 1)
        with pytest.raises(
            NoteProblem, match=r"notes: b\.md was written, but the index .*notes\.sqlite3 cannot be used: database or disk is full"
        ):
            await kilns.write(note("b.md"), "treasure " * 50_000)
        assert [hit.id.path for hit in await kilns.search("anchor treasure")] == ["a.md"]
        assert rig.told() == []
        with pytest.raises(NoteProblem, match="database or disk is full"):
            await kilns.index(NAME)
        disk_takes(kilns, 1_000_000)
        await kilns.index(NAME)
        assert {hit.id.path for hit in await kilns.search("treasure")} == {"b.md"}


async def test_a_full_disk_under_the_kiln_leaves_the_note_as_it_was(rig: KilnRig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.write("a.md", "before")

    def full(path: Path, name: str, data: bytes) -> bool:
        raise OSError(28, "No space left on device")

    async with rig.indexed() as kilns:
        monkeypatch.setattr(editing, "write_file", full)
        with pytest.raises(NoteProblem, match=r"notes: a\.md cannot be written: No space left on device"):
            await kilns.write(note("a.md"), "after")
        assert rig.text("a.md") == "before"
        assert (await kilns.search("before"))[0].id == note("a.md")


async def test_a_write_that_nobody_waits_for_is_announced(rig: KilnRig) -> None:
    async with rig.indexed() as kilns:
        writing = asyncio.ensure_future(kilns.write(note("a.md"), "x"))
        await asyncio.sleep(0)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        await rig.until(lambda: bool(rig.events))
    assert rig.told() == ["created a.md 'a'"]


async def test_writes_at_once_are_told_in_the_order_in_which_they_happen(rig: KilnRig) -> None:
    async with rig.indexed() as kilns:
        await asyncio.gather(*(kilns.write(note("a.md"), f"# {number}") for number in range(30)))
        assert rig.text("a.md") == "# 29"
        assert rig.told() == ["created a.md '0'", *["modified a.md content"] * 29]


async def test_the_same_text_in_a_file_that_is_not_indexed_yet_is_left_to_the_watcher(rig: KilnRig) -> None:
    async with rig.watched() as kilns:
        rig.write("a.md", "# A")
        await kilns.write(note("a.md"), "# A")
        await rig.settled()
    assert rig.notes_told() == ["created a.md 'A'"]


async def test_backlinks_are_the_notes_whose_links_mean_it(rig: KilnRig) -> None:
    rig.write("Islands/Reef.md", "[[Reef]]")
    rig.write("by stem.md", "[[reef|there]]")
    rig.write("by path.md", "[[Islands/Reef#part]]")
    rig.write("Islands/relative.md", "[x](Reef.md) [[./Reef]]")
    rig.write("wrong folder.md", "[x](Reef.md)")
    rig.write("code.md", "`[[Reef]]`")
    rig.write("board.canvas", '{"nodes":[{"type":"file","file":"Islands/Reef.md"}]}')
    async with rig.indexed() as kilns:
        found = [one.path for one in await kilns.backlinks(note("Islands/Reef.md"))]
        assert found == ["Islands/Reef.md", "Islands/relative.md", "board.canvas", "by path.md", "by stem.md"]
        rig.write("Other/Reef.md")
        await kilns.index(NAME)
        found = [one.path for one in await kilns.backlinks(note("Islands/Reef.md"))]
        assert found == ["Islands/relative.md", "board.canvas", "by path.md"], "a name that two notes have means neither"
