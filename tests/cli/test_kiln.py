"""`treblehook kiln`: the real command on real notes."""

import json
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_run import COMMAND, Running, Stage
from tests.support.notes import write_notes
from tests.support.terminal import Terminal


class Notes(Stage):
    """A home whose one kiln is `notes`."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.kiln = folder / "notes"
        self.kiln.mkdir()
        self.home.settings(f'[kilns]\nnotes = "{self.kiln}"\n')

    def kiln_command(self, command: str, *arguments: str) -> list[str]:
        """The arguments of a command of `kiln`."""
        return ["kiln", command, *arguments, "--home", str(self.home.folder)]

    def starts(self, command: str, *arguments: str) -> Running:
        """Start a command; it writes JSON lines."""
        argv = [*COMMAND, *self.kiln_command(command, *arguments, "--output", "jsonl")]
        return Running(argv, self.folder / "stderr", self.environment())


@pytest.fixture
def stage(tmp_path: Path) -> Notes:
    return Notes(tmp_path)


@pytest.fixture
def watching(stage: Notes) -> Iterator[Running]:
    (stage.kiln / "a.md").write_text("a")
    running = stage.starts("watch")
    running.until("process_complete")
    yield running
    running.process.kill()
    running.end()


def test_index_tells_what_it_did_and_does_nothing_twice(stage: Notes) -> None:
    write_notes(stage.kiln, 40)

    first = stage.bare(*stage.kiln_command("index"))
    again = stage.bare(*stage.kiln_command("index", "notes"))

    assert (first.status, first.out, first.err) == (0, "notes: 40 notes: 40 indexed, 0 unchanged or left out, 0 unreadable\n", "")
    assert again.out == "notes: 40 notes: 0 indexed, 40 unchanged or left out, 0 unreadable\n"
    assert stage.bare(*stage.kiln_command("index", "--force")).out.startswith("notes: 40 notes: 40 indexed")


def test_index_as_json_lines(stage: Notes) -> None:
    write_notes(stage.kiln, 5)
    stage.bare(*stage.kiln_command("index"))
    next(stage.kiln.rglob("*.md")).unlink()

    ran = stage.bare(*stage.kiln_command("index", "--output", "jsonl"))

    assert [record["type"] for record in ran.records] == ["progress", "event", "process_complete"] or [
        record["type"] for record in ran.records
    ] == ["event", "progress", "process_complete"]
    [event] = [record for record in ran.records if record["type"] == "event"]
    assert (event["event"], event["kiln"], event["existed"]) == ("NoteDeleted", "notes", True)
    assert ran.records[-1] == {
        "type": "process_complete", "kiln": "notes", "discovered": 4, "processed": 0, "skipped": 4, "errors": 0, "removed": 1,
    }  # fmt: skip


def test_a_person_sees_a_bar(stage: Notes) -> None:
    write_notes(stage.kiln, 300)
    terminal = Terminal([*COMMAND, *stage.kiln_command("index")], stage.workspace, stage.environment())

    terminal.shows("indexing notes")
    terminal.shows("300/300")
    assert terminal.ended() == 0
    assert "notes: 300 notes: 300 indexed" in terminal.text
    terminal.close()


def test_ctrl_c_stops_and_the_next_run_goes_on(stage: Notes) -> None:
    write_notes(stage.kiln, 2_500)
    running = stage.starts("index")
    for record in running.records():
        if record["type"] == "progress" and record["done"] >= 256:
            break
    running.signal(signal.SIGINT)
    status, records, err = running.end()

    assert (status, err) == (130, "stopped; the next run goes on from here\n")
    assert not [record for record in records if record["type"] == "process_complete"]
    complete = stage.bare(*stage.kiln_command("index", "--output", "jsonl")).records
    [done] = [record for record in complete if record["type"] == "process_complete"]
    assert done["discovered"] == 2_500
    assert done["skipped"] >= 256


def test_search_answers_notes(stage: Notes) -> None:
    (stage.kiln / "map.md").write_text("# The map\nwhere the treasure is #chest")
    assert stage.bare(*stage.kiln_command("search", "treasure")).err == "nothing is indexed yet: treblehook kiln index\n"
    stage.bare(*stage.kiln_command("index"))

    text = stage.bare(*stage.kiln_command("search", "treasure"))
    [record] = stage.bare(*stage.kiln_command("search", "treasure", "--output", "jsonl", "--kiln", "notes", "--limit", "1")).records

    assert (text.status, text.out) == (0, "notes: map.md\n  The map\n  # The map where the treasure is #chest\n")
    assert record == {"type": "note", "kiln": "notes", "path": "map.md", "title": "The map", "score": 1.0, "tags": ["chest"]}
    assert stage.bare(*stage.kiln_command("search", 'never "found (')).out == ""


def test_rename_moves_a_note_and_tells_everything(stage: Notes) -> None:
    (stage.kiln / "a.md").write_text("a")
    (stage.kiln / "b.md").write_text("[[a]]")

    ran = stage.bare(*stage.kiln_command("rename", "notes", "a.md", "Deep/c.md"))

    assert ran.status == 0
    assert [line.split() for line in ran.out.splitlines()[1:]] == [
        ["NoteDeleted", "notes:", "a.md"],
        ["NoteCreated", "notes:", "Deep/c.md"],
        ["NoteModified", "notes:", "b.md"],
        ["NoteRenamed", "notes:", "a.md", "->", "Deep/c.md"],
    ]
    assert (stage.kiln / "b.md").read_text() == "[[c]]"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("rename", "notes", "nowhere.md", "b.md"), "error: notes: nowhere.md does not exist"),
        (("rename", "notes", "a.md", "../b.md"), "error: notes: ../b.md holds `..`, which leads out of the kiln"),
        (("rename", "nope", "a.md", "b.md"), "error: nope: there is no kiln of this name; there are: notes"),
        (("index", "nope"), "error: nope: there is no kiln of this name; there are: notes"),
        (("search", "x", "--kiln", "nope"), "error: nope: there is no kiln of this name; there are: notes"),
    ],
)
def test_what_cannot_be_done_is_one_line(stage: Notes, arguments: tuple[str, ...], why: str) -> None:
    (stage.kiln / "a.md").write_text("a")

    ran = stage.bare(*stage.kiln_command(*arguments))

    assert (ran.status, ran.err) == (1, f"{why}\n")


@pytest.mark.parametrize("command", [("index",), ("search", "x"), ("rename", "notes", "a.md", "b.md"), ("watch",)])
@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ("", 'kilns: there are none (name a folder of notes: [kilns] and notes = "~/notes")'),
        ("[kilns]\nnotes = 5", "kilns.notes: found 5 (allowed: the absolute path of a folder; a leading ~ is your home folder)"),
    ],
)
def test_a_home_without_kilns_is_told(stage: Notes, command: tuple[str, ...], settings: str, why: str) -> None:
    stage.home.settings(settings)

    ran = stage.bare(*stage.kiln_command(*command))

    assert (ran.status, ran.out, ran.err) == (2, "", f"error: {stage.home.folder}/config.toml: {why}\n")


def test_a_missing_folder_is_told_and_nothing_is_deleted(stage: Notes) -> None:
    write_notes(stage.kiln, 10)
    stage.bare(*stage.kiln_command("index"))
    stage.kiln.rename(stage.folder / "away")

    ran = stage.bare(*stage.kiln_command("index"))

    assert ran.out == "notes: 0 notes: 0 indexed, 0 unchanged or left out, 1 unreadable\n"
    assert "cannot be read: No such file or directory; what the index knows of its notes is kept" in ran.err
    rows = sqlite3.connect(stage.home.folder / "kilns" / "notes.sqlite3").execute("SELECT count(*) FROM notes").fetchone()
    assert rows == (10,)


def test_watch_tells_events_until_it_is_stopped(stage: Notes, watching: Running) -> None:
    while True:
        (stage.kiln / "a.md").write_text("b")
        event = watching.until("event")[-1]
        if event["event"] == "NoteModified":
            break
    assert (event["kiln"], event["path"], event["change"]) == ("notes", "a.md", "content")
    watching.signal(signal.SIGINT)
    status, _, err = watching.end()
    assert (status, err) == (130, "watching notes\n")


@pytest.mark.parametrize("command", [("watch",), ("rename", "notes", "a.md", "b.md"), ("index", "--force")])
def test_one_process_looks_after_a_kiln(stage: Notes, watching: Running, command: tuple[str, ...]) -> None:
    ran = stage.bare(*stage.kiln_command(*command))

    assert ran.status == 1
    assert f"process {watching.process.pid}" in ran.err
    assert (stage.kiln / "a.md").exists()


def test_beside_a_process_that_watches_there_is_nothing_to_index_and_search_works(stage: Notes, watching: Running) -> None:
    ran = stage.bare(*stage.kiln_command("index"))
    assert (ran.status, ran.out) == (0, "")
    assert f"is kept up to date by a running treblehook (process {watching.process.pid})" in ran.err
    found = stage.bare(*stage.kiln_command("search", "a", "--output", "jsonl")).out
    assert [json.loads(line)["path"] for line in found.splitlines()] == ["a.md"]
