"""Lua code gets hold of nothing of Python, of the prelude, or of what would take a limit off."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from treblehook.runtimes.lua import LuaFailed, LuaRaise, LuaTimedOut, LuaVM

Do = Callable[..., list[Any]]


@pytest.mark.parametrize(
    "name",
    [
        "python",
        "string.dump",
        "debug.sethook",
        "debug.getupvalue",
        "debug.getregistry",
        "debug.setmetatable",
        "debug.getlocal",
        "debug.upvalueid",
        "debug.getmetatable",
        "debug.setuservalue",
        "package.loadlib",
        "package.cpath",
        "loadstring",
    ],
)
def test_what_is_not_there(do: Do, name: str) -> None:
    assert do(f"return {name}") == []


WALK = """
local seen, found = {}, {}
local function walk(value, path)
  local kind = type(value)
  if kind == "userdata" then
    if io.type(value) == nil then found[#found + 1] = path end
    return
  end
  if kind == "thread" or kind == "function" or kind == "string" then
    local meta = getmetatable(value)
    if meta and not seen[meta] then walk(meta, path .. "<meta>") end
    return
  end
  if kind ~= "table" or seen[value] then return end
  seen[value] = true
  for k, v in next, value do
    walk(k, path .. ".key")
    walk(v, path .. "." .. tostring(k))
  end
  local meta = getmetatable(value)
  if meta then walk(meta, path .. "<meta>") end
end
walk(_G, "_G")
walk({...}, "...")
return found
"""


def test_no_python_object_can_be_reached(vm: LuaVM, do: Do) -> None:
    vm.provide("cru.fs.read", lambda *_: {"list": [1, {"a": "b"}], "text": "x"})
    vm.provide("fails", lambda: 1 / 0)

    assert do(WALK + " ", {"a": [1, {"b": 2}]}) in ([[]], [{}])
    assert do("return type(cru.fs.read), type(cru.fs.read()), type(cru.fs.read().list), getmetatable(cru.fs.read)") == [
        "function",
        "table",
        "table",
    ]


@pytest.mark.parametrize("error", [ValueError("bad"), KeyError("x"), RecursionError("deep"), MemoryError(), LuaRaise("said"), Exception()])
def test_an_exception_is_a_text_inside(vm: LuaVM, do: Do, error: Exception) -> None:
    def fails(*_: object) -> None:
        raise error

    vm.provide("fails", fails)

    kind, text = do("local ok, e = pcall(fails, {1}) return type(e), tostring(e)")
    assert kind == "string"
    assert "0x" not in text
    assert do("local co = coroutine.create(fails) local ok, e = coroutine.resume(co) return type(e)") == ["string"]
    assert do("local e2 xpcall(fails, function(e) e2 = type(e) end) return e2") == ["string"]


def test_attributes_of_a_function_of_the_host_are_out_of_reach(vm: LuaVM, do: Do) -> None:
    vm.provide("f", lambda: None)

    for code in ("f.__globals__", "f.__class__", "f['__call__']"):
        with pytest.raises(LuaFailed, match="attempt to index a function value"):
            do(f"return {code}")
    assert do("return getmetatable(f)") == []


def test_the_stack_shows_no_function_of_the_prelude(do: Do) -> None:
    code = """
        local found = {}
        local function look()
          for level = 0, 30 do
            local info = debug.getinfo(level, "Sf")
            if not info then break end
            if info.func and (info.what == "C" or info.source == "=?") then found[#found + 1] = level end
          end
        end
        pcall(look)
        coroutine.wrap(look)()
        xpcall(look, print)
        table.sort({3, 2, 1}, function(a, b) look() return a < b end)
        ;("x"):gsub(".", look)
        do local x <close> = setmetatable({}, {__close = look}) end
        return #found"""

    assert do(code) == [0]


async def test_the_coroutine_of_a_run_is_the_main_one_for_its_code(start: Callable[..., Any]) -> None:
    code = """
        local me, main = coroutine.running()
        local from_inside = coroutine.wrap(function() return coroutine.resume(me), coroutine.status(me), pcall(coroutine.close, me) end)
        local resumed, status, closed = from_inside()
        return main, resumed, status, closed, coroutine.isyieldable(), coroutine.status(me)"""

    assert await start(code) == [True, False, "normal", False, False, "running"]


@pytest.mark.parametrize("code", ["load('\\27Lua')", "load(function() return nil end)", "load('x = = 1')"])
def test_load_takes_text_only(do: Do, code: str) -> None:
    result = do(f"local f, e = {code} return f and 'function', e")
    assert result == ["function"] or "attempt to load a binary chunk" in result[1] or "unexpected symbol" in result[1]


def test_byte_code_from_a_file_is_refused(do: Do, tmp_path: Path) -> None:
    (tmp_path / "a.lua").write_bytes(b"\x1bLua\x54\x00")

    assert "binary chunk" in do("local f, e = loadfile(...) return e", str(tmp_path / "a.lua"))[0]
    with pytest.raises(LuaFailed, match="binary chunk"):
        do("dofile(...)", str(tmp_path / "a.lua"))
    with pytest.raises(LuaFailed, match="binary chunk"):
        do(b"\x1bLua\x54\x00")


def test_load_gives_code_the_users_globals(do: Do) -> None:
    assert do("x = 5 return load('return x, debug, python')()") != []
    assert do("x = 5 return (load('return x')())") == [5]
    assert do("return load('return y', 'n', 't', {y = 3})()") == [3]
    assert do("local parts = {'return ', '4', '2'} local i = 0 return load(function() i = i + 1 return parts[i] end)()") == [42]
    assert do("return (load(('x = 1\\n'):rep(30000)))") != []


def test_a_broken_globals_table_breaks_only_the_code_that_broke_it(vm: LuaVM, do: Do) -> None:
    with pytest.raises(LuaFailed):
        do("for name in pairs(_G) do _G[name] = nil end setmetatable(_G, {__index = function() error('no') end}) print()")

    assert vm.run_now(vm.load(b"return 1 + 1", "x.lua")) == [2]


@pytest.mark.parametrize(
    "code", ["debug.traceback = function() while true do end end", "debug = nil", "pcall = nil error = nil tostring = nil"]
)
def test_replaced_globals_do_not_mislead_the_host(vm: LuaVM, do: Do, code: str) -> None:
    do(code)

    with pytest.raises(LuaFailed, match="attempt to index a nil value"):
        do("local x = nil x.y = 1")


@pytest.mark.parametrize(
    "code",
    ["os.exit()", "os.execute('true')", "io.popen('true')", "io.read()", "io.lines()", "os.setlocale('C')", "io.input()", "io.output()"],
)
def test_what_would_stop_or_block_the_process_says_so(do: Do, code: str) -> None:
    with pytest.raises(LuaFailed, match=r"code.lua:1: .*(not available|needs a)"):
        do(code)


def test_files_can_be_used(do: Do, tmp_path: Path) -> None:
    code = """
        local path = ...
        local f = assert(io.open(path, "w")) f:write("one\\n", 2, "\\n") f:close()
        local lines = {} for line in io.lines(path) do lines[#lines + 1] = line end
        return lines, io.open(path):read("a"), io.type(io.open(path)), os.remove(path), (io.open(path))"""

    assert do(code, str(tmp_path / "f.txt")) == [["one", "2"], "one\n2\n", "file", True]


def test_a_pipe_is_not_opened(do: Do, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    assert "not a file" in do("local f, e = io.open(...) return e", str(tmp_path / "pipe"))[0]
    with pytest.raises(LuaFailed, match="not a file"):
        do("io.lines(...)", str(tmp_path / "pipe"))


def test_output_goes_to_the_host(do: Do, printed: list[str]) -> None:
    do("print('a', nil, 1) io.write('b', 2) io.stdout:write('c') io.stderr:write('d') print()")

    assert printed == ["a\tnil\t1", "b2", "c", "d", ""]


def test_modules_are_found_on_the_path(do: Do, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "one.lua").write_text("loads = (loads or 0) + 1 return { name = ... }")
    (tmp_path / "broken.lua").write_text("x = = 1")

    assert do(
        "package.path = ... .. '/?.lua' local m = require('lib.one') return m.name, require('lib.one') == m, loads", str(tmp_path)
    ) == ["lib.one", True, 1]
    with pytest.raises(LuaFailed, match=r"(?s)module 'nothing' not found:.*no file"):
        do("require('nothing')")
    with pytest.raises(LuaFailed, match=r"broken.lua:1: unexpected symbol"):
        do("require('broken')")
    assert do("package.preload.own = function() return 'mine' end return (require('own'))") == ["mine"]


def test_a_budget_that_ran_out_inside_of_a_protected_call_ends_the_run(do: Do) -> None:
    with pytest.raises(LuaTimedOut):
        do("pcall(function() while true do end end) caught = true")
    assert do("return caught") == []


def test_levels_of_the_stack_count_from_the_caller(do: Do) -> None:
    code = (
        "local function f() return debug.getinfo(1, 'l').currentline, debug.getinfo(2, 'l').currentline end\n\nlocal a, b = f() return a, b"
    )
    for _ in range(2):
        assert do(code) == [1, 3]
