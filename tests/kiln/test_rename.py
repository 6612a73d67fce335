"""A note is moved, its inbound links follow, and either all of it happens or nothing."""

import os
from pathlib import Path

import pytest

from tests.support.kiln_rig import KilnRig, disk_takes, note
from treblehook.host.notes import NoteProblem
from treblehook.kiln.renaming import files
from treblehook.lifecycle.daemon_events import DaemonEvent, NoteRenamed


async def renamed(rig: KilnRig, source: str, destination: str) -> list[str]:
    """Rename; answers the paths of the rewritten notes."""
    async with rig.indexed() as kilns:
        return [one.path for one in await kilns.rename(note(source), destination)]


async def test_case_128_a_rename_is_deleted_created_renamed_and_the_index_knows(rig: KilnRig) -> None:
    rig.write("Inbox/x.md", "# X")
    async with rig.indexed() as kilns:
        database = vars(kilns)["_open"]["notes"].index
        known: list[tuple[bool, bool]] = []

        def tell(event: DaemonEvent) -> None:
            rig.events.append(event)
            if isinstance(event, NoteRenamed):
                known.append((database.info("Daily/x.md") is not None, database.info("Inbox/x.md") is not None))

        rig.on_event = tell
        await kilns.rename(note("Inbox/x.md"), "Daily/x.md")

    assert rig.told() == ["deleted Inbox/x.md True", "created Daily/x.md 'X'", "renamed Inbox/x.md Daily/x.md"]
    assert known == [(True, False)]
    assert rig.text("Daily/x.md") == "# X"
    assert not (rig.root / "Inbox/x.md").exists()
    assert rig.events[-1].target == "Daily/x.md"


async def test_rewritten_notes_are_told_before_the_rename(rig: KilnRig) -> None:
    rig.write("a.md", "a")
    rig.write("y.md", "[[a]]")
    rig.write("x.md", "[[a]]")
    assert await renamed(rig, "a.md", "b.md") == ["x.md", "y.md"]
    assert rig.told() == ["deleted a.md True", "created b.md 'b'", "modified x.md links", "modified y.md links", "renamed a.md b.md"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[[Old]]", "[[New]]"),
        ("[[old]]", "[[New]]"),
        ("[[Old|alias]] [[Old#Part]] [[Old#^block|x]] ![[Old]]", "[[New|alias]] [[New#Part]] [[New#^block|x]] ![[New]]"),
        ("[[ Old ]]", "[[ New ]]"),
        ("[[Old.md]]", "[[New.md]]"),
        ("[[Sea/Old]] [[Sea/Old.md#x]]", "[[Land/New]] [[Land/New.md#x]]"),
        ("| [[Old\\|x]] |", "| [[New\\|x]] |"),
        ("[x](Sea/Old.md#part) ![x](<Sea/Old.md> 'title')", "[x](Land/New.md#part) ![x](<Land/New.md> 'title')"),
        ("[ref]: Sea/Old.md", "[ref]: Land/New.md"),
        ("---\nup: '[[Old]]'\n---\n", "---\nup: '[[New]]'\n---\n"),
        ("`[[Old]]`\n```\n[[Old]]\n```\n\\[[Old]] [[Older]] [[Sea]] [x](Old.md)", None),
        ("[[Old]]\r\n[[Old]]\r\n", "[[New]]\r\n[[New]]\r\n"),
        ("\ufeff[[Old]]", "\ufeff[[New]]"),
    ],
)
async def test_inbound_links_are_repointed_as_they_are_written(rig: KilnRig, before: str, after: str | None) -> None:
    rig.write("Sea/Old.md", "old")
    rig.write("linking.md", before)
    rewritten = await renamed(rig, "Sea/Old.md", "Land/New.md")

    assert rig.text("linking.md") == (before if after is None else after)
    assert rewritten == ([] if after is None else ["linking.md"])


async def test_bytes_that_are_no_utf_8_stay(rig: KilnRig) -> None:
    rig.write("a.md", "a")
    rig.write("b.md", b"caf\xe9 [[a]] \xff")
    await renamed(rig, "a.md", "c.md")
    assert (rig.root / "b.md").read_bytes() == b"caf\xe9 [[c]] \xff"


async def test_a_move_that_keeps_the_name_leaves_short_links(rig: KilnRig) -> None:
    rig.write("a.md", "a")
    rig.write("b.md", "[[a]]")
    assert await renamed(rig, "a.md", "Deep/a.md") == []
    assert rig.text("b.md") == "[[a]]"


async def test_ambiguous_names_are_left_alone(rig: KilnRig) -> None:
    rig.write("x/a.md", "a")
    rig.write("y/a.md", "a")
    rig.write("b.md", "[[a]] [[x/a]]")
    assert await renamed(rig, "x/a.md", "x/c.md") == ["b.md"]
    assert rig.text("b.md") == "[[a]] [[x/c]]"


async def test_a_name_that_another_note_has_is_written_with_its_folder(rig: KilnRig) -> None:
    rig.write("a.md", "a")
    rig.write("x/c.md", "c")
    rig.write("b.md", "[[a]]")
    await renamed(rig, "a.md", "y/c.md")
    assert rig.text("b.md") == "[[y/c]]"


async def test_a_note_that_links_to_itself(rig: KilnRig) -> None:
    rig.write("a.md", "[[a]] [x](a.md) [[#here]]")
    assert await renamed(rig, "a.md", "Deep/b.md") == []
    assert rig.text("Deep/b.md") == "[[b]] [x](b.md) [[#here]]"
    assert rig.told() == ["deleted a.md True", "created Deep/b.md 'b'", "renamed a.md Deep/b.md"]


async def test_what_a_moved_note_names_from_where_it_was_is_still_found(rig: KilnRig) -> None:
    rig.write("x/pic.png", "png")
    rig.write("x/other.md", "o")
    rig.write("x/a.md", "![p](pic.png) [o](other.md) [[./other]] [u](../up.md) [gone](nowhere.md) [[other]]")
    rig.write("up.md", "u")
    await renamed(rig, "x/a.md", "y/z/a.md")
    assert (
        rig.text("y/z/a.md")
        == "![p](../../x/pic.png) [o](../../x/other.md) [[../../x/other]] [u](../../up.md) [gone](nowhere.md) [[other]]"
    )


async def test_links_with_spaces_and_other_alphabets(rig: KilnRig) -> None:
    rig.write("a.md", "a")
    rig.write("b.md", "[x](a.md) [y](<a.md>) [[a]]")
    await renamed(rig, "a.md", "Ärchiv 1/寶 (藏).md")
    assert rig.text("b.md") == "[x](Ärchiv%201/寶%20%28藏%29.md) [y](<Ärchiv 1/寶 %28藏%29.md>) [[寶 (藏)]]"


async def test_canvases_follow(rig: KilnRig) -> None:
    rig.write("x/a.md", "a")
    rig.write("b.canvas", '{"nodes":[{"file":"x/a.md"},{"text":"[[a]]"},{"file":"a.md"}]}')
    await renamed(rig, "x/a.md", 'y/"q".md')
    assert rig.text("b.canvas") == '{"nodes":[{"file":"y/\\"q\\".md"},{"text":"[[\\"q\\"]]"},{"file":"a.md"}]}'


@pytest.mark.parametrize("name", ["a|b.md", "a#b.md", "[a].md", "a^b.md", " a.md", "a.md.md"])
async def test_a_name_that_no_link_can_have_is_refused_where_notes_link_to_it(rig: KilnRig, name: str) -> None:
    rig.write("old.md", "a")
    rig.write("free.md", "f")
    rig.write("b.md", "[[old]]")
    async with rig.indexed() as kilns:
        with pytest.raises(NoteProblem, match=r"notes: old\.md cannot be renamed to .*: notes link to it, and no link can have this name"):
            await kilns.rename(note("old.md"), name)
        assert rig.told() == []
        assert rig.text("old.md") == "a"
        assert await kilns.rename(note("free.md"), name) == []


async def test_a_change_of_case_is_a_rename(rig: KilnRig) -> None:
    rig.write("note.md", "a")
    rig.write("b.md", "[[note]] [x](note.md)")
    await renamed(rig, "note.md", "NOTE.md")
    assert sorted(os.listdir(rig.root)) == ["NOTE.md", "b.md"]
    assert rig.text("b.md") == "[[note]] [x](note.md)", "these mean it in any case"


@pytest.mark.parametrize(
    ("source", "destination", "why"),
    [
        ("nowhere.md", "b.md", "nowhere.md does not exist"),
        ("a.md", "there.md", "there.md exists already"),
        ("a.md", "folder.md", "folder.md exists already"),
        ("a.md", "a.md", "a.md is its path already"),
        ("a.md", "there.md/b.md", "Not a directory"),
        ("a.md", "b.png", "is no note"),
        ("a.md", "../b.md", "leads out of the kiln"),
    ],
)
async def test_what_cannot_be_renamed_stays(rig: KilnRig, source: str, destination: str, why: str) -> None:
    rig.write("a.md", "a")
    rig.write("there.md", "[[a]]")
    (rig.root / "folder.md").mkdir()
    async with rig.indexed() as kilns:
        with pytest.raises(NoteProblem) as raised:
            await kilns.rename(note(source), destination)
        assert why in str(raised.value)
        assert [one.id.path for one in await kilns.listed()] == ["a.md", "there.md"]
    assert (rig.told(), rig.text("a.md"), rig.text("there.md")) == ([], "a", "[[a]]")


async def test_a_failure_in_the_middle_takes_everything_back(rig: KilnRig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.write("a.md", "[[a]]")
    for name in ("x.md", "y.md", "z.md"):
        rig.write(name, "[[a]]")
    write = files.write_file

    def full(path: Path, name: str, data: bytes) -> bool:
        if path.name == "z.md":
            raise OSError(28, "No space left on device")
        return write(path, name, data)

    monkeypatch.setattr(files, "write_file", full)
    async with rig.indexed() as kilns:
        with pytest.raises(NoteProblem, match=r"a\.md cannot be renamed to New/b\.md: No space left on device$"):
            await kilns.rename(note("a.md"), "New/b.md")
        assert [one.id.path for one in await kilns.listed()] == ["a.md", "x.md", "y.md", "z.md"]
    assert {path.name: path.read_text() for path in rig.root.iterdir()} == dict.fromkeys(["a.md", "x.md", "y.md", "z.md"], "[[a]]")
    assert rig.told() == []


async def test_what_cannot_be_taken_back_is_told_and_indexed(rig: KilnRig, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.md", "x.md", "z.md"):
        rig.write(name, "[[a]]")
    write = files.write_file

    def full(path: Path, name: str, data: bytes) -> bool:
        if path.name == "z.md":
            # Somebody else saves another note at the very moment.
            rig.write("x.md", "another text")
            raise OSError(28, "No space left on device")
        return write(path, name, data)

    monkeypatch.setattr(files, "write_file", full)
    async with rig.indexed() as kilns:
        with pytest.raises(NoteProblem, match=r"No space left on device; and not all of it could be undone: .*x\.md keeps its new links"):
            await kilns.rename(note("a.md"), "b.md")
        assert rig.told() == ["modified x.md content"]
        assert [hit.id.path for hit in await kilns.search("another")] == ["x.md"]
    assert (rig.text("a.md"), rig.text("x.md"), rig.text("z.md")) == ("[[a]]", "another text", "[[a]]")


async def test_an_index_that_cannot_be_written_takes_the_files_back(rig: KilnRig) -> None:
    rig.write("a.md", "treasure " * 50_000)
    rig.write("b.md", "[[a]]")
    async with rig.indexed() as kilns:
        disk_takes(kilns, 1)
        with pytest.raises(NoteProblem, match="database or disk is full"):
            await kilns.rename(note("a.md"), "c.md")
        disk_takes(kilns, 1_000_000)
        assert sorted(os.listdir(rig.root)) == ["a.md", "b.md"]
        assert rig.text("b.md") == "[[a]]"
        assert rig.told() == []
        assert [one.path for one in await kilns.rename(note("a.md"), "c.md")] == ["b.md"]


async def test_a_linking_note_that_cannot_be_read_stops_it_before_anything_happens(rig: KilnRig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.write("a.md", "a")
    rig.write("b.md", "[[a]]")
    async with rig.indexed() as kilns:
        with (rig.root / "b.md").open("r+b") as file:
            file.truncate(200 * 1024 * 1024)
        with pytest.raises(NoteProblem, match=r"b\.md links to a\.md and cannot be read: it has 209,715,200 bytes"):
            await kilns.rename(note("a.md"), "c.md")
    assert sorted(os.listdir(rig.root)) == ["a.md", "b.md"]


async def test_the_mode_of_a_rewritten_note_stays(rig: KilnRig) -> None:
    rig.write("a.md", "a")
    rig.write("b.md", "[[a]]").chmod(0o640)
    await renamed(rig, "a.md", "c.md")
    assert (rig.root / "b.md").stat().st_mode & 0o777 == 0o640
