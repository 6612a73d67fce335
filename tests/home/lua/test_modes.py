"""`[hooks."NAME"]` for Lua: by the plugin's name, `init.lua`, `workspace init.lua`."""

import pytest

from tests.support.lua_nest import NAMES, LuaNest, Place, last_result
from tests.support.nest import bash

CODE = "cru.on('pre_tool_call', function() tell('asked') return {cancel = true, reason = 'no'} end)"


@pytest.fixture(params=["user", "plugin", "workspace"])
def place(request: pytest.FixtureRequest) -> Place:
    where: Place = request.param
    return where


@pytest.mark.parametrize(("mode", "asked", "runs"), [("on", 1, False), ("report", 1, True), ("off", 0, True)])
async def test_a_mode_holds_for_all_that_a_file_registers(nest: LuaNest, place: Place, mode: str, asked: int, runs: bool) -> None:
    nest.put(place, CODE)
    nest.settings(f'[hooks."{NAMES[place]}"]\nmode = "{mode}"\n')
    nest.plays(bash("touch dug"))
    session = await nest.open()
    await session.prompt("dig")
    assert nest.told == ["asked"] * asked
    assert (nest.workspace / "dug").exists() == runs
    assert len(nest.hooks_of(session, "pre_tool_call")) == asked


async def test_a_failure_in_report_denies_nothing(nest: LuaNest, place: Place) -> None:
    nest.put(place, "cru.on('pre_tool_call', function() error('no') end)")
    nest.settings(f'[hooks."{NAMES[place]}"]\nmode = "report"\n')
    nest.plays(bash("touch dug"))
    session = await nest.open()
    await session.prompt("dig")
    assert not last_result(nest).is_error
    assert [record["ended"] for record in nest.hooks_of(session, "pre_tool_call")] == ["failed"]


async def test_a_required_start_hook_in_report_refuses_nothing(nest: LuaNest) -> None:
    nest.plugin("cru.on_session_start(function() tell('asked') error('no') end, {required = true})")
    nest.settings('[hooks."digest"]\nmode = "report"\n')
    session = await nest.open()
    assert nest.told == ["asked"]
    assert (await session.prompt("dig")).status == "finished"


async def test_a_permission_hook_in_report_settles_nothing(nest: LuaNest) -> None:
    nest.of_workspace("cru.permissions.on_request(function() return {deny = true} end)")
    nest.settings('[hooks."workspace init.lua"]\nmode = "report"\n')
    nest.plays(bash("touch dug"))
    await (await nest.open()).prompt("dig")
    assert (nest.workspace / "dug").exists()
