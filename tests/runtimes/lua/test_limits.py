"""Nothing takes more time or memory than it may, and nothing in Lua can catch the end."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from treblehook.runtimes.lua import LuaFailed, LuaLimits, LuaMemoryFull, LuaTimedOut, LuaVM

Do = Callable[..., list[Any]]

ENDLESS = {
    "loop": "while true do end",
    "recursion in a coroutine": "coroutine.wrap(function() while true do end end)()",
    "a coroutine in a coroutine": "coroutine.wrap(function() coroutine.wrap(function() while true do end end)() end)()",
    "pcall": "while true do pcall(function() while true do end end) end",
    "xpcall": "xpcall(function() while true do end end, function(e) while true do end end)",
    "resume": "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
    "many coroutines": "while true do coroutine.wrap(function() end)() end",
    "metamethod": "local t = setmetatable({}, {__index = function() while true do end end}) return t.x",
    "close": "do local x <close> = setmetatable({}, {__close = function() while true do end end}) end",
    "close after error": "local x <close> = setmetatable({}, {__close = function() while true do end end}) error('x')",
    "close in a closed coroutine": """
        local co = coroutine.create(function()
          local x <close> = setmetatable({}, {__close = function() while true do end end})
          coroutine.yield()
        end)
        coroutine.resume(co)
        coroutine.close(co)""",
    "print": "print(setmetatable({}, {__tostring = function() while true do end end}))",
    "sort": "local t = {} for i = 1, 200 do t[i] = i end table.sort(t, function() while true do end end)",
    "gsub": "('x'):gsub('.', function() while true do end end)",
    "load": "load(function() while true do end end)",
    "load of endless pieces": "load(function() return ' ' end)",
    "iterator": "for _ in (function() return 1 end) do end",
    "empty rep": "while true do ('').rep('', 1 << 60, '') end",
    "yield": "while true do pcall(coroutine.yield, 1) end",
    "concat of a table without end": "table.concat(setmetatable({}, {__index = tostring}), '', 1, 1 << 60)",
    "concat of empty strings": "table.concat(setmetatable({}, {__index = function() return '' end}), '', 1, 1 << 60)",
    "insert": "table.insert(setmetatable({}, {__len = function() return 1 << 60 end}), 1, 1)",
    "remove": "table.remove(setmetatable({}, {__len = function() return 1 << 60 end}), 1)",
    "move": "table.move({}, 1, 1 << 60, 2)",
    "move down": "table.move({}, 2, 1 << 60, 1)",
    "move elsewhere": "table.move({}, 1, 1 << 60, 1, {})",
    "sort by C": "table.sort(setmetatable({}, {__len = function() return 1 << 30 end, __index = rawlen, __newindex = rawequal}), rawequal)",
    "collect": "local t = {} for i = 1, 100000 do t[i] = {} end while true do collectgarbage() end",
    "big strings": "local s = ('x'):rep(9000000) while true do local t = s .. 'y' end",
    "big upper": "local s = ('x'):rep(9000000) while true do local t = s:upper() end",
    "big reverse": "local s = ('x'):rep(9000000) while true do local t = s:reverse() end",
    "big format": "local s = ('x'):rep(5000000) while true do local t = ('%s'):format(s) end",
    "big utf8": "local s = ('x'):rep(9000000) while true do utf8.len(s) end",
    "big unpack": "local t = table.pack(('x'):rep(200000):byte(1, -1)) while true do select('#', table.unpack(t)) end",
    "big insert": "local t = table.move({}, 1, 300000, 1) for i = 1, 300000 do t[i] = i end while true do table.insert(t, 1, 0) end",
    "big concat": "local t = {} for i = 1, 300000 do t[i] = 'x' end while true do table.concat(t) end",
    "pattern": "return ('a'):rep(40):find(('a?'):rep(40) .. ('a'):rep(40))",
    "pattern of lazy loops": "return ('a'):rep(3000):find('.-.-.-.-.-b')",
    "pattern of greedy loops": "return ('a'):rep(3000):match('(a*)(a*)(a*)(a*)b')",
    "pattern in gmatch": "for x in (('a'):rep(100000)):gmatch('a*a*a*b') do end",
    "pattern in gsub": "return (('a'):rep(100000)):gsub('(a*)*(a*)b', '')",
    "pattern of balance": "return ('('):rep(1000000):gsub('%b()', '')",
    "pattern of back references": "return ('a'):rep(20000):find('(.*)x%1')",
    "plain find": "return ('a'):rep(4000000):find(('a'):rep(2000000) .. 'b', 1, true)",
    "many finds": "local s = ('a'):rep(1000000) while true do s:find('b') end",
}


@pytest.mark.parametrize("code", ENDLESS.values(), ids=ENDLESS.keys())
def test_what_does_not_end_is_ended(vm: LuaVM, do: Do, code: str) -> None:
    began = time.thread_time()

    with pytest.raises((LuaTimedOut, LuaMemoryFull)):
        do(code)

    # A hang guard: the budget is a tenth of a second; a pattern or a huge string may run over it once.
    assert time.thread_time() - began < 5
    assert do("return 1") == [1]


@pytest.mark.parametrize("code", ENDLESS.values(), ids=ENDLESS.keys())
async def test_a_run_that_may_wait_is_ended_too(start: Callable[..., Any], code: str) -> None:
    with pytest.raises((LuaTimedOut, LuaMemoryFull)):
        await start(code)

    assert await start("return 1") == [1]


def test_the_budget_starts_anew_with_every_run(do: Do) -> None:
    for _ in range(3):
        with pytest.raises(LuaTimedOut):
            do("while true do end")
        assert do("local n = 0 for i = 1, 100000 do n = n + i end return n") == [5000050000]


def test_a_longer_budget_for_one_run(do: Do) -> None:
    code = "local n = 0 for i = 1, 20000000 do n = n + i end return n"

    with pytest.raises(LuaTimedOut):
        do(code, cpu_seconds=0.01)
    assert do(code, cpu_seconds=60) == [200000010000000]


@pytest.mark.parametrize(
    "code",
    [
        "local s = 'x' while true do s = s .. s end",
        "local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(1000000) .. i end",
        "return ('x'):rep(1 << 40)",
        "return ('x'):rep(1 << 40, ',')",
        "return ('x'):rep(40000000)",
        "return ('%s%s'):format(('x'):rep(20000000), ('y'):rep(20000000))",
        "local t = {} for i = 1, 40 do t[i] = ('x'):rep(1000000) end return table.concat(t)",
        "return (('x'):rep(1000000):gsub('x', ('y'):rep(100)))",
    ],
)
def test_memory_is_limited_and_comes_back(vm: LuaVM, do: Do, code: str) -> None:
    with pytest.raises(LuaMemoryFull):
        do(code, cpu_seconds=10)

    assert do("return #('x'):rep(10000000)") == [10000000]
    assert vm.memory < 64 * 1024 * 1024


def test_a_request_that_is_too_big_can_be_caught(do: Do) -> None:
    assert do("local ok, e = pcall(string.rep, 'x', 1 << 40) return ok, e") == [False, "not enough memory"]


def test_a_full_vm_refuses_runs_and_recovers_when_its_data_is_let_go(printed: list[str]) -> None:
    vm = LuaVM("full", output=printed.append, limits=LuaLimits(memory_bytes=4 * 1024 * 1024, cpu_seconds=5))
    clear = vm.load(b"kept = nil", "clear.lua")
    with pytest.raises(LuaMemoryFull):
        vm.run_now(vm.load(b"kept = {} for i = 1, 1e9 do kept[i] = ('x'):rep(1000) .. i end", "fill.lua"))

    with pytest.raises(LuaMemoryFull, match="full"):
        vm.run_now(clear)
    vm.close()


def test_big_values_from_the_host_find_room_or_are_refused(vm: LuaVM, do: Do) -> None:
    vm.provide("read", lambda size: "x" * size)

    assert do("return #read(20000000)") == [20000000]
    with pytest.raises(LuaMemoryFull):
        do("return #read(60000000)")
    assert do("local ok = pcall(read, 60000000) return ok, #read(100)") == [False, 100]
    with pytest.raises(LuaMemoryFull):
        do("return ...", "y" * 60000000)
    assert do("return #...", "y" * 20000000) == [20000000]


def test_finalizers_are_refused(do: Do) -> None:
    with pytest.raises(LuaFailed, match=r"code.lua:1: __gc is not available"):
        do("setmetatable({}, {__gc = function() while true do end end})")


@pytest.mark.parametrize("option", ["stop", "restart", "generational", "incremental", "setpause", "nonsense"])
def test_the_collector_is_the_hosts(do: Do, option: str) -> None:
    with pytest.raises(LuaFailed, match="is not available"):
        do(f"collectgarbage('{option}')")
    assert do("return collectgarbage('count') > 0, collectgarbage(), collectgarbage('isrunning')") == [True, 0, True]


def test_variables_to_be_closed_are_closed_when_a_run_is_ended(do: Do) -> None:
    with pytest.raises(LuaTimedOut):
        do("local x <close> = setmetatable({}, {__close = function() closed = true end}) while true do end")

    assert do("return closed") == [True]


def test_many_closers_that_loop_do_not_prolong_a_run(do: Do) -> None:
    began = time.thread_time()
    code = """
        local function nest(n)
          local x <close> = setmetatable({}, {__close = function() while true do end end})
          if n > 0 then nest(n - 1) end
          while true do end
        end
        nest(100)"""

    with pytest.raises(LuaTimedOut):
        do(code)
    assert time.thread_time() - began < 5
