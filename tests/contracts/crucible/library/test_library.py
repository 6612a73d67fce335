"""The library as a whole: what is loaded when, and what is left behind."""

import subprocess
import sys

from tests.contracts.crucible.library.conftest import Rig
from tests.support.processes import alive, until
from treblehook.contracts.crucible.library.install import MODULES, install
from treblehook.contracts.crucible.vm import CrucibleVM
from treblehook.engine import Registry
from treblehook.runtimes.lua import LuaVM


async def test_a_module_comes_into_being_when_it_is_looked_at(rig: Rig) -> None:
    assert rig.run_now("return rawget(cru, 'fs') == nil, type(cru.fs.read), rawget(cru, 'fs') ~= nil, cru.fs == cru.fs") == [
        True,
        "function",
        True,
        True,
    ]


async def test_an_unknown_name_is_nil(rig: Rig) -> None:
    assert rig.run_now("return cru.nothing == nil, cru[1] == nil, cru[{}] == nil, cru.permissions == nil") == [True, True, True, True]


async def test_pairs_sees_every_module(rig: Rig) -> None:
    names = rig.run_now("local names = {}; for name in pairs(cru) do names[#names + 1] = name end; return names")
    assert set(MODULES) <= set(names)
    assert {"on", "on_session_start", "on_session_end"} <= set(names)


async def test_a_machine_that_uses_nothing_pays_little(rig: Rig) -> None:
    """There may be a thousand machines; the modules together take ten times as much."""
    lua = LuaVM("bare", output=print)
    vm = CrucibleVM("session", lua, Registry(), rig.vm.log)
    before = lua.memory
    install(vm, rig.services)
    assert lua.memory - before < 8 * 1024
    vm.close()


async def test_globals_that_refuse_new_names_do_no_harm(rig: Rig) -> None:
    rig.run_now("setmetatable(_G, {__newindex = function(_, name) error('no global ' .. name) end, __index = error})")
    assert rig.run_now("for _ in pairs(cru) do end; return type(cru.shell.spawn), type(cru.fmt.trim)") == ["function", "function"]


async def test_one_function_of_a_module_can_be_replaced(rig: Rig) -> None:
    """As the test runner of plugins does with the clock, before anybody has looked at the module."""
    rig.vm.lua.provide("cru.timer.clock", lambda: 5)
    assert rig.run_now("return cru.timer.clock(), type(cru.timer.sleep)") == [5, "function"]


async def test_closing_the_machine_ends_what_its_plugins_have_going_on(rig: Rig) -> None:
    other = rig.with_services()
    pid = await other.run("cru.schedule({every = 0.01}, function() end); return cru.shell.spawn('sleep', {'100'}).pid")
    other.vm.close()
    await until(lambda: not alive(pid))
    assert other.heard("error") == []


async def test_a_users_own_field_wins(rig: Rig) -> None:
    assert rig.run_now("cru.fmt = 'mine'; for _ in pairs(cru) do end; return cru.fmt") == "mine"


def test_nothing_heavy_is_loaded_before_it_is_needed() -> None:
    heavy = ("httpx2", "sqlite3", "http.cookiejar", "yaml", "watchfiles")
    code = f"import sys, treblehook.contracts.crucible.library; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
