"""docs/lua.md, the guide: its table is the code's, and its Lua runs as it stands there."""

import re
from pathlib import Path

import pytest

from tests.support.crucible_events import sample_events
from tests.support.lua_nest import TELL, LuaNest, last_result
from tests.support.nest import Prompts, bash
from treblehook.contracts.crucible.asking import SECONDS
from treblehook.contracts.crucible.events import EVENTS
from treblehook.contracts.crucible.lifecycle_hooks import SECONDS as LIFECYCLE_SECONDS
from treblehook.contracts.crucible.permission_hooks import SECONDS as PERMISSION_SECONDS
from treblehook.contracts.python import Hooks
from treblehook.host.notes import NoteId
from treblehook.lifecycle import PreToolCall
from treblehook.runtimes.lua import LuaLimits

GUIDE = (Path(__file__).parent.parent.parent.parent / "docs" / "lua.md").read_text()
SNIPPETS = re.findall(r"^```lua\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


def rows(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading."""
    below = GUIDE[GUIDE.index(f"\n## {heading}\n") :]
    table = re.search(r"(?:^\|.*\n)+", below, re.MULTILINE)
    assert table
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])] for line in table[0].splitlines()]
    return cells[2:]


def code(cell: str) -> list[str]:
    return re.findall(r"`([^`]*)`", cell)


def test_the_table_has_every_event_in_order_of_a_session() -> None:
    assert {code(row[0])[0] for row in rows("Events")} == set(EVENTS)
    assert len(rows("Events")) == 19


def test_its_fields_are_those_of_the_payloads() -> None:
    samples = sample_events()
    before: list[str] = []
    for row in rows("Events"):
        name = code(row[0])[0]
        fields = code(row[1])
        if row[1].startswith("the same"):
            fields = [*before, *fields]
        payload = set(EVENTS[name].payload(samples[name])) - {"type"}
        optional = {"error", "kiln"}
        assert set(fields) - optional == payload - optional, name
        before = fields


def test_what_a_pattern_matches_is_said_where_there_is_something() -> None:
    for row in rows("Events"):
        assert (row[2] == "\N{EN DASH}") == (not EVENTS[code(row[0])[0]].identifier), row


def test_what_an_event_may_answer_is_said() -> None:
    for row in rows("Events"):
        event = EVENTS[code(row[0])[0]]
        for key in event.keys:
            assert re.search(rf"\b{key}\b", row[3]), row
        for directive in event.directives:
            assert directive in row[3] or event.of_daemon, row


def test_the_limits_are_those_of_the_code() -> None:
    said = {row[0]: row[1] for row in rows("Time and memory")}
    limits = LuaLimits()
    assert said["running without a wait"] == f"{limits.cpu_seconds * 1000:.0f} ms"
    assert said["memory of one VM"] == f"{limits.memory_bytes // 2**20} MiB"
    assert (
        said["waiting, per handler"]
        == f"{SECONDS:.0f} s; lifecycle hooks {LIFECYCLE_SECONDS:.0f} s; permission hooks {PERMISSION_SECONDS:.0f} s"
    )


async def test_the_first_hook_guards_the_treasure(nest: LuaNest) -> None:
    nest.user(SNIPPETS[0])
    nest.plays(bash("rm -rf chest"))
    await (await nest.open()).prompt("dig")
    assert "Leave the treasure where it is." in last_result(nest).text


async def test_the_guard_of_init_lua_appends_once(nest: LuaNest) -> None:
    nest.user(SNIPPETS[1])
    await (await nest.open()).prompt("dig")
    assert nest.queries[-1].messages[-1].text == "dig (be concise)"


async def test_the_hooks_of_a_session(nest: LuaNest) -> None:
    stand_ins = (
        TELL + "function acquire_container(s) tell('acquire', cru.vm, s.id) end function release(id) tell('release', cru.vm, id) end "
    )
    lifecycle, permission = SNIPPETS[2].split("cru.permissions", 1)
    nest.plugin(stand_ins + lifecycle)
    nest.of_workspace("cru.permissions" + permission)
    nest.plays({"tools": [{"name": "write", "args": {"path": str(nest.place / "map"), "content": "X"}}]})
    prompts = Prompts(answer=False)
    session = await nest.open(approver=prompts)
    await session.prompt("dig")
    await session.finish("closed")
    assert nest.told == [["acquire", "plugin", session.id], ["release", "plugin", session.id]]
    assert bool(prompts.calls) != str(nest.place).startswith("/tmp/")


async def test_the_plugin(nest: LuaNest) -> None:
    notes = nest.place / "notes"
    (notes / "Daily").mkdir(parents=True)
    nest.settings(f'[kilns]\nnotes = "{notes}"\n[plugins.digest]\nfolder = "Daily"\n')
    nest.plugin(SNIPPETS[3], **{"lua/links.lua": "return {}"})
    await nest.open()
    kilns = await nest.home.notes()
    assert kilns is not None
    await kilns.write(NoteId("notes", "Daily/a.md"), "one")
    await kilns.write(NoteId("notes", "Daily/a.md"), "two")
    await kilns.write(NoteId("notes", "b.md"), "one")
    await nest.home.bus.drain(30)
    assert [line["text"] for line in nest.lua_log()] == ["changed: Daily/a.md"]


def test_there_are_no_other_snippets() -> None:
    assert len(SNIPPETS) == 4


@pytest.mark.parametrize("vm", ["session", "plugin"])
async def test_every_part_of_the_library_is_there_in_both_machines(nest: LuaNest, vm: str) -> None:
    names = re.findall(r"`(cru\.[\w.]+)`", GUIDE[GUIDE.index("## The library") :])
    assert len(names) >= 17
    listed = ", ".join(f"'{name}'" for name in names)
    code = f"""
    if cru.vm ~= '{vm}' then return end
    for _, name in ipairs{{{listed}}} do
      local value = _G
      for part in name:gmatch('[^.]+') do value = value[part] end
      cru.log('info', 'TOLD ' .. cru.json.encode({{name, type(value)}}))
    end
    """
    nest.user(code)
    await nest.open()
    assert [name for name, _ in nest.told] == names
    assert {kind for _, kind in nest.told} <= {"table", "function"}


async def test_lua_comes_after_python(nest: LuaNest) -> None:
    asked: list[int] = []
    hooks = Hooks()
    hooks.on(PreToolCall, priority=1000)(lambda event: asked.append(len(nest.told)))
    nest.user(TELL + "cru.on('pre_tool_call', {priority = -1000}, function() tell(cru.vm) end)")
    nest.plays(bash("echo dug"))
    await (await nest.open(hooks=hooks)).prompt("dig")
    assert (asked, nest.told) == ([0], ["session", "plugin"])


async def test_a_plugin_may_be_one_file(nest: LuaNest) -> None:
    nest.plugin("", "other")
    (nest.folder / "plugins" / "single.lua").write_text(TELL + "cru.on('pre_tool_call', function() tell('single') end)")
    nest.plays(bash("echo dug"))
    await (await nest.open()).prompt("dig")
    assert nest.told == ["single"]


async def test_all_plugins_share_one_lua_state(nest: LuaNest) -> None:
    nest.plugin("shared = 7", "ape")
    nest.plugin("tell(shared)", "zebra")
    await nest.open()
    assert nest.told == [7]


async def test_an_option_that_is_not_known_names_the_closest(nest: LuaNest) -> None:
    nest.plugin("tell(select(2, pcall(cru.context.attach, 'x', {kee = 'y'})))")
    await nest.open()
    assert "kee" in nest.told[0]
    assert "`key`" in nest.told[0] or "'key'" in nest.told[0]
