"""The Lua of one session, and the user's file in both machines (crucible.md 1, 2.9, D2)."""

from pathlib import Path

import pytest

from tests.support.crucible_rig import LuaRig
from treblehook.contracts.crucible.session_vm import SessionLua, evaluate_unowned
from treblehook.lifecycle import FileChanged, PreToolCall, SessionStart, ToolCall

TOOL = PreToolCall(session="s1", call=ToolCall("c1", "bash", {"command": "ls"}))


@pytest.fixture
def user(tmp_path: Path) -> Path:
    return tmp_path / "home" / "init.lua"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return tmp_path / "ws" / ".crucible" / "lua" / "init.lua"


def write(file: Path, source: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source)


def session_lua(rig: LuaRig, user: Path | None, workspace: Path | None) -> SessionLua:
    return SessionLua(lambda: rig.machine("session", rig.registry), user=user, workspace=workspace)


async def test_the_users_file_comes_before_the_workspaces(rig: LuaRig, user: Path, workspace: Path) -> None:
    write(user, 'cru.on("pre_tool_call", function() seen("user") end)')
    write(workspace, 'cru.on("pre_tool_call", function() seen("workspace") end)')
    lua = session_lua(rig, user, workspace)
    lua.open()
    await rig.fire(TOOL)
    assert rig.seen == [("user",), ("workspace",)]
    assert rig.asked == ["init.lua", "workspace init.lua"]
    lua.close()
    assert rig.handlers == []


def test_it_is_made_once_and_when_it_is_needed(rig: LuaRig, user: Path) -> None:
    write(user, "seen('evaluated')")
    lua = session_lua(rig, user, None)
    assert rig.seen == []
    assert lua.open() is lua.open()
    assert rig.seen == [("evaluated",)]
    lua.close()
    assert lua.open() is None


def test_without_files_there_is_no_machine(rig: LuaRig, user: Path, workspace: Path) -> None:
    lua = session_lua(rig, user, workspace)
    assert lua.open() is None
    lua.close()
    assert rig.lines == []


async def test_a_file_that_fails_stops_nothing(rig: LuaRig, user: Path, workspace: Path) -> None:
    write(
        user, 'cru.on("pre_tool_call", function() seen("before") end)\nerror("boom")\ncru.on("pre_tool_call", function() seen("after") end)'
    )
    write(workspace, 'cru.on("pre_tool_call", function() seen("workspace") end)')
    lua = session_lua(rig, user, workspace)
    lua.open()
    await rig.fire(TOOL)
    assert rig.seen == [("before",), ("workspace",)]
    (line,) = rig.lines
    assert (line.level, line.owner, line.file, line.line) == ("error", "init.lua", str(user), 2)
    assert "boom" in line.text
    lua.close()


@pytest.mark.parametrize("source", ["function (", "while true do end", "x.y.z = 1"])
def test_every_way_to_fail_is_told_with_its_place(rig: LuaRig, workspace: Path, source: str) -> None:
    write(workspace, source)
    lua = session_lua(rig, None, workspace)
    lua.open()
    (line,) = rig.lines
    assert (line.level, line.owner, line.file) == ("error", "workspace init.lua", str(workspace))
    lua.close()


def test_a_file_that_cannot_be_read_is_told(rig: LuaRig, workspace: Path) -> None:
    workspace.mkdir(parents=True)
    lua = session_lua(rig, None, workspace)
    lua.open()
    assert [(line.level, line.file) for line in rig.lines] == [("error", str(workspace))]
    lua.close()


async def test_the_users_file_fires_twice(rig: LuaRig, user: Path) -> None:
    """Once in each machine: it is evaluated in both, and nothing is taken for a duplicate."""
    write(
        user,
        'cru.on("pre_tool_call", function(ctx, event) return {args = {command = event.args.command .. "!"}} end)\n'
        'cru.on_session_start(function(session) seen("start") end)\n'
        'cru.on("FileChanged", function() seen("file") end)',
    )
    assert evaluate_unowned(rig.plugins, user, "init.lua")
    lua = session_lua(rig, user, None)
    lua.open()
    assert (await rig.fire(TOOL)).value.call.input == {"command": "ls!!"}
    await rig.fire(SessionStart(session="s1"))
    assert rig.seen == [("start",), ("start",)]
    rig.dispatcher.registry = rig.home
    await rig.fire(FileChanged(path="/a", change="created"))
    assert rig.seen[2:] == [("file",)]
    lua.close()


async def test_permissions_in_the_users_file_fail_on_the_plugins_machine_alone(rig: LuaRig, user: Path) -> None:
    write(user, 'cru.on("pre_tool_call", function() seen("kept") end)\ncru.permissions.on_request(function() end)')
    assert not evaluate_unowned(rig.plugins, user, "init.lua")
    lua = session_lua(rig, user, None)
    lua.open()
    await rig.fire(TOOL)
    assert rig.seen == [("kept",), ("kept",)]
    assert [(line.owner, line.line) for line in rig.lines] == [("init.lua", 2)]
    lua.close()
