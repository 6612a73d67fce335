"""Reload: nothing of the old plugin is left, and nothing of anybody else's is touched (crucible.md 2.8)."""

import asyncio
from collections.abc import Callable

import pytest

from tests.contracts.crucible.plugins.conftest import PluginHome
from treblehook.contracts.crucible.plugins.plugins import PluginDisabled, PluginUnknown
from treblehook.lifecycle import Block, SessionEnd, ToolCall, ToolFinished

COUNTS = 'cru.on("pre_tool_call", function() say("%s") end)'


async def until(home: PluginHome, said: str) -> None:
    while said not in home.said:
        await asyncio.sleep(0)


async def test_case_158_after_two_reloads_everything_fires_once(home: PluginHome) -> None:
    text = 'cru.on_session_start(function() say("start") end) cru.on_session_end(function() say("end") end)'
    home.load(a=COUNTS % "call" + text)

    await home.plugins.reload("a")
    await home.plugins.reload("a")
    await home.call()
    await home.starts()
    await home.dispatcher.fire(SessionEnd(session="s1", reason="closed"))

    assert home.said == ["call", "start", "end"]
    assert home.state("a").handlers == {"pre_tool_call": 1, "on_session_start": 1, "on_session_end": 1}


async def test_any_number_of_handlers_stays_that_number(home: PluginHome) -> None:
    home.load(a='for i = 1, 25 do cru.on("pre_tool_call", function() say(i) end) end')
    for _ in range(5):
        await home.plugins.reload("a")

    await home.call()

    assert home.said == list(range(1, 26))


async def test_a_reload_reads_the_file_and_its_modules_anew(home: PluginHome) -> None:
    home.write("a/lua/words.lua", 'return "old"')
    home.load(a='cru.on("pre_tool_call", function() say("old file", require("words")) end)')
    home.write("a/lua/words.lua", 'return "new"')
    home.write("a/init.lua", 'cru.on("pre_tool_call", function() say("new file", require("words")) end)')

    await home.call()
    await home.plugins.reload("a")
    await home.call()

    assert home.said == [["old file", "old"], ["new file", "new"]] or home.said == [["old file", "new"], ["new file", "new"]]


async def test_a_module_that_was_loaded_stays_as_it_was_until_the_reload(home: PluginHome) -> None:
    home.write("a/lua/words.lua", 'return "old"')
    home.load(a='require("words") cru.on("pre_tool_call", function() say(require("words")) end)')
    home.write("a/lua/words.lua", 'return "new"')

    await home.call()
    await home.plugins.reload("a")
    await home.call()

    assert home.said == ["old", "new"]


async def test_settings_are_those_of_now(home: PluginHome) -> None:
    home.load(a="return { setup = function(cfg) say(cfg) end }")
    home.settings = {"a": {"folder": "Weekly"}}

    await home.plugins.reload("a")

    assert home.said == [{}, {"folder": "Weekly"}]


async def test_on_unload_runs_before(home: PluginHome) -> None:
    home.load(a='say("load") return { on_unload = function() say("unload") end }')

    await home.plugins.reload("a")

    assert home.said == ["load", "unload", "load"]


async def test_an_on_unload_that_fails_holds_nothing_up(home: PluginHome) -> None:
    home.load(a="say('load') return { on_unload = function()\n error('stuck') end }")

    state = await home.plugins.reload("a")

    assert (state.state, home.said) == ("loaded", ["load", "load"])
    assert home.messages()[0].startswith("plugin a: its on_unload failed: ")
    assert home.messages()[0].endswith("init.lua:2: stuck")


async def test_an_on_unload_that_never_ends_is_ended(home: PluginHome, waits: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treblehook.contracts.crucible.plugins.plugins.UNLOAD_SECONDS", 0.01)
    home.load(a="return { on_unload = function() wait() end }")

    state = await home.plugins.reload("a")

    assert state.state == "loaded"
    assert "waited longer than it may" in home.messages()[0]


async def test_reloaded_handlers_come_behind_those_of_equal_priority(home: PluginHome) -> None:
    home.load(a=COUNTS % "a", b=COUNTS % "b")

    await home.plugins.reload("a")
    await home.call()

    assert home.said == ["b", "a"]


BROKEN = [
    "local = 1",
    "error('top')",
    COUNTS % "half" + " error('late')",
    'cru.on_session_start(function() say("half") end, { required = true }) return { setup = function() error("setup") end }',
    "return { on_load = function() error('on_load') end }",
    "return { tools = { { name = 'x' } } }",
    "while true do end",
    b"\xff",
]


@pytest.mark.parametrize("broken", BROKEN)
async def test_a_failed_reload_leaves_nothing_of_the_plugin_and_a_good_one_recovers(home: PluginHome, broken: str | bytes) -> None:
    tools = 'return { tools = { { name = "dig", run = function() return "dug" end } } }'
    good = COUNTS % "a" + 'cru.on_session_start(function() error("no") end, { required = true }) ' + tools
    home.load(a=good, b=COUNTS % "b")
    home.user_file(COUNTS % "user")
    assert isinstance((await home.starts()).blocked, object)
    home.write("a/init.lua", broken)

    state = await home.plugins.reload("a")

    assert state.state == "error"
    assert state.cause is not None
    assert "init.lua" in state.cause
    assert (state.handlers, state.tools, home.plugins.tools()) == ({}, (), [])
    assert (await home.starts()).blocked is None
    await home.call()
    assert home.said == ["b", "user"]

    home.said.clear()
    home.write("a/init.lua", good)
    state = await home.plugins.reload("a")
    await home.call()
    assert (state.state, state.cause, state.tools) == ("loaded", None, ("dig",))
    assert home.said == ["b", "user", "a"]


async def test_a_plugin_that_was_deleted_leaves_with_a_reload(home: PluginHome) -> None:
    home.load(a=COUNTS % "a", b=COUNTS % "b")
    (home.folder / "plugins" / "a" / "init.lua").unlink()

    state = await home.plugins.reload("a")
    await home.call()

    assert state.state == "error"
    assert state.cause == f"{home.folder}/plugins/a/init.lua: cannot be read: No such file or directory"
    assert home.said == ["b"]


async def test_deleted_files_leave_what_is_loaded_alone_until_then(home: PluginHome) -> None:
    home.load(a=COUNTS % "a")
    (home.folder / "plugins" / "a" / "init.lua").unlink()
    (home.folder / "plugins" / "a").rmdir()

    await home.call()

    assert (home.said, home.state("a").state) == (["a"], "loaded")


async def test_case_160_the_user_s_handlers_survive_any_reload_and_keep_their_functions(home: PluginHome) -> None:
    home.load(a=COUNTS % "a1" + COUNTS % "a2")
    home.user_file('for _, name in ipairs({ "u1", "u2" }) do cru.on("pre_tool_call", function() say(name) end) end')

    for _ in range(3):
        home.said.clear()
        await home.plugins.reload("a")
        await home.call()
        assert home.said == ["u1", "u2", "a1", "a2"]

    home.write("a/init.lua", "error('x')")
    home.said.clear()
    await home.plugins.reload("a")
    await home.call()
    assert home.said == ["u1", "u2"]


async def test_case_162_what_a_plugin_registers_later_is_unowned_and_stays(home: PluginHome) -> None:
    home.load(
        a='local once cru.on("tool_result", function() if not once then once = true '
        'cru.on("pre_tool_call", function() say("late") end) end end)'
    )
    await home.dispatcher.fire(ToolFinished(session="s1", call=ToolCall("c", "bash", {}), content=""))

    await home.plugins.reload("a")
    await home.call()

    assert home.said == ["late"]


async def test_case_080_a_reload_while_a_handler_waits_skips_it_and_denies_nothing(home: PluginHome, waits: Callable[[], None]) -> None:
    home.load(a='cru.on("pre_tool_call", function() wait() say("woke") return { cancel = true } end)', b=COUNTS % "b")
    call = asyncio.ensure_future(home.call())
    await until(home, "waiting")
    home.write("a/init.lua", "")

    await home.plugins.reload("a")
    waits()
    outcome = await call

    assert outcome.decision is None
    assert home.said == ["waiting", "b"], "what waited ended with its plugin"


async def test_a_handler_that_fails_after_its_plugin_was_reloaded_denies_nothing(home: PluginHome, waits: Callable[[], None]) -> None:
    home.load(a='cru.on("pre_tool_call", function() wait() error("late") end)')
    call = asyncio.ensure_future(home.call())
    await until(home, "waiting")

    await home.plugins.reload("a")
    waits()

    assert (await call).blocked is None
    assert isinstance((await home.call()).blocked, Block)


async def test_a_handler_that_was_removed_before_its_turn_is_skipped(home: PluginHome, waits: Callable[[], None]) -> None:
    home.load(a='cru.on("pre_tool_call", function() wait() end)', b='cru.on("pre_tool_call", function() return { cancel = true } end)')
    call = asyncio.ensure_future(home.call())
    await until(home, "waiting")
    home.write("b/init.lua", "")

    await home.plugins.reload("b")
    waits()

    assert (await call).decision is None


async def test_several_reloads_at_once_leave_one_copy(home: PluginHome) -> None:
    home.load(a=COUNTS % "a" + "return { on_unload = function() end }")

    await asyncio.gather(*(home.plugins.reload("a") for _ in range(5)))
    await home.call()

    assert home.said == ["a"]


async def test_a_service_starts_anew(home: PluginHome, waits: Callable[[], None]) -> None:
    home.load(a='return { services = { clerk = function() say("begins") wait() say("never") end } }')
    await until(home, "waiting")
    home.said.clear()

    await home.plugins.reload("a")
    await until(home, "waiting")
    assert home.said == ["begins", "waiting"]
    await home.plugins.close()
    waits()
    await asyncio.sleep(0)

    assert home.said == ["begins", "waiting"]


async def test_a_reload_that_nobody_waits_for_any_more_still_loads_the_plugin(home: PluginHome, waits: Callable[[], None]) -> None:
    home.load(a=COUNTS % "a" + " return { on_unload = function() wait() end }")
    reload = asyncio.ensure_future(home.plugins.reload("a"))
    await until(home, "waiting")

    home.write("a/init.lua", 'cru.on("tool_result", function() end)')
    reload.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reload
    waits()
    while home.state("a").handlers != {"tool_result": 1}:
        await asyncio.sleep(0)
    await home.call()

    assert home.said == ["waiting"]


async def test_a_disabled_plugin_cannot_be_reloaded(home: PluginHome) -> None:
    home.load(a=COUNTS % "a")
    home.settings = {"a": {"enabled": False}}

    with pytest.raises(PluginDisabled, match=r"plugin 'a' is disabled: \[plugins\.a\] enabled = false"):
        await home.plugins.reload("a")


async def test_an_unknown_plugin(home: PluginHome) -> None:
    home.load(digest="")

    with pytest.raises(PluginUnknown, match="no plugin is named 'digset'; did you mean digest"):
        await home.plugins.reload("digset")
    with pytest.raises(PluginUnknown, match="there are: digest"):
        await home.plugins.reload("zzzz")
