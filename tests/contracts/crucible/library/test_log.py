"""`cru.log` takes anything, and never raises."""

import pytest

from tests.contracts.crucible.library.conftest import Rig
from treblehook.contracts.crucible.caller import Caller


@pytest.mark.parametrize(
    ("arguments", "level", "said"),
    [
        ('"warn", "text"', "warn", "text"),
        ('"loud", "text"', "info", "text"),
        ('"alone"', "info", "alone"),
        ('"info", nil', "info", "nil"),
        ('"info", 5', "info", "5"),
        ('"info", true', "info", "true"),
        ('"info", print', "info", "(function)"),
        ('nil, "text"', "info", "text"),
        ('{}, "text"', "info", "text"),
        ('"info", {1, {a = "x"}, "y"}', "info", '{1, {a = "x"}, "y"}'),
        ('"info", {}', "info", "{}"),
        ('"info", cru.json.null', "info", "null"),
        ('"info", coroutine.create(print)', "info", "(thread)"),
        ('"info", "\\xff"', "info", "�"),
        ('"info", setmetatable({}, {__tostring = function() return "mine" end})', "info", "mine"),
        ('"info", setmetatable({}, {__tostring = function() error("no") end})', "info", "{}"),
        ('"info", setmetatable({}, {__index = error, __pairs = error, __len = error, __name = error})', "info", "{}"),
        ("", "info", "nil"),
    ],
)
async def test_whatever_it_is_given_becomes_a_line(rig: Rig, arguments: str, level: str, said: str) -> None:
    assert await rig.run(f"return cru.log({arguments})") == []
    assert rig.lines == [(level, "demo", said)]


async def test_a_table_without_end_is_cut(rig: Rig) -> None:
    await rig.run("local t = {}; t.self = t; cru.log('info', t)")
    await rig.run("local t = {}; for i = 1, 100000 do t[i] = {i} end; cru.log('info', t)")
    assert rig.heard()[0] == "{self = {…}}"
    assert rig.heard()[1].endswith("…}")
    assert len(rig.heard()[1]) < 1000


async def test_a_line_says_whose_it_is_and_where(rig: Rig) -> None:
    await rig.run("\n\ncru.log('info', 'x')", caller=Caller(hook="init.lua"))
    assert rig.lines == [("info", "init.lua", "x")]
    assert rig.places == [("demo.lua", 3)]
