"""What can be registered, in whole sessions (crucible.md 2 and 11 A)."""

import pytest

from tests.support.lua_nest import NAMES, TIERS, LuaNest, Place, last_result
from tests.support.nest import bash

ANY = "function() end"


async def _take(nest: LuaNest, *commands: str) -> None:
    nest.plays(bash(*(commands or ("echo dug",))))
    session = await nest.open()
    end = await session.prompt("dig")
    assert end.status == "finished", end
    await session.finish("closed")


async def test_case_001_the_simple_form(nest: LuaNest, where: Place) -> None:
    nest.put(where, "tell(cru.on('pre_tool_call', function(ctx, event) tell('saw', event.tool) end) == nil)")
    session = await nest.open()
    (handler,) = [h for h in session.state.dispatcher.registry.handlers() if h.origin.contract == "crucible"]
    assert (handler.priority, handler.pattern, handler.tier, handler.name) == (100, None, TIERS[where], NAMES[where])
    await _take(nest)
    assert nest.told[-1] == ["saw", "bash"]
    assert nest.told[0] is True


async def test_case_002_the_form_with_options(nest: LuaNest, where: Place) -> None:
    nest.put(where, "cru.on('pre_tool_call', {pattern = 'gh_*', priority = 50}, function(ctx, event) tell(event.tool) end)")
    session = await nest.open()
    (handler,) = [h for h in session.state.dispatcher.registry.handlers() if h.origin.contract == "crucible"]
    assert handler.pattern is not None
    assert (handler.priority, handler.pattern.text) == (50, "gh_*")
    await _take(nest)
    assert nest.told == []


@pytest.mark.parametrize(
    ("case", "call", "said"),
    [
        (4, f"cru.on('pre_toolcall', {ANY})", ("pre_toolcall", "pre_tool_call")),
        (5, f"cru.on('note:create', {ANY})", ("note:created",)),
        (6, f"cru.on('filechanged', {ANY})", ("FileChanged",)),
        (7, f"cru.on('*', {ANY})", ("`*`",)),
        (7, f"cru.on('pre_tool_*', {ANY})", ("pre_tool_call",)),
        (8, f"cru.on('session_start', {ANY})", ("session_start", "pre_tool_call")),
        (9, f"cru.on('on_everything_please', {ANY})", ("pre_tool_call", "tool:display_complete")),
        (10, "cru.on()", ("handler",)),
        (10, "cru.on('pre_tool_call')", ("handler",)),
        (10, "cru.on('pre_tool_call', nil)", ("handler",)),
        (11, "cru.on('pre_tool_call', {})", ("third",)),
        (12, "cru.on('pre_tool_call', {}, 'f')", ("function",)),
        (12, f"cru.on('pre_tool_call', 5, {ANY})", ("second argument",)),
        (12, "cru.on('pre_tool_call', {}, setmetatable({}, {__call = function() end}))", ("function",)),
        (13, f"cru.on(1, {ANY})", ("must be a string",)),
        (15, f"cru.on('pre_tool_call', {ANY}, {{pattern = 'x'}})", ("options come before",)),
        (15, f"cru.on('pre_tool_call', {{pattern = true}}, {ANY})", ("pattern",)),
        (15, f"cru.on('pre_tool_call', {{priority = 'first'}}, {ANY})", ("priority",)),
    ],
)
async def test_case_004_to_015_what_is_wrong_raises_at_its_line(
    nest: LuaNest, where: Place, case: int, call: str, said: tuple[str, ...]
) -> None:
    file = nest.put(where, f"\ntell('before')\n{call}\ntell('never')")
    await _take(nest)

    assert nest.told == ["before"]
    (problem,) = [problem for problem in nest.home.problems if problem.level == "error"]
    assert f"{file}:3: cru.on" in problem.message, problem
    for words in said:
        assert words in problem.message
    assert not last_result(nest).is_error


async def test_case_014_empty_options_are_none(nest: LuaNest, where: Place) -> None:
    nest.put(where, "cru.on('pre_tool_call', {}, function(ctx, event) tell(event.tool) end)")
    await _take(nest)
    assert nest.told == ["bash"]


async def test_case_016_a_refusal_can_be_caught(nest: LuaNest, where: Place) -> None:
    code = """
    local ok, why = pcall(cru.on, 'typo', function() end)
    tell(ok, type(why))
    cru.on('pre_tool_call', function() tell('goes on') end)
    """
    nest.put(where, code)
    await _take(nest)
    assert nest.told == [[False, "string"], "goes on"]
    assert nest.warnings == []


async def test_case_017_every_registration_counts(nest: LuaNest, where: Place) -> None:
    nest.put(where, "local function f() tell('f') end cru.on('pre_tool_call', f) cru.on('pre_tool_call', f)")
    await _take(nest)
    assert nest.told == ["f", "f"]


async def test_case_018_a_handler_registered_by_a_running_one_is_first_seen_by_the_next_dispatch(nest: LuaNest, where: Place) -> None:
    code = """
    local done
    cru.on('pre_tool_call', function()
      tell('first')
      if not done then done = true cru.on('pre_tool_call', function() tell('late') end) end
    end)
    """
    nest.put(where, code)
    await _take(nest, "echo one", "echo two")
    assert nest.told == ["first", "first", "late"]


async def test_case_003_019_all_names_and_their_order_of_priorities(nest: LuaNest, where: Place) -> None:
    code = """
    for _, name in ipairs{'FileChanged', 'FileDeleted', 'FileMoved', 'note:created', 'note:modified', 'note:deleted', 'note:renamed',
      'webhook:received', 'pre_tool_call', 'tool_result', 'pre_llm_call', 'post_llm_call', 'transform_context', 'precognition_select',
      'precognition_format', 'turn:complete', 'tool:before_execute', 'tool:display_start', 'tool:display_complete'} do
      cru.on(name, function(ctx, event) tell(event.type == name) end)
    end
    for _, priority in ipairs{30, -5, 0, 7} do
      cru.on('pre_tool_call', {priority = priority}, function() tell(priority) end)
    end
    """
    nest.put(where, code)
    await _take(nest)
    assert [told for told in nest.told if told is not True] == [-5, 0, 7, 30]
    assert nest.told.count(True) == 11, "two requests, one context, two replies, one turn; five events of the call"
    assert [warning for warning in nest.warnings if "did not load" in warning] == []
