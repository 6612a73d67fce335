"""Which notes reach the model, and as what: what the handlers of the session VM and of the plugin VM answer."""

import pytest

from tests.agent.precognition.sent import bind, block, titles
from tests.support.contract_stubs import lua
from tests.support.nest import Nest
from tests.support.rows import Rows
from tests.support.shelf import Shelf, found
from treblehook.agent.session import Session
from treblehook.engine import Tier
from treblehook.lifecycle import ChooseNotes, NoteChoice, NotesChosen, NotesRetrieved, RenderNotes

ALL = ["Palm", "Chest", "Crow"]


def choose(*indices: int) -> ChooseNotes:
    return ChooseNotes(tuple(NoteChoice(index) for index in indices))


async def test_case_104_notes_come_in_the_order_in_which_they_are_chosen(nest: Nest, session: Session) -> None:
    bind(session, lua(NotesRetrieved, choose(2, 1)))

    await session.prompt("where?")

    assert titles(nest) == ["Chest", "Palm"]


async def test_case_105_a_snippet_replaces_the_text_under_the_real_title(nest: Nest, session: Session) -> None:
    bind(session, lua(NotesRetrieved, ChooseNotes((NoteChoice(1, "short"),))))

    await session.prompt("where?")

    sent = block(nest)
    assert sent is not None
    assert titles(nest) == ["Palm"]
    assert "short" in sent.text
    assert "All about Palm" not in sent.text


async def test_case_106_choosing_none_injects_nothing_and_asks_no_formatter(nest: Nest, session: Session, rows: Rows) -> None:
    bind(session, lua(NotesRetrieved, choose()), lua(NotesChosen, RenderNotes("X")))

    end = await session.prompt("where?")

    assert (end.status, end.text) == ("finished", "Reply 0.")
    assert block(nest) is None
    assert rows.of(NotesChosen) == []


async def test_case_108_without_a_decision_all_notes_are_injected(nest: Nest, session: Session) -> None:
    bind(session, lua(NotesRetrieved, None), lua(NotesRetrieved, ValueError("not a list"), vm=Tier.PLUGIN))

    await session.prompt("where?")

    assert titles(nest) == ALL


async def test_case_109_unusable_choices_are_dropped_with_a_warning(nest: Nest, session: Session) -> None:
    bind(session, lua(NotesRetrieved, choose(99, 1, 1, 0, -3), name="chooser"))

    await session.prompt("where?")

    assert titles(nest) == ["Palm"]
    assert "chooser chose notes that were not found, or twice: 99, 1, 0, -3" in nest.ears.rows()


async def test_case_110_a_choice_of_which_nothing_is_left_is_not_a_suppression(nest: Nest, session: Session) -> None:
    bind(session, lua(NotesRetrieved, choose(99, 7)))

    await session.prompt("where?")

    assert titles(nest) == ALL


async def test_case_112_the_session_vm_chooses_and_the_plugin_vm_is_not_asked(nest: Nest, session: Session) -> None:
    asked: list[str] = []
    bind(session, lua(NotesRetrieved, lambda event: asked.append("plugin"), vm=Tier.PLUGIN), lua(NotesRetrieved, choose(3)))

    await session.prompt("where?")

    assert titles(nest) == ["Crow"]
    assert asked == []


async def test_case_113_the_plugin_vm_chooses_where_the_session_vm_passes(nest: Nest, session: Session) -> None:
    bind(session, lua(NotesRetrieved, None), lua(NotesRetrieved, choose(2), vm=Tier.PLUGIN))

    await session.prompt("where?")

    assert titles(nest) == ["Chest"]


async def test_case_114_a_failure_in_the_session_vm_leaves_it_to_the_plugin_vm(nest: Nest, session: Session) -> None:
    bind(session, lua(NotesRetrieved, ValueError("nil")), lua(NotesRetrieved, choose(2), vm=Tier.PLUGIN))

    await session.prompt("where?")

    assert titles(nest) == ["Chest"]


async def test_case_116_a_choice_within_the_budget_is_untouched_and_one_beyond_it_is_cut(
    nest: Nest, session: Session, shelf: Shelf, rows: Rows
) -> None:
    shelf.found = [found(str(number), "é" * 2000) for number in range(3)]
    exact = ChooseNotes((NoteChoice(1, "é" * 2900), NoteChoice(2, "é" * 100)))
    beyond = ChooseNotes((NoteChoice(1, "é" * 2901), NoteChoice(2, "é" * 100)))
    answers = iter([exact, beyond])
    bind(session, lua(NotesRetrieved, lambda event: next(answers)))

    await session.prompt("where?")
    await session.prompt("where?")

    assert [event.char_budget for event in rows.of(NotesRetrieved)] == [3000, 3000]
    lengths = [[len(note.snippet) for note in event.notes] for event in rows.of(NotesChosen)]
    assert lengths == [[2900, 100], [1500, 100]]
    sent = block(nest)
    assert sent is not None
    assert sent.text.count("é") == 1600


async def test_case_117_a_note_names_its_kiln_and_no_path(session: Session, shelf: Shelf, rows: Rows) -> None:
    shelf.found = [found("Palm", folder="/home/dev/notes/"), found("Chest", kiln="")]

    await session.prompt("where?")

    (retrieved,), (chosen,) = rows.of(NotesRetrieved), rows.of(NotesChosen)
    for event in (retrieved, chosen):
        assert [(note.title, note.kiln) for note in event.notes] == [("Palm", "notes"), ("Chest", None)]
        assert "/" not in str(event.notes)


async def test_case_118_the_first_text_is_the_whole_block(nest: Nest, session: Session) -> None:
    asked: list[str] = []
    bind(session, lua(NotesChosen, RenderNotes("X")), lua(NotesChosen, lambda event: asked.append("plugin"), vm=Tier.PLUGIN))

    await session.prompt("where?")

    sent = block(nest)
    assert sent is not None
    assert sent.text == "X"
    assert asked == []


async def test_the_text_of_a_hook_is_not_cut(nest: Nest, session: Session) -> None:
    bind(session, lua(NotesChosen, RenderNotes("X" * 5000)))

    await session.prompt("where?")

    sent = block(nest)
    assert sent is not None
    assert len(sent.text) == 5000


@pytest.mark.parametrize("text", ["", " \n\t"])
async def test_case_120_a_blank_text_injects_nothing(nest: Nest, session: Session, text: str) -> None:
    bind(session, lua(NotesChosen, RenderNotes(text)))

    await session.prompt("where?")

    assert block(nest) is None


async def test_case_120_a_failing_formatter_leaves_it_to_the_next(nest: Nest, session: Session) -> None:
    bind(session, lua(NotesChosen, ValueError("a table")), lua(NotesChosen, RenderNotes("Y"), vm=Tier.PLUGIN))

    await session.prompt("where?")

    sent = block(nest)
    assert sent is not None
    assert sent.text == "Y"


async def test_without_notes_the_choice_is_told_and_the_formatter_is_not(nest: Nest, session: Session, shelf: Shelf, rows: Rows) -> None:
    shelf.found = []
    bind(session, lua(NotesRetrieved, choose(1)), lua(NotesChosen, RenderNotes("X")))

    await session.prompt("where?")

    (retrieved,) = rows.of(NotesRetrieved)
    assert (retrieved.prompt, retrieved.notes) == ("where?", ())
    assert rows.of(NotesChosen) == []
    assert block(nest) is None
