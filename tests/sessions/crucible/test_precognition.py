"""Notes in front of a turn's context, with a real kiln (crucible.md 3.6, 3.7, 9 and 11 H)."""

import re

import pytest

from tests.support.lua_nest import LuaNest, Place
from tests.support.nest import Nest
from treblehook.agent.session import Session
from treblehook.lifecycle import Message

NOTES = {
    "Palm.md": "# The tall palm\n\nThe treasure lies under the tall palm on the beach.",
    "Chest.md": "The treasure chest is made of oak, with an iron lock.",
    "Deep/Cave.md": "A cave behind the waterfall; some say the treasure is there.",
}


@pytest.fixture
def kiln(nest: LuaNest) -> LuaNest:
    folder = nest.place / "notes"
    for path, text in NOTES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    nest.settings(f'[kilns]\nisland = "{folder}"\n')
    return nest


def on(event: str, body: str) -> str:
    return f"cru.on('{event}', function(ctx, event) {body} end)\n"


def select(body: str) -> str:
    return on("precognition_select", body)


def form(body: str) -> str:
    return on("precognition_format", body)


def block(nest: Nest, request: int = -1) -> Message | None:
    """The notes' message of one request."""
    first, *others = nest.queries[request].messages
    assert not any(message.role == "system" for message in others), "a second block"
    return first if first.role == "system" else None


def titles(nest: Nest) -> list[str]:
    found = block(nest)
    return re.findall(r"^## (\w+)", found.text, re.MULTILINE) if found else []


async def ask(nest: LuaNest, prompt: str = "Where is the treasure?") -> Session:
    session = await nest.open()
    end = await session.prompt(prompt)
    assert end.status == "finished", end
    return session


BY_TITLE = "local at = {} for _, note in ipairs(event.results) do at[note.title] = note.index end "


async def test_case_107_without_an_answer_the_built_in_block_stands(kiln: LuaNest, where: Place) -> None:
    kiln.put(where, select("tell(event.user_message, event.note_count, event.char_budget, #event.results)") + form("tell('format')"))
    await ask(kiln)
    assert set(titles(kiln)) == {"Palm", "Chest", "Cave"}
    assert kiln.told == [["Where is the treasure?", 3, 3000, 3], "format"]
    found = block(kiln)
    assert found is not None
    assert found.tags == ("precognition",)


async def test_case_104_notes_come_in_the_order_in_which_they_are_chosen(kiln: LuaNest, where: Place) -> None:
    kiln.put(where, select(BY_TITLE + "return {{index = at.Chest}, {index = at.Palm}}"))
    session = await ask(kiln)
    assert titles(kiln) == ["Chest", "Palm"]
    (context,) = [record for record in kiln.stored(session) if record["type"] == "context"]
    assert "## Chest" in context["messages"][0]["text"]


async def test_case_105_a_snippet_replaces_the_text_alone(kiln: LuaNest, where: Place) -> None:
    kiln.put(where, select(BY_TITLE + "return {{index = at.Palm, snippet = 'short', title = 'Other', score = 9}}"))
    await ask(kiln)
    found = block(kiln)
    assert found is not None
    assert titles(kiln) == ["Palm"]
    assert "short" in found.text
    assert "beach" not in found.text


async def test_case_106_choosing_none_injects_nothing_and_asks_no_formatter(kiln: LuaNest, where: Place) -> None:
    kiln.put(where, select("return {}") + form("tell('never')") + on("transform_context", "tell(#event.messages)"))
    await ask(kiln)
    assert (block(kiln), kiln.told) == (None, [1])


@pytest.mark.parametrize("value", ["'str'", "5", "true", "{foo = 1}", "{cancel = true}", "event", "print"])
async def test_case_108_anything_else_decides_nothing(kiln: LuaNest, where: Place, value: str) -> None:
    kiln.put(where, select(f"return {value}") + select("tell('next')"))
    await ask(kiln)
    assert len(titles(kiln)) == 3
    assert kiln.told == ["next"]
    assert bool([w for w in kiln.warnings if "precognition_select" in w or "returned" in w]) == (value != "{cancel = true}")


async def test_case_109_entries_of_no_use_are_left_out(kiln: LuaNest, where: Place) -> None:
    kiln.put(where, select("tell(event.results[1].title) return {{index = 99}, {index = 1}, {index = 1}, {index = 'x'}}"))
    await ask(kiln)
    assert titles(kiln) == [kiln.told[0].rsplit("/", 1)[-1]]
    assert len(kiln.warnings) == 3


async def test_case_110_only_entries_of_no_use_suppress_nothing(kiln: LuaNest, where: Place) -> None:
    kiln.put(where, select("return {{index = 99}, {index = 0}, {index = -1}, {}, 'x'}"))
    await ask(kiln)
    assert len(titles(kiln)) == 3


async def test_case_111_a_whole_float_and_sparse_tables_are_read(kiln: LuaNest, where: Place) -> None:
    kiln.put(where, select(BY_TITLE + "return {[10] = {index = at.Chest / 1}, [2] = {index = at.Palm}, other = {index = at.Cave}}"))
    await ask(kiln)
    assert titles(kiln) == ["Palm", "Chest"]


@pytest.mark.parametrize(
    ("case", "session", "chosen"),
    [
        (112, "return {{index = at.Chest}}", ["Chest"]),
        (113, "", ["Palm"]),
        (114, "return 'rubbish'", ["Palm"]),
        (115, "error('no')", ["Palm"]),
    ],
)
async def test_case_112_to_115_the_first_usable_choice_wins(kiln: LuaNest, case: int, session: str, chosen: list[str]) -> None:
    kiln.of_workspace(select(BY_TITLE + session))
    kiln.plugin(select(BY_TITLE + "tell('asked') return {{index = at.Palm}}"))
    await ask(kiln)
    assert titles(kiln) == chosen
    assert kiln.told == ([] if case == 112 else ["asked"])


async def test_case_116_the_budget_is_in_characters_and_cuts_all_alike(kiln: LuaNest, where: Place) -> None:
    kiln.settings((kiln.folder / "config.toml").read_text() + "[enrichment.pipeline]\nmax_precognition_chars = 10\n")
    body = "tell(event.char_budget) return {{index = at.Palm, snippet = ('é'):rep(9)}, {index = at.Chest, snippet = 'ab'}}"
    kiln.put(where, select(BY_TITLE + body) + form("tell(event.results[1].snippet, event.results[2].snippet)"))
    await ask(kiln)
    assert kiln.told == [10, ["ééééé", "ab"]]


async def test_case_116_a_choice_within_the_budget_is_untouched(kiln: LuaNest, where: Place) -> None:
    kiln.settings((kiln.folder / "config.toml").read_text() + "[enrichment.pipeline]\nmax_precognition_chars = 10\n")
    body = "return {{index = at.Palm, snippet = ('é'):rep(9)}, {index = at.Chest, snippet = 'a'}}"
    kiln.put(where, select(BY_TITLE + body) + form("tell(event.results[1].snippet, event.results[2].snippet)"))
    await ask(kiln)
    assert kiln.told == [["é" * 9, "a"]]


async def test_case_117_a_note_names_its_kiln_and_no_path(kiln: LuaNest, where: Place) -> None:
    kiln.put(where, select("for _, note in ipairs(event.results) do tell(note) end"))
    await ask(kiln)
    assert len(kiln.told) == 3
    for note in kiln.told:
        assert set(note) == {"index", "title", "score", "snippet", "kiln"}
        assert note["kiln"] == "island"
        assert str(kiln.place) not in str(note)
    assert [note["index"] for note in kiln.told] == [1, 2, 3]


async def test_case_118_the_first_text_is_the_whole_block(kiln: LuaNest, where: Place) -> None:
    kiln.put(where, form("return 'X'") + form("tell('never') return 'Y'"))
    await ask(kiln)
    found = block(kiln)
    assert found is not None
    assert (found.text, kiln.told) == ("X", [])


@pytest.mark.parametrize(
    "body", ["return nil", "error('no')", "return {text = 'x'}", "return 5", "return true", "return {cancel = true}", "while true do end"]
)
async def test_case_119_120_what_is_no_text_leaves_it_to_the_next(kiln: LuaNest, where: Place, body: str) -> None:
    kiln.put(where, form(body))
    await ask(kiln)
    assert len(titles(kiln)) == 3


@pytest.mark.parametrize("text", ["''", r"' \n\t'"])
async def test_case_120_a_blank_text_injects_nothing(kiln: LuaNest, where: Place, text: str) -> None:
    kiln.put(where, form(f"return {text}"))
    await ask(kiln)
    assert block(kiln) is None


async def test_case_121_the_chosen_notes_have_no_index(kiln: LuaNest, where: Place) -> None:
    kiln.put(where, form("tell(event.note_count, event.results[1])"))
    await ask(kiln)
    ((count, note),) = kiln.told
    assert count == 3
    assert set(note) == {"title", "score", "snippet", "kiln"}


async def test_the_block_is_protected_and_may_be_rewritten(kiln: LuaNest, where: Place) -> None:
    code = "local first = event.messages[1] if first.metadata.tags[1] == 'precognition' then first.content = 'mine' end"
    kiln.put(where, on("transform_context", code + " return {messages = event.messages}"))
    await ask(kiln)
    found = block(kiln)
    assert found is not None
    assert found.text == "mine"


async def test_a_block_that_a_hook_drops_comes_back(kiln: LuaNest, where: Place) -> None:
    kiln.put(where, on("transform_context", "table.remove(event.messages, 1) return {messages = event.messages}"))
    await ask(kiln)
    assert len(titles(kiln)) == 3
    assert any("again" in row for row in kiln.ears.rows())


async def test_nothing_found_asks_select_and_no_formatter(nest: LuaNest, where: Place) -> None:
    (nest.place / "empty").mkdir()
    nest.settings(f'[kilns]\nempty = "{nest.place / "empty"}"\n')
    nest.put(where, select("tell(event.note_count, #event.results) return {{index = 1}}") + form("tell('never')"))
    await ask(nest)
    assert (nest.told, block(nest)) == ([[0, 0]], None)


@pytest.mark.parametrize("prompt", ["/search treasure", "  "])
async def test_what_is_no_message_for_notes_looks_for_none(kiln: LuaNest, where: Place, prompt: str) -> None:
    kiln.put(where, select("tell('never')"))
    await ask(kiln, prompt)
    assert (block(kiln), kiln.told) == (None, [])
