"""Every error says what and where, whatever the error object is."""

from collections.abc import Callable
from typing import Any

import pytest

from treblehook.runtimes.lua import LuaEntered, LuaFailed, LuaRaise, LuaVM

Do = Callable[..., list[Any]]

LONG = "/home/someone/" + "a-folder-with-a-long-name/" * 5 + "plugin/init.lua"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("error('text')", "/home/code.lua:2: text"),
        ("error('text', 0)", "text"),
        ("error({message = 'said'})", "said"),
        ("error({})", "a table without __tostring and without a message"),
        ("error(setmetatable({}, {__tostring = function() return 'shown' end}))", "shown"),
        ("error(setmetatable({}, {__tostring = function() error('x') end}))", "an error object whose __tostring fails"),
        ("error(setmetatable({}, {__tostring = function() return {} end}))", "an error object whose __tostring fails"),
        ("error(setmetatable({}, {__tostring = function() while true do end end}))", "an error object whose __tostring did not end"),
        ("error(setmetatable({}, {__index = error, __metatable = 5}))", "a table without __tostring and without a message"),
        ("error(nil)", "nil (an error without a message)"),
        ("error()", "nil (an error without a message)"),
        ("error(42)", "42"),
        ("error(1.5)", "1.5"),
        ("error(true)", "true"),
        ("error('\\xff\\xfe')", "/home/code.lua:2: \ufffd\ufffd"),
        ("local x = nil; x.y = 1", "/home/code.lua:2: attempt to index a nil value (local 'x')"),
        ("undefined()", "/home/code.lua:2: attempt to call a nil value (global 'undefined')"),
        ("return 1 + {}", "/home/code.lua:2: attempt to perform arithmetic on a table value"),
        ("local r = ('x'):rep({})", "/home/code.lua:2: bad argument #2 to 'rep' (number expected, got table)"),
        ("local r = ('x'):find('[')", "/home/code.lua:2: malformed pattern (missing ']')"),
        ("local r = setmetatable(1, {})", "/home/code.lua:2: bad argument #1 to 'setmetatable' (table expected, got number)"),
        ("coroutine.wrap(function() error('inner') end)()", "/home/code.lua:2: /home/code.lua:2: inner"),
        ("table.sort({1, 'x'})", None),
    ],
)
def test_an_error_tells_its_text_and_its_place(do: Do, code: str, message: str | None) -> None:
    with pytest.raises(LuaFailed) as failed:
        do("\n" + code)

    if message is not None:
        assert failed.value.message == message
    assert (failed.value.file, failed.value.line) == ("/home/code.lua", 2)


async def test_runs_and_handlers_tell_the_same(vm: LuaVM, do: Do, start: Callable[..., Any]) -> None:
    code = "return function() error({message = 'said'}) end"
    function = do(code)[0]

    for call in (vm.run(function), vm.handler(function)({}, {})):
        with pytest.raises(LuaFailed) as failed:
            await call
        assert (failed.value.message, failed.value.file, failed.value.line) == ("said", "/home/code.lua", 1)
        assert "/home/code.lua:1: in " in failed.value.traceback


def test_a_long_path_is_whole_in_messages(vm: LuaVM, do: Do) -> None:
    other = LONG.replace("someone", "anybody")
    for file in (LONG, other):
        with pytest.raises(LuaFailed) as failed:
            do("\n\nerror('x')", file=file)
        assert (failed.value.message, failed.value.file, failed.value.line) == (f"{file}:3: x", file, 3)
        assert file in failed.value.traceback
        assert vm.defined_at(vm.load(b"", file)) == (file, 0)


@pytest.mark.parametrize("file", ["/home/ä/init.lua", "/a b/c:7: d.lua", "/a\nb.lua", "C", "/" + "ä" * 40 + ".lua", "/x/\udcff.lua"])
def test_unusual_paths(do: Do, file: str) -> None:
    with pytest.raises(LuaFailed) as failed:
        do("\nerror('x')", file=file)
    assert (failed.value.file, failed.value.line) == (file, 2)


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (b"x = = 1", 1),
        (b"\n\nx = 'open", 3),
        (b"#!/usr/bin/lua\nx = = 1", 2),
        (b"\xef\xbb\xbf\nx = = 1", 2),
        (b"a = 1\r\nb = 2\r\nx = = 1", 3),
        (b"\xff\xfe = 1", 1),
        (b"goto nowhere", 1),
        (b"for", 1),
        (b"local function f()\n\n", 3),
    ],
)
def test_a_syntax_error_tells_file_and_line(vm: LuaVM, source: bytes, line: int) -> None:
    with pytest.raises(LuaFailed) as failed:
        vm.load(source, LONG)

    assert (failed.value.file, failed.value.line) == (LONG, line)
    assert failed.value.message.startswith(f"{LONG}:{line}:")


def test_a_file_nested_too_deep_for_the_compiler_says_so(vm: LuaVM) -> None:
    with pytest.raises(LuaFailed, match=r"overflow|too many") as failed:
        vm.load(b"x = " + b"(" * 300, LONG)
    assert failed.value.file == LONG


@pytest.mark.parametrize(
    "source", [b"", b"\n", b"#!/usr/bin/lua", b"\xef\xbb\xbf", b"\xef\xbb\xbf#!lua\nreturn", b"return '\xff'", b"-- \xff\xfe\r\n"]
)
def test_odd_files_load(vm: LuaVM, source: bytes) -> None:
    vm.run_now(vm.load(source, "odd.lua"))


def test_a_shebang_keeps_the_lines(do: Do) -> None:
    with pytest.raises(LuaFailed, match=r"code.lua:2: x"):
        do("#!/usr/bin/lua\nerror('x')")


def test_the_host_raises_at_the_callers_line(vm: LuaVM, do: Do) -> None:
    def refuses(*_: object) -> None:
        raise LuaRaise("cru.on: no such event")

    vm.provide("cru.on", refuses)

    with pytest.raises(LuaFailed) as failed:
        do("\n\ncru.on('x')")
    assert failed.value.message == "/home/code.lua:3: cru.on: no such event"
    assert do("\nlocal ok, e = pcall(cru.on, 'x') return e") == ["/home/code.lua:2: cru.on: no such event"]


def test_caller_and_defined_at(vm: LuaVM, do: Do) -> None:
    seen: list[Any] = []

    def on(function: Any) -> None:
        seen.append((vm.caller(), vm.defined_at(function)))

    vm.provide("on", on)
    do("\n\non(\nfunction() end)\ncoroutine.wrap(function()\n on(function() end) end)()\npcall(on, function() end)")

    assert [(place[1], defined[1]) for place, defined in seen] == [(3, 4), (6, 6), (7, 7)]
    assert {place[0] for place, _ in seen} == {"/home/code.lua"}
    assert vm.caller()[1] in (0, 7)


@pytest.mark.parametrize(
    "code",
    [
        "local function f() return 1 + f() end f()",
        "local function f() local ok, e = pcall(f) if not ok then error(e, 0) end end f()",
        "local function f() return (('x'):gsub('.', f)) end f()",
        "local t = setmetatable({}, {}) getmetatable(t).__index = function(t, k) return t[k .. 'x'] end return t.a",
        "local function f() coroutine.wrap(f)() end f()",
        "local t = {} for i = 1, 100000 do t = {t} end return t",
        "local s = ('('):rep(100000) .. '1' .. (')'):rep(100000) local f, e = load('return ' .. s) error(e)",
        "error(setmetatable({}, {__tostring = function(t) return tostring(t) end}))",
        "return table.concat(setmetatable({}, {__len = function() return 1e5 end}))",
        "return table.unpack({}, 1, 1e7)",
    ],
)
def test_depth_is_an_error_and_not_a_crash(do: Do, code: str) -> None:
    with pytest.raises(LuaFailed):
        do(code, cpu_seconds=10)
    assert do("return 1") == [1]


def test_lua_and_the_host_inside_of_each_other_without_end(vm: LuaVM, do: Do) -> None:
    vm.provide("again", lambda function: vm.run_now(function, function))

    with pytest.raises(LuaFailed, match="levels deep"):
        do("local function f(g) again(g) end again(f)")
    assert do("return 1") == [1]


def test_an_error_of_a_nested_run_can_be_caught_outside(vm: LuaVM, do: Do) -> None:
    vm.provide("inner", lambda function: vm.run_now(function))

    ok, text = do("return pcall(inner, function() error('deep') end)")
    assert not ok
    assert "LuaFailed: /home/code.lua:1: deep" in text


def test_what_is_no_exception_goes_through_lua(vm: LuaVM, do: Do) -> None:
    class Stop(BaseException):
        pass

    def stops() -> None:
        raise Stop

    vm.provide("stops", stops)

    with pytest.raises(Stop):
        do("pcall(stops) after = true")
    assert do("return after") == []


def test_a_vm_is_entered_by_one_thread_at_a_time(vm: LuaVM, do: Do) -> None:
    import threading

    found: list[BaseException] = []

    def other() -> None:
        try:
            vm.run_now(function)
        except LuaEntered as error:
            found.append(error)

    def call() -> None:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()

    vm.provide("call", call)
    function = vm.load(b"return 1", "x.lua")
    do("call()")

    assert [str(error) for error in found] == ["test: the VM is in use by another thread"]
    assert vm.run_now(function) == [1]


async def test_an_error_in_a_tail_call_tells_at_least_where_the_function_begins(vm: LuaVM, do: Do) -> None:
    function = do("\nreturn function() return ('x'):rep({}) end")[0]

    for call in (vm.run(function), vm.handler(function)({}, {})):
        with pytest.raises(LuaFailed, match=r"bad argument #2 to 'rep'") as failed:
            await call
        assert (failed.value.file, failed.value.line) == ("/home/code.lua", 2)
