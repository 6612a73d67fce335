"""`cru.on`: its forms, the order of its checks, its options (crucible.md 2)."""

import pytest

from tests.support.crucible_rig import LuaRig
from treblehook.contracts.crucible.names import EVENT_NAMES
from treblehook.engine import Mode, OnFailure, Tier
from treblehook.lifecycle import PreToolCall, ToolCall
from treblehook.runtimes.lua import LUA_NULL, LuaFailed

TOOL = PreToolCall(session="s1", call=ToolCall("c1", "bash", {"command": "ls"}))


def refusal(rig: LuaRig, kind: str, source: str) -> LuaFailed:
    """How loading `source` fails, which leaves nothing behind."""
    with pytest.raises(LuaFailed) as raised:
        rig.load(kind, source)
    assert rig.handlers == []
    return raised.value


def test_case_001_the_simple_form(rig: LuaRig, kind: str) -> None:
    assert rig.load(kind, 'return select("#", cru.on("pre_tool_call", function() end))') == 0
    (handler,) = rig.handlers
    assert (handler.priority, handler.pattern) == (100, None)
    assert handler.tier is (Tier.SESSION if kind == "session" else Tier.PLUGIN)
    assert handler.on_failure is OnFailure.CLOSED


def test_case_002_the_form_with_options(rig: LuaRig, kind: str) -> None:
    rig.load(kind, 'cru.on("pre_tool_call", {pattern="gh_*", priority=50}, function() end)')
    (handler,) = rig.handlers
    assert (handler.priority, handler.pattern and handler.pattern.text) == (50, "gh_*")
    assert rig.lines == []


def test_case_003_every_name_can_be_registered_in_both_machines(rig: LuaRig, kind: str) -> None:
    for name in EVENT_NAMES:
        rig.load(kind, f'cru.on("{name}", function() end)')
    assert {handler.origin.event for handler in rig.handlers} == set(EVENT_NAMES)
    assert {handler.on_failure for handler in rig.handlers if handler.origin.event != "pre_tool_call"} == {OnFailure.OPEN}


@pytest.mark.parametrize(
    ("name", "closest"),
    [
        ("pre_toolcall", "pre_tool_call"),
        ("note:create", "note:created"),
        ("filechanged", "FileChanged"),
        (" pre_tool_call", "pre_tool_call"),
    ],
    ids=["case_004", "case_005", "case_006", "case_007"],
)
def test_case_004_005_006_a_misspelt_name_raises_with_the_closest(rig: LuaRig, kind: str, name: str, closest: str) -> None:
    error = refusal(rig, kind, f'\n\ncru.on("{name}", function() end)')
    assert f"`{name}`" in error.message
    assert f"`{closest}`" in error.message
    assert error.message.startswith(f"{error.file}:3: cru.on: ")
    assert error.line == 3


def test_case_007_names_are_no_globs_and_not_folded(rig: LuaRig, kind: str) -> None:
    for name in ("*", "pre_tool_*", "PRE_TOOL_CALL", "file:changed"):
        refusal(rig, kind, f'cru.on("{name}", function() end)')


def test_case_008_lifecycle_hooks_are_no_events(rig: LuaRig, kind: str) -> None:
    assert "pre_tool_call" in refusal(rig, kind, 'cru.on("session_start", function() end)').message


def test_case_009_a_name_far_from_all_is_told_with_all(rig: LuaRig, kind: str) -> None:
    message = refusal(rig, kind, 'cru.on("on_everything_please", function() end)').message
    assert "pre_tool_call" in message
    assert "tool:display_complete" in message


@pytest.mark.parametrize("call", ['cru.on("pre_tool_call")', "cru.on()", 'cru.on("pre_tool_call", nil)', "cru.on(nil)"])
def test_case_010_a_call_without_handler_raises(rig: LuaRig, kind: str, call: str) -> None:
    assert "cru.on(event, options, handler)" in refusal(rig, kind, call).message


@pytest.mark.parametrize("call", ['cru.on("pre_tool_call", {})', 'cru.on("pre_tool_call", {}, nil)'])
def test_case_011_options_without_a_handler_raise(rig: LuaRig, kind: str, call: str) -> None:
    assert "third argument" in refusal(rig, kind, call).message


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ('cru.on("pre_tool_call", {}, "f")', "the handler is the string 'f'"),
        ('cru.on("pre_tool_call", 5, function() end)', "the second argument is the number 5"),
        ('cru.on("pre_tool_call", "x", function() end)', "the second argument is the string 'x'"),
        ('cru.on("pre_tool_call", nil, function() end)', "the second argument is nil"),
        ('cru.on("pre_tool_call", {}, setmetatable({}, {__call = function() end}))', "the handler is a table"),
        ('cru.on("pre_tool_call", setmetatable({}, {__call = function() end}))', "third argument"),
    ],
)
def test_case_012_what_is_no_handler_raises(rig: LuaRig, kind: str, call: str, found: str) -> None:
    assert found in refusal(rig, kind, call).message


@pytest.mark.parametrize("name", ["1", "true", "{}", "nil", "function() end"])
def test_case_013_the_event_type_must_be_a_string(rig: LuaRig, kind: str, name: str) -> None:
    assert "it must be a string" in refusal(rig, kind, f"cru.on({name}, function() end)").message


def test_a_bad_name_is_told_before_a_bad_handler(rig: LuaRig, kind: str) -> None:
    assert "unknown event" in refusal(rig, kind, 'cru.on("typo", 5)').message


@pytest.mark.parametrize("options", ["{}", "{pattern = nil, priority = nil}"])
def test_case_014_empty_options_are_none(rig: LuaRig, kind: str, options: str) -> None:
    rig.load(kind, f'cru.on("pre_tool_call", {options}, function() end)')
    (handler,) = rig.handlers
    assert (handler.priority, handler.pattern, rig.lines) == (100, None, [])


@pytest.mark.parametrize("options", ["{pattern = 'bash'}", "{}"])
def test_case_015_options_behind_the_handler_raise(rig: LuaRig, kind: str, options: str) -> None:
    message = refusal(rig, kind, f'cru.on("pre_tool_call", function() end, {options})').message
    assert "the options come before the handler" in message


def test_further_arguments_are_ignored(rig: LuaRig, kind: str) -> None:
    rig.load(kind, 'cru.on("pre_tool_call", function() end, 5) cru.on("pre_tool_call", {}, function() end, "more", {})')
    assert len(rig.handlers) == 2


def test_case_016_a_refusal_can_be_caught(rig: LuaRig, kind: str) -> None:
    rig.load(kind, 'local ok, message = pcall(cru.on, "typo", function() end) seen(ok, message) cru.on("pre_tool_call", function() end)')
    ((ok, message),) = rig.seen
    assert ok is False
    assert "unknown event `typo`" in message
    assert len(rig.handlers) == 1


async def test_case_017_every_registration_counts(rig: LuaRig, kind: str) -> None:
    rig.load(kind, 'local function f() seen("ran") end cru.on("pre_tool_call", f) cru.on("pre_tool_call", f)')
    await rig.fire(TOOL)
    assert rig.seen == [("ran",), ("ran",)]


async def test_case_018_a_handler_registered_meanwhile_is_seen_by_the_next_dispatch(rig: LuaRig, kind: str) -> None:
    source = 'cru.on("pre_tool_call", function() seen("old") cru.on("pre_tool_call", function() seen("new") end) end)'
    rig.load(kind, source)
    await rig.fire(TOOL)
    assert rig.seen == [("old",)]
    await rig.fire(TOOL)
    assert rig.seen == [("old",), ("old",), ("new",)]


@pytest.mark.parametrize("value", ["5", "true", "{}", "function() end", r"'\xff'"])
def test_a_pattern_that_is_no_string_raises(rig: LuaRig, kind: str, value: str) -> None:
    error = refusal(rig, kind, f'cru.on("pre_tool_call", {{pattern = {value}}}, function() end)')
    assert error.message.startswith(f"{error.file}:1: cru.on: the option `pattern` is ")


@pytest.mark.parametrize("value", ["5.5", "'5'", "0/0", "math.huge", "true", "{}", "1e300", "function() end"])
def test_a_priority_that_is_no_whole_number_raises(rig: LuaRig, kind: str, value: str) -> None:
    error = refusal(rig, kind, f'cru.on("pre_tool_call", {{priority = {value}}}, function() end)')
    assert error.message.startswith(f"{error.file}:1: cru.on: the option `priority` is ")


@pytest.mark.parametrize(
    ("value", "read"), [("-5", -5), ("5.0", 5), ("0", 0), ("math.maxinteger", 2**63 - 1), ("math.mininteger", -(2**63))]
)
def test_a_priority_is_any_whole_number(rig: LuaRig, kind: str, value: str, read: int) -> None:
    rig.load(kind, f'cru.on("pre_tool_call", {{priority = {value}}}, function() end)')
    assert [handler.priority for handler in rig.handlers] == [read]


def test_an_unknown_option_is_told_with_the_closest(rig: LuaRig, kind: str) -> None:
    rig.load(kind, '\ncru.on("pre_tool_call", {"x", patern = "bash", pattern = "gh_*"}, function() end)')
    assert len(rig.handlers) == 1
    assert any("`patern` is unknown" in text and "`pattern`" in text for text in rig.warnings)
    assert any("`1` is unknown" in text for text in rig.warnings)
    assert rig.handlers[0].pattern is not None
    assert {(line.line, line.owner) for line in rig.lines} == {(2, rig.handlers[0].name)}


def test_null_is_no_pattern(rig: LuaRig, kind: str) -> None:
    rig.vm(kind).lua.provide_value("null", LUA_NULL)
    assert "`pattern` is null" in refusal(rig, kind, 'cru.on("pre_tool_call", {pattern = null}, function() end)').message


def test_there_is_no_other_name_for_it_and_no_way_back(rig: LuaRig, kind: str) -> None:
    rig.load(kind, "seen(crucible == nil, cru.off == nil, cru.clear == nil)")
    assert rig.seen == [(True, True, True)]


def test_a_handler_says_where_it_was_registered(rig: LuaRig, kind: str) -> None:
    rig.load(kind, '\n\n\ncru.on("tool_result",\n  function() end)', owner="oci" if kind == "plugin" else None)
    (handler,) = rig.handlers
    assert handler.name == ("oci" if kind == "plugin" else "workspace init.lua")
    assert (handler.origin.contract, handler.origin.event, handler.origin.line) == ("crucible", "tool_result", 4)
    assert handler.origin.file.endswith(".lua")


def test_the_users_modes_are_kept(tmp_path: object, rig: LuaRig) -> None:
    other = LuaRig(rig.folder, modes={"digest": Mode.REPORT, "init.lua": Mode.OFF})
    other.load("plugin", 'cru.on("pre_tool_call", function() end)')
    other.load("session", 'cru.on("pre_tool_call", function() end)', name="init.lua")
    assert [(handler.name, handler.mode) for handler in other.handlers] == [("init.lua", Mode.OFF), ("digest", Mode.REPORT)]
    other.close()


async def test_a_handler_in_report_mode_is_not_obeyed(rig: LuaRig) -> None:
    other = LuaRig(rig.folder, modes={"digest": Mode.REPORT})
    other.load("plugin", 'cru.on("pre_tool_call", function() return {cancel = true} end)')
    assert (await other.fire(TOOL)).blocked is None
    assert len(other.asked) == 1
    other.close()
