"""What a return is, whatever it is (crucible.md 4.1, 4.2): every Lua value has a class, and no value breaks anything."""

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.crucible_events import sample_events
from tests.support.crucible_rig import LuaRig
from treblehook.contracts.crucible.author import Author
from treblehook.contracts.crucible.events import EVENTS
from treblehook.contracts.crucible.names import EVENT_NAMES
from treblehook.contracts.crucible.plain import ReturnInvalid
from treblehook.contracts.crucible.returned import DIRECTIVES, Cancelled, Handled, Injected, Scalar, Transform, classify
from treblehook.engine import Ended
from treblehook.runtimes.lua import LUA_NULL, LuaReturn, LuaVM

MAKERS = """
local function cyclic() local t = {} t.t = t return t end
local function deep() local t = {} for i = 1, 500 do t = {t} end return t end
"""
CLASSES: list[tuple[str, Any]] = [
    ("nil", None),
    ("", None),
    ('{type = "pre_tool_call", cancel = true}', Transform({"type": "pre_tool_call", "cancel": True}, echoed=True)),
    ("{type = false, cancel = true}", Transform({"type": False, "cancel": True}, echoed=True)),
    ('{inject = {content = "x", position = "user_suffix"}}', Injected("x", "user_suffix")),
    ('{inject = {content = "x"}, handled = true, cancel = true}', Injected("x", "user_prefix", "cancelled")),
    ("{inject = {}}", ReturnInvalid),
    ("{inject = cyclic()}", ReturnInvalid),
    ('{inject = "text", cancel = true}', Cancelled("cancelled")),
    ("{inject = true}", Transform({"inject": True})),
    ("{inject = print}", ReturnInvalid),
    ("{inject = print, cancel = true}", Cancelled("cancelled")),
    ('{handled = true, result = "r", cancel = true}', Handled("r")),
    ('{handled = "no"}', Handled(None)),
    ("{handled = 0, result = {1}, terminate = 0}", Handled([1], terminate=True)),
    ("{handled = true, result = cyclic()}", ReturnInvalid),
    ("{handled = true, other = cyclic()}", Handled(None)),
    ('{cancel = true, reason = "r", args = {}}', Cancelled("r")),
    ("{cancel = 0, reason = 7}", Cancelled("7")),
    ("{cancel = {}, reason = 1.5}", Cancelled("1.5")),
    ("{cancel = print}", Cancelled("cancelled")),
    ("{cancel = false}", Transform({"cancel": False})),
    ("{handled = false, args = {x = 1}}", Transform({"handled": False, "args": {"x": 1}})),
    ("{}", Transform({}, empty=True)),
    ("{1, 2, x = {}}", Transform({1: 1, 2: 2, "x": {}})),
    ("{[1.5] = 1, [true] = 2, [print] = 3}", Transform({})),
    ("{f = print}", ReturnInvalid),
    ("{t = {f = print}}", ReturnInvalid),
    ("{t = deep()}", ReturnInvalid),
    ("{t = cyclic()}", ReturnInvalid),
    ("{n = 0/0}", ReturnInvalid),
    ("setmetatable({}, {__index = {cancel = true}})", Transform({}, empty=True)),
    ("setmetatable({x = 1}, {__index = error, __pairs = error, __len = error})", Transform({"x": 1})),
    ("true", Scalar(True)),
    ("false", Scalar(False)),
    ('"x"', Scalar("x")),
    (r"'\xff'", Scalar(b"\xff")),
    ("7", Scalar(7)),
    ("7.5", Scalar(7.5)),
    ("print", ReturnInvalid),
    ("coroutine.create(print)", ReturnInvalid),
    ("nil, {cancel = true}", None),
]


def author(warnings: list[str]) -> Author:
    return Author("pre_tool_call", "x", None, None, "x.lua", 1, lambda level, owner, text, file, line: warnings.append(text))


async def returned(source: str) -> LuaReturn:
    """What a handler's `return` gives."""
    vm = LuaVM("test", output=print)
    handler = vm.handler(vm.run_now(vm.load(f"{MAKERS} return function() return {source} end".encode(), "x.lua"))[0])
    return await handler({}, {})


@pytest.mark.parametrize(("source", "expected"), CLASSES, ids=[source for source, _ in CLASSES])
async def test_the_table_of_classes(source: str, expected: Any) -> None:
    value = await returned(source)
    if expected is ReturnInvalid:
        with pytest.raises(ReturnInvalid):
            classify(value, author([]))
    else:
        assert classify(value, author([])) == expected


@pytest.mark.parametrize(
    "source", ["{cancel = 0}", '{handled = "no"}', '{type = "x", cancel = true}', '{inject = {content = "", position = "x"}}']
)
async def test_what_is_odd_is_told_once(source: str) -> None:
    warnings: list[str] = []
    classify(await returned(source), author(warnings))
    assert len(warnings) == 1


async def test_null_is_nothing() -> None:
    vm = LuaVM("test", output=print)
    vm.provide_value("null", LUA_NULL)
    handler = vm.handler(vm.run_now(vm.load(b"return function() return null end", "x.lua"))[0])
    assert classify(await handler({}, {}), author([])) is None


WORDS = {"type", "reason", "result", "terminate", "content", "position", "index", "snippet", "role", "metadata", "tags", "tool_calls", "x"}
SCALARS = st.sampled_from(
    ["nil", "true", "false", "0", "1", "-1", "2.0", "1.5", "0/0", "math.huge", '""', '"x"', '"user_suffix"', r"'\xff'", "'\\0'"]
)
STRANGE = st.sampled_from(
    ["print", "coroutine.create(print)", "cyclic()", "deep()", "event", "ctx", "_G", "setmetatable({}, {__index = error})"]
)
KEYS = st.sampled_from(sorted({key for hook in EVENTS.values() for key in (*hook.keys, *DIRECTIVES)} | WORDS))
OTHER_KEYS = st.sampled_from(["[1]", "[2]", '["10"]', "[1.5]", "[true]", "[print]", r"['\xff']"])


def tables(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    field = st.tuples(st.one_of(KEYS, OTHER_KEYS), values).map(lambda pair: f"{pair[0]} = {pair[1]}")
    return st.lists(st.one_of(field, values), max_size=4).map(lambda parts: "{" + ", ".join(parts) + "}")


VALUES = st.recursive(st.one_of(SCALARS, STRANGE), tables, max_leaves=8)


@pytest.fixture(scope="module")
def folder() -> Any:
    with TemporaryDirectory() as name:
        yield Path(name)


@given(source=VALUES)
async def test_every_value_has_a_class(source: str) -> None:
    value = await returned(source.replace("event", "{}").replace("ctx", "{}"))
    with suppress(ReturnInvalid):
        found = classify(value, author([]))
        assert found is None or isinstance(found, Transform | Scalar | Injected | Handled | Cancelled)


@given(source=VALUES)
async def test_no_value_breaks_any_event(folder: Path, source: str) -> None:
    rig = LuaRig(folder)
    for kind in ("session", "plugin"):
        rig.load(kind, MAKERS + "".join(f'cru.on("{name}", function(ctx, event) return {source} end)\n' for name in EVENT_NAMES))
    for name, event in sample_events().items():
        outcome = await rig.fire(event)
        failed = any(end is Ended.FAILED for end in rig.ends)
        if name == "pre_tool_call" and failed:
            assert outcome.blocked is not None
        rig.journal.calls.clear()
    assert all(line.level != "error" or line.owner in ("digest", "workspace init.lua") for line in rig.lines)
    rig.close()
