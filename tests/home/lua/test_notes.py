"""Notes of a home and the Lua that hears of them, with a real watcher (crucible.md 7 and 11 I)."""

from pathlib import Path

import pytest

from tests.support.lua_nest import LuaNest, last_result
from tests.support.processes import until
from treblehook.host.notes import NoteId

HEAR = """
for _, name in ipairs{'note:created', 'note:modified', 'note:deleted', 'note:renamed', 'FileChanged', 'FileDeleted', 'FileMoved'} do
  cru.on(name, function(ctx, e) tell(e.type, e.path or e.to, ctx.session_id == nil) end)
end
"""


@pytest.fixture
def notes(nest: LuaNest) -> Path:
    folder = nest.place / "notes"
    folder.mkdir()
    (folder / "Palm.md").write_text("# Palm\n\nThe treasure lies under the palm.")
    nest.settings(f'[kilns]\nisland = "{folder}"\n')
    return folder


def heard(nest: LuaNest, start: str = "note:") -> list[list[object]]:
    return [told for told in nest.told if told[0].startswith(start)]


async def watched(nest: LuaNest) -> None:
    notes = await nest.home.notes()
    assert notes is not None
    await notes.watching()


async def test_note_tools_are_offered_and_their_changes_heard_once(nest: LuaNest, notes: Path) -> None:
    nest.plugin(HEAR)
    write = {"name": "note_write", "args": {"path": "Daily/one.md", "content": "# One\n\nGold."}}
    nest.plays({"tools": [write]}, {"tools": [{"name": "note_read", "args": {"path": "Daily/one.md"}}]})
    session = await nest.open()
    await watched(nest)
    await session.prompt("note it")
    assert {"note_search", "note_read", "note_write", "note_rename"} <= {tool.name for tool in nest.queries[0].tools}
    assert "Gold." in last_result(nest).text, last_result(nest)
    await until(lambda: bool(heard(nest)))
    (notes / "late.md").write_text("late")
    await until(lambda: ["note:created", "late.md", True] in nest.told)
    assert heard(nest) == [["note:created", "Daily/one.md", True], ["note:created", "late.md", True]], "and not again by the watcher"


async def test_a_file_saved_outside_is_heard_of(nest: LuaNest, notes: Path) -> None:
    nest.plugin(HEAR)
    await nest.open()
    await watched(nest)
    (notes / "Palm.md").write_text("changed")
    await until(lambda: bool(heard(nest)))
    assert heard(nest) == [["note:modified", "Palm.md", True]]
    assert ["FileChanged", str(notes / "Palm.md"), True] in nest.told


async def test_a_first_open_announces_no_note(nest: LuaNest, notes: Path) -> None:
    nest.plugin(HEAR)
    await nest.open()
    await watched(nest)
    await nest.home.bus.drain(30)
    assert heard(nest) == []


async def test_what_was_removed_while_nobody_ran_is_announced_to_the_plugins(nest: LuaNest, notes: Path) -> None:
    (notes / "Gone.md").write_text("gone")
    nest.plugin(HEAR)
    await nest.open()
    await nest.close()
    nest._home = None
    (notes / "Gone.md").unlink()
    await nest.open()
    await until(lambda: bool(heard(nest)))
    assert heard(nest) == [["note:deleted", "Gone.md", True]]


async def test_a_rename_by_a_plugin_tells_three_events_the_rename_last(nest: LuaNest, notes: Path) -> None:
    code = "cru.on('pre_llm_call', function() cru.kiln.rename('Palm.md', 'Beach/Palm.md') end)\n"
    code += "cru.on('note:renamed', function(ctx, e) tell('index', cru.kiln.info(e.to) ~= nil, cru.kiln.info(e.from) == nil) end)"
    nest.plugin(HEAR + code)
    session = await nest.open()
    await watched(nest)
    await session.prompt("go")
    await until(lambda: ["index", True, True] in nest.told)
    assert [told[:2] for told in heard(nest)] == [
        ["note:deleted", "Palm.md"],
        ["note:created", "Beach/Palm.md"],
        ["note:renamed", "Beach/Palm.md"],
    ]


async def test_lua_searches_reads_and_writes_notes(nest: LuaNest, notes: Path) -> None:
    code = """cru.on('pre_llm_call', function()
      tell(cru.kiln.search('treasure')[1].path, cru.kiln.read('Palm.md'):sub(1, 6), #cru.kiln.list())
      tell(cru.kiln.write('Log.md', 'see [[Palm]]'), cru.kiln.backlinks('Palm.md')[1].path, (pcall(cru.kiln.read, 'nowhere.md')))
    end)"""
    nest.plugin(code)
    await (await nest.open()).prompt("go")
    assert nest.told == [["Palm.md", "# Palm", 1], ["created", "Log.md", False]]
    assert (notes / "Log.md").read_text() == "see [[Palm]]"


async def test_a_plugin_that_is_loaded_before_the_first_session_reaches_the_notes(nest: LuaNest, notes: Path) -> None:
    """As in the daemon, which loads plugins when it starts."""
    nest.plugin("cru.on('pre_llm_call', function() tell(cru.kiln.read('Palm.md'):sub(1, 6)) end)")
    nest.home.lua.start()
    await (await nest.open()).prompt("go")
    assert nest.told == ["# Palm"]


async def test_case_129_130_131_a_cancel_spares_the_rest_and_a_failure_does_not(nest: LuaNest, notes: Path) -> None:
    code = """
    cru.on('note:modified', {priority = 1}, function() error('no') end)
    cru.on('note:modified', {priority = 2}, function(ctx, e) tell('asked', e.path) return {result = 'x', path = 'other.md'} end)
    cru.on('note:modified', {priority = 3}, function(ctx, e) if e.path == 'Palm.md' then return {cancel = true} end end)
    cru.on('note:modified', {priority = 4}, function(ctx, e) tell('last', e.path) end)
    """
    nest.plugin(code)
    await nest.open()
    kilns = await nest.home.notes()
    assert kilns is not None
    await kilns.write(NoteId("island", "Other.md"), "one")
    await kilns.write(NoteId("island", "Palm.md"), "two")
    await kilns.write(NoteId("island", "Other.md"), "three")
    await until(lambda: ["last", "Other.md"] in nest.told)
    assert nest.told == [["asked", "Palm.md"], ["asked", "Other.md"], ["last", "Other.md"]]
    assert (notes / "Palm.md").read_text() == "two"


async def test_a_handler_that_writes_its_note_does_not_go_in_circles(nest: LuaNest, notes: Path) -> None:
    code = """cru.on('note:modified', function(ctx, e)
      tell(e.path)
      cru.kiln.write(e.path, cru.kiln.read(e.path):gsub('%s+$', '') .. '\\n')
    end)"""
    nest.plugin(code)
    await nest.open()
    await watched(nest)
    (notes / "Palm.md").write_text("changed")
    await until(lambda: (notes / "Palm.md").read_text() == "changed\n")
    await nest.home.bus.drain(30)
    assert nest.told in (["Palm.md"], ["Palm.md"] * 2), "writing the same again announces nothing"
