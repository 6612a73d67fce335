"""`precognition_select` and `precognition_format`: which notes, and how they are told (crucible.md 3.6, 3.7)."""

import pytest

from tests.support.crucible_rig import LuaRig, returns
from treblehook.lifecycle import ChooseNotes, Note, NoteChoice, NotesChosen, NotesRetrieved, RenderNotes

FOUND = NotesRetrieved(
    session="s1",
    prompt="p",
    char_budget=3000,
    notes=(Note(1, "One", 0.9, "first", "notes"), Note(2, "Two", 0.5, "second"), Note(3, "Three", 0.4, "third", "work")),
)
CHOSEN = NotesChosen(session="s1", prompt="p", notes=FOUND.notes[:2])


def select(value: str, label: str = "ran") -> str:
    return returns("precognition_select", value, label)


def render(value: str, label: str = "ran") -> str:
    return returns("precognition_format", value, label)


async def test_case_104_a_choice_has_its_own_order(rig: LuaRig, kind: str) -> None:
    rig.load(kind, select("{{index = 2}, {index = 1}}"))
    assert (await rig.fire(FOUND)).decision == ChooseNotes((NoteChoice(2), NoteChoice(1)))


async def test_case_105_a_snippet_replaces_the_text_alone(rig: LuaRig, kind: str) -> None:
    rig.load(
        kind, select('{{index = 1, snippet = "short", title = "Mine", score = 1}, {index = 2, snippet = ""}, {index = 3, snippet = 5}}')
    )
    assert (await rig.fire(FOUND)).decision == ChooseNotes((NoteChoice(1, "short"), NoteChoice(2, ""), NoteChoice(3)))


async def test_case_106_an_empty_table_chooses_none(rig: LuaRig, kind: str) -> None:
    rig.load(kind, select("{}") + select("nil", "second"))
    assert (await rig.fire(FOUND)).decision == ChooseNotes(())
    assert rig.seen == [("ran",)]
    assert rig.lines == []


async def test_case_107_nil_leaves_it_to_the_next_and_to_the_built_in(rig: LuaRig, kind: str) -> None:
    rig.load(kind, select("nil") + select("nil", "second"))
    assert (await rig.fire(FOUND)).decision is None
    assert rig.seen == [("ran",), ("second",)]
    assert rig.lines == []


@pytest.mark.parametrize("value", ['"str"', "5", "true", "{foo = 1}", "event", '{{"x"}}', "{{}}", "{[1.5] = {index = 1}}"])
async def test_case_108_anything_else_is_told_and_decides_nothing(rig: LuaRig, kind: str, value: str) -> None:
    rig.load(kind, select(value) + select("nil", "second"))
    assert (await rig.fire(FOUND)).decision is None
    assert rig.warnings
    assert rig.seen == [("ran",), ("second",)]


@pytest.mark.parametrize("value", ["{cancel = true}", '{handled = true, result = "x"}', '{inject = {content = "x"}}'])
async def test_a_directive_decides_nothing_and_is_not_told(rig: LuaRig, kind: str, value: str) -> None:
    rig.load(kind, select(value))
    assert (await rig.fire(FOUND)).decision is None
    assert rig.warnings == []


async def test_case_109_entries_of_no_use_are_left_out(rig: LuaRig, kind: str) -> None:
    rig.load(kind, select('{{index = 99}, {index = 1}, {index = 1}, {index = "x"}}'))
    assert (await rig.fire(FOUND)).decision == ChooseNotes((NoteChoice(1),))
    assert len(rig.warnings) == 3


@pytest.mark.parametrize("index", ["0", "-1", "4", "1.5", '"1"', "true", "{}", "math.huge", "nil"])
async def test_case_110_only_entries_of_no_use_suppress_nothing(rig: LuaRig, kind: str, index: str) -> None:
    rig.load(kind, select(f'{{{{index = {index}, snippet = "x"}}}}'))
    assert (await rig.fire(FOUND)).decision is None


async def test_case_111_a_whole_float_is_an_index(rig: LuaRig, kind: str) -> None:
    rig.load(kind, select("{{index = 2 / 1}}"))
    assert (await rig.fire(FOUND)).decision == ChooseNotes((NoteChoice(2),))


async def test_case_112_the_sessions_choice_spares_the_plugins(rig: LuaRig) -> None:
    rig.load("plugin", select("{{index = 2}}", "plugin"))
    rig.load("session", select("{{index = 1}}", "session"))
    assert (await rig.fire(FOUND)).decision == ChooseNotes((NoteChoice(1),))
    assert rig.seen == [("session",)]


async def test_case_113_without_a_choice_of_the_session_the_plugins_choose(rig: LuaRig) -> None:
    rig.load("plugin", select("{{index = 2}}"))
    rig.load("session", select("nil"))
    assert (await rig.fire(FOUND)).decision == ChooseNotes((NoteChoice(2),))


@pytest.mark.parametrize("garbage", ['"str"', "{foo = 1}", "{{index = 99}}", "print", "{{index = 1, f = print}}"])
async def test_case_114_the_first_usable_choice_wins(rig: LuaRig, garbage: str) -> None:
    rig.load("plugin", select("{{index = 2}}"))
    rig.load("session", select(garbage))
    assert (await rig.fire(FOUND)).decision == ChooseNotes((NoteChoice(2),))


async def test_case_115_a_handler_that_raises_leaves_it_to_the_next(rig: LuaRig, kind: str) -> None:
    rig.load(kind, 'cru.on("precognition_select", function() error("boom") end)\n' + select("{{index = 3}}"))
    assert (await rig.fire(FOUND)).decision == ChooseNotes((NoteChoice(3),))
    assert [line.level for line in rig.lines] == ["error"]


async def test_case_117_a_note_tells_the_name_of_its_kiln(rig: LuaRig, kind: str) -> None:
    rig.load(kind, 'cru.on("precognition_select", function(ctx, event) for _, n in ipairs(event.results) do seen(n.title, n.kiln) end end)')
    await rig.fire(FOUND)
    assert rig.seen == [("One", "notes"), ("Two",), ("Three", "work")]


async def test_the_seeds_example_of_strong_matches(rig: LuaRig, kind: str) -> None:
    rig.load(
        kind,
        'cru.on("precognition_select", function(ctx, event) local picked = {} for _, note in ipairs(event.results) do '
        "if note.score > 0.45 then picked[#picked + 1] = { index = note.index } end end return picked end)",
    )
    assert (await rig.fire(FOUND)).decision == ChooseNotes((NoteChoice(1), NoteChoice(2)))


async def test_positions_are_in_numerical_order(rig: LuaRig, kind: str) -> None:
    rig.load(kind, select('{["10"] = {index = 1}, ["2"] = {index = 2}, [7] = {index = 3}, note = {index = 1}, [10] = {}}'))
    assert (await rig.fire(FOUND)).decision == ChooseNotes((NoteChoice(2), NoteChoice(3), NoteChoice(1)))


async def test_without_notes_the_hook_is_asked_and_can_add_none(rig: LuaRig, kind: str) -> None:
    rig.load(kind, 'cru.on("precognition_select", function(ctx, event) seen(event.note_count, #event.results) return {{index = 1}} end)')
    outcome = await rig.fire(NotesRetrieved(session="s1", prompt="p", char_budget=3000))
    assert (rig.seen, outcome.decision) == ([(0, 0)], None)
    assert rig.warnings


async def test_a_snippet_cut_in_the_middle_of_a_character_is_an_error(rig: LuaRig, kind: str) -> None:
    rig.load(kind, select('{{index = 1, snippet = ("é"):sub(1, 1)}}'))
    assert (await rig.fire(FOUND)).decision is None
    assert "snippet" in rig.errors[0]


# precognition_format


async def test_case_118_the_first_text_is_the_block(rig: LuaRig) -> None:
    rig.load("plugin", render('"plugin"', "plugin"))
    rig.load("session", render('"X"', "session") + render('"Y"', "second"))
    assert (await rig.fire(CHOSEN)).decision == RenderNotes("X")
    assert rig.seen == [("session",)]


async def test_case_119_nil_and_errors_leave_it_to_the_next(rig: LuaRig, kind: str) -> None:
    rig.load(kind, 'cru.on("precognition_format", function() error("boom") end)\n' + render("nil") + render('"X"'))
    assert (await rig.fire(CHOSEN)).decision == RenderNotes("X")


@pytest.mark.parametrize("value", ["{}", "{'X'}", "5", "true", "{cancel = true}", "event"])
async def test_case_120_what_is_no_text_is_skipped(rig: LuaRig, kind: str, value: str) -> None:
    rig.load(kind, render(value) + render('"X"'))
    assert (await rig.fire(CHOSEN)).decision == RenderNotes("X")


@pytest.mark.parametrize("text", ["", " \\n"])
async def test_case_120_an_empty_text_is_a_decision(rig: LuaRig, kind: str, text: str) -> None:
    rig.load(kind, render(f'"{text}"') + render('"X"'))
    decision = (await rig.fire(CHOSEN)).decision
    assert isinstance(decision, RenderNotes)
    assert decision.text.strip() == ""


async def test_case_121_the_chosen_notes_have_no_index(rig: LuaRig, kind: str) -> None:
    rig.load(
        kind,
        'cru.on("precognition_format", function(ctx, event) seen(event.user_message, event.note_count, event.char_budget == nil) '
        "for _, n in ipairs(event.results) do seen(n.title, n.snippet, n.index == nil) end end)",
    )
    await rig.fire(CHOSEN)
    assert rig.seen == [("p", 2, True), ("One", "first", True), ("Two", "second", True)]


async def test_a_text_that_is_no_utf8_is_an_error(rig: LuaRig, kind: str) -> None:
    rig.load(kind, render(r"'\xff'"))
    assert (await rig.fire(CHOSEN)).decision is None
    assert len(rig.errors) == 1
