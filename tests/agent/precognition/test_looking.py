"""When notes are looked for, in which kilns, and what becomes of a search that fails."""

import asyncio
from typing import Any

import pytest

from tests.agent.precognition.sent import bind, block, titles
from tests.support.hooks import stub
from tests.support.nest import Nest, bash
from tests.support.rows import Rows
from tests.support.shelf import Shelf, found
from treblehook.agent.context import precognition
from treblehook.agent.context.settings import Precognition
from treblehook.agent.session import Session
from treblehook.host.notes import NoteProblem
from treblehook.lifecycle import Block, Inject, Message, NotesRetrieved, PromptSubmitted, Reopen, TaskEnd


async def test_every_prompt_of_the_user_is_looked_up_once_in_the_sessions_kilns(nest: Nest, session: Session, shelf: Shelf) -> None:
    nest.plays(bash("echo 1", "echo 2"), bash("echo 3"), {"text": "Done."}, {"text": "Again."})

    await session.prompt("where?")
    await session.prompt("and", "what?")

    assert shelf.asked == [("where?", ("notes", "journal"), 5), ("and\n\nwhat?", ("notes", "journal"), 5)]


async def test_it_comes_after_the_tasks_start_and_before_the_request(nest: Nest, session: Session, rows: Rows) -> None:
    await session.prompt("where?")

    assert rows.log()[1:6] == ["PromptSubmitted", "TaskStart", "NotesRetrieved", "NotesChosen", "ModelRequest"]


async def test_the_settings_count(nest: Nest, session: Session, shelf: Shelf, rows: Rows) -> None:
    session.state.precognition = Precognition(results=2, char_budget=12)

    await session.prompt("where?")

    assert shelf.asked[0][2] == 2
    assert rows.only(NotesRetrieved).char_budget == 12
    sent = block(nest)
    assert sent is not None
    assert ("All ab" in sent.text, "All abo" in sent.text) == (True, False)


@pytest.mark.parametrize("change", [{"precognition": Precognition(enabled=False)}, {"kilns": ()}, {"notes": None}])
async def test_where_there_is_nothing_to_look_in_nobody_is_asked(
    nest: Nest, session: Session, shelf: Shelf, rows: Rows, change: dict[str, Any]
) -> None:
    for name, value in change.items():
        setattr(session.state, name, value)

    await session.prompt("where?")

    assert (shelf.asked, rows.of(NotesRetrieved), block(nest)) == ([], [], None)


@pytest.mark.parametrize("prompt", ["/search palm", "/search", "  \n"])
async def test_a_search_of_the_users_own_and_a_blank_prompt_are_not_looked_up(session: Session, shelf: Shelf, prompt: str) -> None:
    await session.prompt(prompt)

    assert shelf.asked == []


async def test_a_delivery_is_no_prompt(session: Session, shelf: Shelf) -> None:
    session.deliver(Message("user", "found it", source="subagent"))

    await session.prompt()

    assert shelf.asked == []


async def test_a_blocked_prompt_is_not_looked_up(session: Session, shelf: Shelf) -> None:
    bind(session, stub(PromptSubmitted, Block("no")))

    await session.prompt("where?")

    assert shelf.asked == []


async def test_held_text_is_not_what_the_user_said(session: Session, shelf: Shelf) -> None:
    session.state.hold(Inject("Listen."))

    await session.prompt("where?")

    assert shelf.asked[0][0] == "where?"


@pytest.mark.parametrize(
    ("fails", "row"),
    [
        (NoteProblem("the kiln notes is locked"), "no notes: the kiln notes is locked"),
        (OSError("disk gone"), "no notes: the search failed: OSError('disk gone')"),
        (asyncio.CancelledError(), "no notes: the search failed: None"),
    ],
)
async def test_a_search_that_fails_is_told_and_the_turn_goes_on(
    nest: Nest, session: Session, shelf: Shelf, rows: Rows, fails: BaseException, row: str
) -> None:
    shelf.fails = fails

    end = await session.prompt("where?")

    assert (end.status, block(nest)) == ("finished", None)
    assert nest.ears.rows() == [row]
    assert rows.of(NotesRetrieved) == []


async def test_a_search_that_takes_too_long_is_left_behind(
    nest: Nest, session: Session, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precognition, "_SECONDS", 0.01)
    shelf.go.clear()

    end = await session.prompt("where?")

    assert (end.status, block(nest)) == ("finished", None)
    assert nest.ears.rows() == ["no notes: the search took longer than 0 s"]


async def test_an_interruption_does_not_wait_for_the_search(nest: Nest, session: Session, shelf: Shelf) -> None:
    shelf.go.clear()
    turn = asyncio.ensure_future(session.prompt("where?"))
    await shelf.reached.wait()

    await session.interrupt()

    assert (await turn).status == "interrupted"
    assert nest.queries == []


async def test_a_reopened_task_is_looked_up_anew(nest: Nest, session: Session, shelf: Shelf) -> None:
    def reopen(event: TaskEnd) -> Reopen | None:
        shelf.found = [found("Anchor")]
        return Reopen("again") if len(shelf.asked) == 1 else None

    bind(session, stub(TaskEnd, reopen))

    await session.prompt("where?")

    assert [titles(nest, request) for request in (0, 1)] == [["Palm", "Chest", "Crow"], ["Anchor"]]
    assert [asked[0] for asked in shelf.asked] == ["where?", "where?"]


async def test_the_files_name_is_the_title(session: Session, shelf: Shelf, rows: Rows) -> None:
    shelf.found = [found("Daily.md"), found("A.B")]

    await session.prompt("where?")

    assert [note.title for note in rows.only(NotesRetrieved).notes] == ["Daily", "A.B"]
