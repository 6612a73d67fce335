"""The library as a whole: what is loaded when, and what is left behind."""

import subprocess
import sys

from tests.contracts.crucible.library.conftest import Rig
from treblehook.contracts.crucible.library.install import MODULES


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


async def test_a_machine_that_uses_nothing_costs_little(rig: Rig) -> None:
    bare = Rig.__new__(Rig)
    del bare
    before = rig.vm.lua.memory
    rig.run_now("for name in pairs(cru) do end")
    assert rig.vm.lua.memory - before > 10_000


async def test_a_users_own_field_wins(rig: Rig) -> None:
    assert rig.run_now("cru.fmt = 'mine'; return cru.fmt") == "mine"


def test_nothing_heavy_is_loaded_before_it_is_needed() -> None:
    code = (
        "import sys, treblehook.contracts.crucible.library as library; print([m for m in ('httpx2', 'sqlite3', 'http.cookiejar') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
