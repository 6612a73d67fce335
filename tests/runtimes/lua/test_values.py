"""Values cross both ways as they are, or say why they cannot."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from treblehook.runtimes.lua import ARRAY_MARK, LUA_NULL, LuaFailed, LuaFunction, LuaReturn, LuaTable, LuaValueInvalid, LuaVM

Do = Callable[..., list[Any]]

SCALAR = st.one_of(
    st.booleans(),
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"])),
)
VALUE = st.recursive(
    SCALAR,
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)),
    max_leaves=40,
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=VALUE)
def test_what_goes_in_comes_out(vm: LuaVM, value: Any) -> None:
    vm.provide("same", lambda given: given)
    function = vm.load(b"local v = ... return v, same(v)", "x.lua")

    assert vm.run_now(function, value) == [value, value]


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        ("ä", "return ..., #...", ["ä", 2]),
        (b"\xff\x00", "return ..., #...", [b"\xff\x00", 2]),
        ("a\udcffb\ud83d", "return ...", ["a\ufffdb\ufffd"]),
        (None, "return ...", []),
        ([None, 1], "local t = ... return #t, tostring(t[1]), t", [2, "null", [None, 1]]),
        ({"a": None}, "return next((...))", []),
        ({1: "x", 2: "y"}, "return ...", [["x", "y"]]),
        ({5: "x"}, "return ...", [{5: "x"}]),
        ([], "return ...", [[]]),
        ({}, "return ...", [{}]),
        ((1, 2), "return ...", [[1, 2]]),
        (1 << 63, "return math.type(...), ...", ["float", float(1 << 63)]),
        (-(1 << 63), "return math.type(...), ...", ["integer", -(1 << 63)]),
        (3.0, "return math.type(...), ...", ["float", 3.0]),
        (float("inf"), "return ... == math.huge", [True]),
        (True, "return ... == true", [True]),
        (LUA_NULL, "return tostring(...), ... == nil", ["null", False]),
        (list(range(10000)), "return #..., ...", [10000, list(range(10000))]),
        ({f"k{i}": "x" * i for i in range(3000)}, "return ...", [{f"k{i}": "x" * i for i in range(3000)}]),
    ],
)
def test_values(do: Do, value: Any, code: str, expected: list[Any]) -> None:
    found = do(code, value)
    assert found == expected
    assert [type(each) for each in found] == [type(each) for each in expected]


@pytest.mark.parametrize(
    ("value", "path"),
    [({"a": [1, object()]}, "a[2]"), ({"a": {1.5: 1}}, "a"), (1 << 5000, ""), ({True: 1}, ""), ({"x": {"y": {1, 2}}}, "x.y")],
)
def test_what_cannot_go_in_says_where(do: Do, value: Any, path: str) -> None:
    with pytest.raises(LuaValueInvalid) as invalid:
        do("return 1", value)
    assert invalid.value.path == path


def test_depth_and_cycles_of_python_values_are_errors(do: Do) -> None:
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    with pytest.raises(LuaValueInvalid, match="nested deeper"):
        do("return 1", cyclic)


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("local t = {} t.x = t return t", "contains itself"),
        ("local t = {} for i = 1, 200 do t = {t} end return t", "nested deeper"),
        ("return {coroutine.create(print)}", "a coroutine"),
        ("return {io.tmpfile()}", "a userdata"),
    ],
)
def test_what_cannot_come_out_says_what(do: Do, vm: LuaVM, code: str, what: str) -> None:
    with pytest.raises(LuaValueInvalid, match=what):
        do(code)
    vm.provide("take", lambda value: None)
    with pytest.raises(LuaFailed, match=what):
        do(f"take((function() {code} end)())")


def test_a_shared_table_is_no_cycle(do: Do) -> None:
    assert do("local t = {1} return {t, t}") == [[[1], [1]]]


def test_metatables_play_no_part(do: Do) -> None:
    assert do("return setmetatable({a = 1}, {__index = error, __pairs = error, __len = error})") == [{"a": 1}]


def test_functions_come_out_and_go_back_in_as_the_same(vm: LuaVM, do: Do) -> None:
    function = do("f = function(a) return a * 2 end return f")[0]

    assert isinstance(function, LuaFunction)
    assert do("return ... == f, (...)(21)", function) == [True, 42]
    assert vm.run_now(function, 4) == [8]


def test_a_function_of_another_vm_is_refused(vm: LuaVM, do: Do) -> None:
    other = LuaVM("other", output=print)
    function = other.load(b"return 1", "x.lua")

    with pytest.raises(LuaValueInvalid, match="another VM"):
        do("return ...", function)
    with pytest.raises(ValueError, match="another VM"):
        vm.run_now(function)
    other.close()


def test_arguments_of_provided_functions(vm: LuaVM, do: Do) -> None:
    seen: list[Any] = []
    vm.provide("note", lambda *values: seen.append(values))
    do("note() note(nil, nil) note(1, nil, 'x', nil) note({}) note({1, nil, 3}) note({a = {b = {}}}) note(true, 1.5, '\\xff')")
    do("local t = {} for i = 1, 300 do t[i] = 'v' .. i end note(table.unpack(t))")

    assert seen == [
        (),
        (),
        (1, None, "x"),
        ({},),
        ([1, None, 3],),
        ({"a": {"b": {}}},),
        (True, 1.5, b"\xff"),
        tuple(f"v{i}" for i in range(1, 301)),
    ]


def test_results_of_provided_functions(vm: LuaVM, do: Do) -> None:
    vm.provide("several", lambda: (1, None, [2]))
    vm.provide("wrong", lambda: object())

    assert do("return select('#', several()), several()") == [3, 1, None, [2]]
    with pytest.raises(LuaFailed, match="a Python object"):
        do("wrong()")


def test_raw_tables(vm: LuaVM, do: Do) -> None:
    seen: list[Any] = []
    vm.provide("note", seen.append, tables="raw")
    vm.provide_value("array", ARRAY_MARK)
    vm.provide_value("null", LUA_NULL)
    do("note({1, 2, a = {3}, [1.5] = 1, [true] = 2}) note({}) note(array({})) note({x = null}) note('s')")

    first, *others = seen
    assert first.keys == {1: 1, 2: 2, "a": [3]}
    assert sorted(first.skipped) == ["boolean", "number"]
    assert others == [LuaTable({}), LuaTable({}, array=True), LuaTable({"x": None}), "s"]
    assert do("return array({}), {array({})}, {}") == [[], [[]], {}]


@pytest.mark.parametrize("path", ["one", "a.b.c", "string.trim"])
def test_values_and_library_code(vm: LuaVM, do: Do, path: str) -> None:
    vm.provide_value(path, {"x": [1, True, "t"]})
    assert do(f"return {path}") == [{"x": [1, True, "t"]}]
    vm.provide_lua(
        path,
        "local double, n = ... return setmetatable({}, {__call = function(_, x) return double(x) + n end})",
        vm.load(b"return 2 * ...", "d.lua"),
        1,
    )
    assert do(f"return {path}(20)") == [41]


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ("", LuaReturn("nil")),
        ("nil, 5", LuaReturn("nil")),
        ("true, 1", LuaReturn("boolean", True)),
        ("7", LuaReturn("number", 7)),
        ("7.5", LuaReturn("number", 7.5)),
        ("'text'", LuaReturn("string", "text")),
        ("'\\xff'", LuaReturn("string", b"\xff")),
        ("print", LuaReturn("function")),
        ("coroutine.create(print)", LuaReturn("thread")),
        ("{}", LuaReturn("table", table=LuaTable({}))),
        ("{cancel = true, reason = 'x'}", LuaReturn("table", table=LuaTable({"cancel": True, "reason": "x"}))),
        ("{{index = 2}, {index = 1}}", LuaReturn("table", table=LuaTable({1: {"index": 2}, 2: {"index": 1}}))),
        ("{args = {}, [2] = 1, [2.5] = 1}", LuaReturn("table", table=LuaTable({"args": {}, 2: 1}, ("number",)))),
        ("{['\\xff'] = 1}", LuaReturn("table", table=LuaTable({b"\xff": 1}))),
    ],
)
async def test_what_a_handler_returns(vm: LuaVM, do: Do, result: str, expected: LuaReturn) -> None:
    handler = vm.handler(do(f"return function() return {result} end")[0])
    for _ in range(3):
        assert await handler({}, {"type": "x"}) == expected


async def test_what_is_wrong_in_a_handlers_table_says_where(vm: LuaVM, do: Do) -> None:
    code = "local c = {} c.c = c return function() return {cancel = true, args = {x = {y = print}}, n = {0/0}, c = c, h = math.huge} end"
    table = (await vm.handler(do(code)[0])({}, {})).table

    assert table is not None
    assert table.keys == {"cancel": True}
    assert {key: wrong.path for key, wrong in table.invalid.items()} == {"args": "args.x.y", "n": "n[1]", "c": "c.c", "h": "h"}


@pytest.mark.parametrize(
    "event",
    [
        {"type": "t", "args": {}},
        {"type": "t", "args": {"list": [1, [2]]}},
        {"a": None, "b": {"c": None, "d": 1}},
        {"x": "a\ud800"},
        {"n": 1 << 70, "m": 1.5, "t": True},
        {"big": "x" * 100_000},
        {f"k{i}": i for i in range(60)},
        {']]"\\\n\0': 1, "ä": {"end": "x"}},
        {"e": {}, "f": {}, "g": {"h": {}}},
        {"deep": {"a": {"b": {"c": {"d": "e"}}}}},
        {1: "x"},
        {"b": b"\xff"},
    ],
)
async def test_an_event_arrives_whole_however_often_it_comes(vm: LuaVM, do: Do, event: dict[Any, Any]) -> None:
    handler = vm.handler(do("return function(ctx, event) return {ctx = ctx, event = event} end")[0])

    answers = [await handler({"session_id": "s1"}, event) for _ in range(4)]

    assert answers.count(answers[0]) == 4
    assert answers[0].table is not None
    assert answers[0].table.keys["ctx"] == {"session_id": "s1"}
    found = answers[0].table.keys["event"]
    wanted = {k: v for k, v in event.items() if v is not None}
    if "n" in event or "x" in event or "b" in wanted or 1 in event:
        assert set(found) == set(wanted) or found == ["x"]
    else:
        assert found == wanted
