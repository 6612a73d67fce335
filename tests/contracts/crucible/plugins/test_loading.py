"""Loading plugins: what they return, what they are given, and that one that fails disturbs no other."""

import asyncio
import datetime
from typing import Any

import pytest

from tests.contracts.crucible.plugins.conftest import PluginHome

COUNTS = 'cru.on("pre_tool_call", function() say("%s") end)'


async def test_plugins_load_in_the_order_of_names_and_their_handlers_run_in_it(home: PluginHome) -> None:
    home.load(b=COUNTS % "b", a=COUNTS % "a", C=COUNTS % "C")

    await home.call()

    assert [state.name for state in home.plugins.states()] == ["C", "a", "b"]
    assert home.said == ["C", "a", "b"]


async def test_a_single_file_is_a_plugin(home: PluginHome) -> None:
    home.write("solo.lua", COUNTS % "solo")
    home.load()

    await home.call()

    assert home.said == ["solo"]
    assert home.state("solo").handlers == {"pre_tool_call": 1}


async def test_returning_nothing_is_legal(home: PluginHome) -> None:
    home.load(a="")

    assert (home.state("a").state, home.state("a").cause, home.problems) == ("loaded", None, [])


async def test_setup_gets_the_settings_without_enabled(home: PluginHome) -> None:
    home.settings = {"a": {"enabled": True, "folder": "Daily", "deep": {"list": [1, 2], "day": datetime.date(2026, 8, 18)}}}
    home.load(a="return { setup = function(cfg) say(cfg) end }")

    assert home.said == [{"folder": "Daily", "deep": {"list": [1, 2], "day": "2026-08-18"}}]


async def test_setup_always_receives_a_table(home: PluginHome) -> None:
    home.load(a="return { setup = function(cfg) say(type(cfg), next(cfg) == nil) end }")

    assert home.said == [["table", True]]


async def test_case_161_a_handler_registered_inside_setup_is_owned(home: PluginHome) -> None:
    home.load(a='return { setup = function() cru.on("pre_tool_call", function() say(1) end) end }')
    await home.plugins.reload("a")
    await home.plugins.reload("a")

    await home.call()

    assert home.said == [1]
    assert home.state("a").handlers == {"pre_tool_call": 1}


async def test_on_load_comes_after_setup_and_on_unload_at_the_end(home: PluginHome) -> None:
    home.load(
        a='say("top") return { setup = function() say("setup") end, on_load = function() say("load") end,'
        ' on_unload = function() say("out") end }'
    )
    await home.plugins.close()

    assert home.said == ["top", "setup", "load", "out"]


async def test_on_unload_of_the_last_plugin_comes_first(home: PluginHome) -> None:
    text = 'return { on_unload = function() say("%s") end }'
    home.load(a=text % "a", b=text % "b")
    await home.plugins.close()

    assert home.said == ["b", "a"]


async def test_a_disabled_plugin_contributes_nothing(home: PluginHome) -> None:
    home.settings = {"a": {"enabled": False}}
    home.load(a='say("ran") ' + COUNTS % "a", b="")

    await home.call()

    assert home.said == []
    assert [(state.name, state.state) for state in home.plugins.states()] == [("a", "disabled"), ("b", "loaded")]


@pytest.mark.parametrize("value", ["no", 0, {}])
async def test_enabled_that_is_no_boolean_is_an_error(home: PluginHome, value: Any) -> None:
    home.settings = {"a": {"enabled": value}}
    home.load(a='say("ran")')

    assert home.said == []
    assert home.state("a").cause == f"[plugins.a] enabled: found {value!r}; allowed: true, false"


async def test_settings_for_a_plugin_that_is_not_there_are_told(home: PluginHome) -> None:
    home.settings = {"digset": {}}
    home.load(digest="")

    assert [(p.place, p.message, p.level) for p in home.problems] == [
        ("plugins.digset", "no plugin is named 'digset'; did you mean digest?", "warning")
    ]


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("local x = = 1", "init.lua:1: unexpected symbol near '='"),
        ("\n\nerror('broken')", "init.lua:3: broken"),
        ("\nlocal x = nil\nx.y = 1", "init.lua:3: attempt to index a nil value (local 'x')"),
        ("\nerror({ code = 1 })", "init.lua:2: "),
        ("\nerror(nil)", "init.lua:2: nil"),
        ('\ncru.on("pre_toolcall", function() end)', "init.lua:2: cru.on: unknown event `pre_toolcall`, did you mean `pre_tool_call`?"),
        ("return { setup = function(cfg)\n error('no key') end }", "init.lua:2: no key"),
        ("return { on_load = function()\n error('no') end }", "init.lua:2: no"),
        ("while true do end", "init.lua: plugins: the code computed longer than it may"),
        ("return { setup = function() while true do end end }", "init.lua: plugins: the code computed longer than it may"),
        ("return { setup = 5 }", "init.lua: returned `setup`: found the number 5; it must be a function"),
        ("return { version = 5 }", "init.lua: returned `version`: found the number 5; it must be a text"),
        ("return { tools = 'x' }", "returned `tools`: found the string 'x'; it must be a table"),
        ("return { services = { 5 } }", "returned `services[1]`"),
        ("return { tools = { coroutine.create(print) } }", "init.lua: "),
        (b"x = 1\ny = '\xff'", "init.lua: line 2: byte 0xff is not UTF-8"),
        ("require('nothing')", "init.lua:1: require: there is no module nothing; there is no "),
    ],
)
async def test_a_plugin_that_fails_is_in_an_error_state_and_the_rest_goes_on(home: PluginHome, text: str | bytes, cause: str) -> None:
    first = b'cru.on("pre_tool_call", function() say("never") end) cru.on_session_start(function() say("never") end) '
    home.load(a=COUNTS % "a", bad=first + (text if isinstance(text, bytes) else text.encode()), c=COUNTS % "c")

    await home.call()
    await home.starts()

    state = home.state("bad")
    assert state.state == "error"
    assert state.cause is not None
    assert cause in state.cause
    assert (state.handlers, home.said) == ({}, ["a", "c"])
    assert [p.file for p in home.problems] == [str(home.folder / "plugins" / "bad" / "init.lua")]
    assert [s.state for s in home.plugins.states()] == ["loaded", "error", "loaded"]


async def test_a_required_start_hook_of_a_broken_plugin_is_gone(home: PluginHome) -> None:
    home.load(a='cru.on_session_start(function() error("no") end, { required = true }) error("broken")')

    assert (await home.starts()).blocked is None


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("return { handlers = {} }", "returned `handlers`, which has no effect; handlers are registered with cru.on"),
        ("return { commands = { x = {} } }", "returned `commands`, which are not supported: nothing here runs a plugin's commands"),
        ("return { name = 'b' }", "returned the name the string 'b', but the plugin is named 'a' after its file; that is what counts"),
        ("return { on_unlaod = print }", "returned the unknown key `on_unlaod`, did you mean `on_unload`?"),
        ("return 5", "returned a number, which has no effect"),
        ("return coroutine.create(print)", "returned a thread, which has no effect"),
    ],
)
async def test_what_has_no_effect_is_said(home: PluginHome, text: str, warning: str) -> None:
    home.load(a=text)

    [problem] = home.problems
    assert problem.message.startswith(f"plugin a: {warning}")
    assert (problem.level, home.state("a").state) == ("warning", "loaded")


async def test_keys_that_are_the_plugins_own_business_are_left_alone(home: PluginHome) -> None:
    home.load(
        a="return { greet = function() end, VERSION = 5 }",
        b="local class = {} class.__index = class class.co = coroutine.create(print) return setmetatable(class, class)",
        c="local M = {} M.M = M function M.setup() return M end M.on_load = M.setup M.on_unload = M.setup return M",
    )

    assert home.problems == []
    await home.plugins.close()
    assert home.problems == []


async def test_the_manifest_tells_what_the_state_shows(home: PluginHome) -> None:
    home.write("a/plugin.yaml", 'name: a\nversion: "2.0"\ndescription: Counts\n')
    home.load(a="return { version = '1.0' }")

    assert (home.state("a").version, home.state("a").description) == ("2.0", "Counts")


async def test_a_bad_manifest_is_an_error_of_its_plugin(home: PluginHome) -> None:
    file = home.write("a/plugin.yaml", "version: 1.0\n")
    home.load(a='say("ran")', b="")

    assert home.state("a").cause == f'{file}: version: found 1.0 (allowed: a text; a number is one in quotes, as in version: "1.0")'
    assert (home.said, home.state("b").state) == ([], "loaded")


async def test_the_counts_are_those_of_the_live_registry(home: PluginHome) -> None:
    home.load(a='cru.on("tool_result", function() end) cru.on_session_start(function() end)')
    assert home.state("a").handlers == {"tool_result": 1, "on_session_start": 1}

    home.vm.clear("a")

    assert home.state("a").handlers == {}


async def test_globals_are_shared(home: PluginHome) -> None:
    home.load(a="shared = 5", b="say(shared)")

    assert home.said == [5]


async def test_a_service_runs_until_the_plugin_goes(home: PluginHome, waits: Any) -> None:
    home.load(a='return { services = { clerk = function() say("begins") wait() say("never") end } }')
    while home.said != ["begins", "waiting"]:
        await asyncio.sleep(0)
    assert home.state("a").services == ("clerk",)

    await home.plugins.close()
    waits()
    await asyncio.sleep(0)

    assert home.said == ["begins", "waiting"]


async def test_a_service_that_fails_is_told(home: PluginHome) -> None:
    home.load(a="return { services = { clerk = function()\n error('gone') end } }")
    while not home.problems:
        await asyncio.sleep(0)

    assert home.messages()[0].startswith("plugin a: its service clerk failed: ")
    assert home.messages()[0].endswith("init.lua:2: gone")
    assert home.state("a").services == ()
