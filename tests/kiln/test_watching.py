"""What is announced of files and notes while a kiln is watched."""

import os
import shutil
import sqlite3

import pytest

from tests.support.kiln_rig import KilnRig, note
from tests.support.notes import write_notes
from treblehook.lifecycle.daemon_events import DaemonEvent, FileChanged, NoteCreated, NoteEvent, NoteModified


async def test_case_122_a_new_file_is_a_created_note_once(rig: KilnRig) -> None:
    async with rig.watched():
        rig.write("Daily/new.md", "---\ntitle: The new one\n---\n# Not this\n")
        told = await rig.settled()

    assert told == ["file created <Daily/new.md>", "created Daily/new.md 'The new one'"]
    [event] = [event for event in rig.events if isinstance(event, NoteCreated) and event.path == "Daily/new.md"]
    assert (event.kiln, event.target) == ("notes", "Daily/new.md")


async def test_case_124_a_deleted_file_is_a_deleted_note_that_existed(rig: KilnRig) -> None:
    rig.write("a.md", "a")
    async with rig.watched() as kilns:
        (rig.root / "a.md").unlink()
        assert await rig.settled() == ["file deleted <a.md>", "deleted a.md True"]
        assert await kilns.info(note("a.md")) is None


async def test_case_124_deleting_an_unknown_note_says_that_it_did_not_exist(rig: KilnRig) -> None:
    async with rig.watched() as kilns:
        assert await kilns.delete(note("nowhere.md")) is False
        assert rig.told() == ["deleted nowhere.md False"]


async def test_a_saved_note_is_modified_once_however_it_is_written(rig: KilnRig) -> None:
    rig.write("a.md", "one")
    async with rig.watched():
        for text in ("two", "three", "four"):
            rig.write("a.md", text)
        assert await rig.settled() == ["file modified <a.md>", "modified a.md content"]


async def test_an_unchanged_file_is_no_modified_note(rig: KilnRig) -> None:
    rig.write("a.md", "one")
    async with rig.watched():
        rig.write("a.md", "one")
        assert await rig.settled() == ["file modified <a.md>"]


async def test_a_file_that_comes_and_goes_is_nothing(rig: KilnRig) -> None:
    async with rig.watched():
        rig.write("a.md", "one").unlink()
        assert await rig.settled() == []


@pytest.mark.parametrize("draft", [".a.md.swp", "a.md.tmp", "draft.md"])
async def test_saving_by_a_rename_is_one_modification(rig: KilnRig, draft: str) -> None:
    rig.write("a.md", "one")
    async with rig.watched():
        rig.write(draft, "two").replace(rig.root / "a.md")
        assert await rig.settled() == ["file modified <a.md>", "modified a.md content"]


async def test_saving_with_a_backup_is_one_modification(rig: KilnRig) -> None:
    rig.write("a.md", "one")
    async with rig.watched():
        backup = (rig.root / "a.md").rename(rig.root / "a.md~")
        rig.write("a.md", "two")
        backup.unlink()
        assert await rig.settled() == ["file modified <a.md>", "modified a.md content"]


async def test_a_file_that_was_moved_is_told_as_that_and_the_note_as_deleted_and_created(rig: KilnRig) -> None:
    rig.write("a.md", "# Anchor")
    rig.write("Daily/x.md", "x")
    async with rig.watched():
        (rig.root / "a.md").rename(rig.root / "Daily" / "b.md")
        told = await rig.settled()

    assert told == ["file moved <a.md> <Daily/b.md>", "deleted a.md True", "created Daily/b.md 'Anchor'"]


async def test_a_file_moved_over_another_one_deletes_the_one_and_modifies_the_other(rig: KilnRig) -> None:
    rig.write("a.md", "a")
    rig.write("b.md", "b")
    async with rig.watched():
        (rig.root / "a.md").rename(rig.root / "b.md")
        assert await rig.settled() == ["file deleted <a.md>", "deleted a.md True", "file modified <b.md>", "modified b.md content"]


async def test_a_folder_that_was_moved_moves_its_notes(rig: KilnRig) -> None:
    for path in ("old/a.md", "old/deep/b.md"):
        rig.write(path, path)
    async with rig.watched():
        (rig.root / "old").rename(rig.root / "new")
        told = await rig.settled()
        rig.write("new/deep/b.md", "changed")
        later = (await rig.settled())[len(told) :]

    assert sorted(told) == [
        "created new/a.md 'a'",
        "created new/deep/b.md 'b'",
        "deleted old/a.md True",
        "deleted old/deep/b.md True",
        "file moved <old/a.md> <new/a.md>",
        "file moved <old/deep/b.md> <new/deep/b.md>",
    ]
    assert later == ["file modified <new/deep/b.md>", "modified new/deep/b.md content"]


async def test_folders_that_come_from_elsewhere_and_go_there(rig: KilnRig) -> None:
    outside = rig.root.with_name("outside")
    (outside / "deep").mkdir(parents=True)
    (outside / "deep" / "a.md").write_text("a")
    async with rig.watched():
        outside.rename(rig.root / "inside")
        came = await rig.settled()
        (rig.root / "inside").rename(outside)
        went = (await rig.settled())[len(came) :]

    assert came == ["file created <inside/deep/a.md>", "created inside/deep/a.md 'a'"]
    assert went == ["file deleted <inside/deep/a.md>", "deleted inside/deep/a.md True"]


async def test_a_tree_that_is_made_at_once_is_seen_whole(rig: KilnRig) -> None:
    async with rig.watched():
        paths = [f"{'/'.join(f'level{level}' for level in range(depth + 1))}/note.md" for depth in range(12)]
        for path in paths:
            rig.write(path, path)
        await rig.until(lambda: len(rig.notes_told()) >= 12)
        assert sorted(rig.notes_told()) == sorted(f"created {path} 'note'" for path in paths)


async def test_a_tree_that_is_removed_is_told_note_by_note(rig: KilnRig) -> None:
    for path in ("tree/a.md", "tree/b/c.md", "tree/b/picture.png"):
        rig.write(path, path)
    async with rig.watched():
        shutil.rmtree(rig.root / "tree")
        told = await rig.settled()

    assert sorted(told) == ["deleted tree/a.md True", "deleted tree/b/c.md True", "file deleted <tree/a.md>", "file deleted <tree/b/c.md>"]


@pytest.mark.parametrize(
    "path", [".git/a.md", ".obsidian/a.md", ".crucible/a.md", "x/.treblehook/a.md", "node_modules/a/b.md", ".hidden.md", "a.png", "md"]
)
async def test_what_is_no_note_is_not_told(rig: KilnRig, path: str) -> None:
    async with rig.watched() as kilns:
        rig.write(path, "x")
        assert await rig.settled() == []
        assert [info.id.path for info in await kilns.listed()] == ["barrier1.md"]


@pytest.mark.parametrize("path", ["a.md", "a.markdown", "a.txt", "a.canvas", "A.MD"])
async def test_every_kind_of_note_is_told(rig: KilnRig, path: str) -> None:
    async with rig.watched():
        rig.write(path, "x")
        assert await rig.settled() == [f"file created <{path}>", f"created {path} {path[0]!r}"]


async def test_a_symbolic_link_is_no_note(rig: KilnRig) -> None:
    secret = rig.root.with_name("secret.md")
    secret.write_text("secret")
    async with rig.watched() as kilns:
        (rig.root / "link.md").symlink_to(secret)
        (rig.root / "loop").symlink_to(rig.root)
        assert await rig.settled() == []
        assert await kilns.search("secret") == []


async def test_a_note_that_becomes_a_link_is_gone(rig: KilnRig) -> None:
    rig.write("a.md", "a")
    other = rig.root.with_name("other.md")
    other.write_text("other")
    async with rig.watched():
        (rig.root / "draft").symlink_to(other)
        (rig.root / "draft").rename(rig.root / "a.md")
        assert await rig.settled() == ["file deleted <a.md>", "deleted a.md True"]


async def test_a_note_that_is_too_big_is_a_changed_file_and_a_problem(rig: KilnRig) -> None:
    async with rig.watched():
        rig.write("big.md").open("r+b").truncate(200 * 1024 * 1024)
        assert await rig.settled() == ["file created <big.md>"]
        # It is reported right behind the events.
        await rig.until(lambda: bool(rig.problems))
    assert "209,715,200 bytes" in rig.problems[0].message


async def test_the_index_knows_before_the_note_is_told(rig: KilnRig) -> None:
    known: list[list[str]] = []
    async with rig.watched():
        reader = sqlite3.connect(rig.store / "notes.sqlite3")

        def tell(event: DaemonEvent) -> None:
            rig.events.append(event)
            if isinstance(event, NoteEvent):
                known.append([path for (path,) in reader.execute("SELECT path FROM notes WHERE path = ?", (event.path,))])

        rig.on_event = tell
        rig.write("a.md", "a")
        await rig.settled()
        (rig.root / "a.md").unlink()
        await rig.settled()
        reader.close()

    assert known == [["a.md"], ["barrier1.md"], [], ["barrier2.md"]]


async def test_many_files_at_once_are_each_told_once(rig: KilnRig) -> None:
    async with rig.watched():
        written = write_notes(rig.root, 3_000)
        await rig.until(lambda: len([event for event in rig.events if isinstance(event, NoteCreated)]) >= 3_000)
        told = await rig.settled()

    assert sorted(line.split(" ", 1)[1].rsplit(" '", 1)[0].rsplit(' "', 1)[0] for line in told if line.startswith("created ")) == written
    assert sorted(line for line in told if line.startswith("file ")) == sorted(f"file created <{path}>" for path in written)


async def test_a_name_that_is_no_utf_8_is_told_with_replacements_and_stops_nothing(rig: KilnRig) -> None:
    async with rig.watched() as kilns:
        file = rig.write(os.fsdecode(b"caf\xe9.md"), "# Coffee")
        await rig.until(lambda: len(rig.told()) >= 2)
        assert await rig.settled() == ["file created <caf\ufffd.md>", "created caf\ufffd.md 'Coffee'"]
        assert await kilns.read(note("caf\ufffd.md")) == "# Coffee"
        assert await kilns.write(note("caf\ufffd.md"), "# Tea") == "modified"
        file.unlink()
        await rig.until(lambda: "deleted caf\ufffd.md True" in rig.told())
        rig.write("after.md", "after")
        await rig.until(lambda: any(isinstance(event, FileChanged) and event.path.endswith("/after.md") for event in rig.events))


async def test_a_note_written_by_a_tool_is_told_once(rig: KilnRig) -> None:
    async with rig.watched() as kilns:
        assert await kilns.write(note("a.md"), "# One") == "created"
        await rig.settled()
        assert await kilns.write(note("a.md"), "# Two") == "modified"
        assert await kilns.write(note("a.md"), "# Two") == "unchanged"
        await rig.settled()
        assert await kilns.delete(note("a.md")) is True
        await rig.settled()

    assert rig.notes_told() == ["created a.md 'One'", "modified a.md content", "deleted a.md True"]
    assert [line for line in rig.told() if line.startswith("file ")] == [
        "file created <a.md>",
        "file modified <a.md>",
        "file deleted <a.md>",
    ]


async def test_a_renamed_note_is_told_once(rig: KilnRig) -> None:
    rig.write("a.md", "# A")
    rig.write("b.md", "see [[a]]")
    async with rig.watched() as kilns:
        await kilns.rename(note("a.md"), "c.md")
        await rig.settled()

    assert rig.notes_told() == ["deleted a.md True", "created c.md 'A'", "modified b.md links", "renamed a.md c.md"]


async def test_two_kilns_tell_with_their_names(rig: KilnRig) -> None:
    other = rig.root.with_name("other")
    other.mkdir()
    async with rig.kilns(other=other) as kilns:
        await kilns.open()
        await kilns.watching()
        (other / "a.md").write_text("a")
        rig.write("a.md", "a")
        await rig.until(lambda: len([event for event in rig.events if isinstance(event, NoteEvent)]) == 2)

    assert {event.kiln for event in rig.events if isinstance(event, NoteEvent)} == {"notes", "other"}


async def test_a_note_that_is_written_all_the_time_is_told_now_and_then(rig: KilnRig) -> None:
    rig.write("log.md", "0")
    async with rig.watched():
        number = 0

        def told() -> bool:
            nonlocal number
            number += 1
            rig.write("log.md", str(number))
            return len([event for event in rig.events if isinstance(event, NoteModified)]) >= 2

        await rig.until(told)
