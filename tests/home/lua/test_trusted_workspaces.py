"""A workspace's Lua runs as the bytes that were trusted, or not at all (design, section 5)."""

import pytest

from tests.support.lua_nest import TELL, LuaNest
from tests.support.nest import agent, bash

CANARY = "local f = io.open('{file}', 'a') f:write('ran\\n') f:close()"


@pytest.fixture
def canary(nest: LuaNest) -> LuaNest:
    """A workspace whose code leaves a mark on disk, if a single line of it runs."""
    nest.of_workspace(CANARY.format(file=nest.place / "canary"))
    return nest


def ran(nest: LuaNest) -> int:
    file = nest.place / "canary"
    return len(file.read_text().splitlines()) if file.exists() else 0


def held_back(nest: LuaNest) -> int:
    return len([problem for problem in nest.home.problems if "held back" in problem.message])


async def test_untrusted_code_never_runs_and_that_is_said_on_every_start(canary: LuaNest) -> None:
    for count in (1, 2, 3):
        await (await canary.open(trust=False)).prompt("dig")
        assert (ran(canary), held_back(canary)) == (0, count)


async def test_trust_stands_until_a_byte_changes(canary: LuaNest) -> None:
    await canary.open(trust=True)
    await canary.open(trust=False)
    assert (ran(canary), held_back(canary)) == (2, 0)
    file = canary.workspace / ".crucible" / "lua" / "init.lua"
    file.write_bytes(file.read_bytes() + b" ")
    await canary.open(trust=False)
    assert (ran(canary), held_back(canary)) == (2, 1)
    file.write_bytes(file.read_bytes()[:-1])
    await canary.open(trust=False)
    assert (ran(canary), held_back(canary)) == (3, 1)


async def test_a_module_beside_it_counts_too(nest: LuaNest) -> None:
    nest.of_workspace(TELL + "tell(require('map'))")
    module = nest.workspace / ".crucible" / "lua" / "map.lua"
    module.write_text("return 'x'")
    await nest.open(trust=True)
    module.write_text("return 'y'")
    await nest.open(trust=False)
    assert (nest.told, held_back(nest)) == (["x"], 1)


async def test_what_was_read_is_what_runs(nest: LuaNest) -> None:
    """Whoever can write the folder cannot swap a module after it was looked at."""
    nest.of_workspace(TELL + "cru.on('pre_llm_call', function() tell(require('map')) end)")
    module = nest.workspace / ".crucible" / "lua" / "map.lua"
    module.write_text("return 'x'")
    session = await nest.open(trust=True)
    module.write_text("return 'swapped'")
    (nest.workspace / ".crucible" / "lua" / "other.lua").write_text("return 'new'")
    await session.prompt("dig")
    assert nest.told == ["x"]


async def test_a_moved_workspace_stays_trusted(canary: LuaNest) -> None:
    await canary.open(trust=True)
    moved = canary.place / "moved"
    canary.workspace.rename(moved)
    await canary.open(trust=False, workspace=moved)
    assert (ran(canary), held_back(canary)) == (2, 0)


async def test_subagents_and_resumed_sessions_keep_to_it(canary: LuaNest) -> None:
    canary.plays(agent("dig here"), routes=[{"match": "dig here", "turns": [{"text": "Dug."}]}])
    session = await canary.open(trust=False)
    await session.prompt("go")
    await session.finish("closed")
    await canary.open(resume=session.id, trust=False)
    assert ran(canary) == 0
    trusted = await canary.open(trust=True)
    await trusted.prompt("go")
    assert ran(canary) == 2


async def test_code_that_an_agent_writes_does_not_run_in_its_subagent_or_after_a_resume(nest: LuaNest) -> None:
    nest.of_workspace("")
    canary = CANARY.format(file=nest.place / "canary")
    write = {"name": "write", "args": {"path": ".crucible/lua/init.lua", "content": canary}}
    nest.plays({"tools": [write]}, agent("dig here"), routes=[{"match": "dig here", "turns": [{"text": "Dug."}]}])
    session = await nest.open(trust=True)
    await session.prompt("go")
    await session.finish("closed")
    await nest.open(resume=session.id, trust=False)
    assert ran(nest) == 0
    assert held_back(nest) == 2


async def test_a_workspace_without_init_lua_brings_nothing(nest: LuaNest) -> None:
    folder = nest.workspace / ".crucible" / "lua"
    folder.mkdir(parents=True)
    (folder / "map.lua").write_text("error('never')")
    nest.plays(bash("echo dug"))
    await (await nest.open(trust=False)).prompt("dig")
    assert nest.home.problems == []
