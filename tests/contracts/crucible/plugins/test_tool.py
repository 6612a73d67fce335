"""Tools that a plugin brings."""

from pathlib import Path
from typing import Any

import pytest

from tests.contracts.crucible.plugins.conftest import PluginHome
from treblehook.contracts.crucible.plugins.tool import PluginTool
from treblehook.host.tool import ToolContext, ToolInputInvalid, ToolOutput

CONTEXT = ToolContext(Path("/w"), "s1", "c1", {}, lambda text: None)


def tool(home: PluginHome, table: str) -> PluginTool:
    home.load(a=f"return {{ tools = {{ {table} }} }}")
    assert home.state("a").cause is None
    [found] = home.plugins.tools()
    return found


async def result(home: PluginHome, body: str, **arguments: Any) -> ToolOutput:
    return await tool(home, f'{{ name = "dig", run = function(args, ctx) {body} end }}').run(arguments, CONTEXT)


async def test_a_tool_as_it_is_offered(home: PluginHome) -> None:
    found = tool(
        home,
        '{ name = "dig", description = "Digs.", main_argument = "place", asks = false, run = function() end,'
        ' parameters = { type = "object", properties = { place = { type = "string" } }, required = { "place" } } }',
    )

    assert (found.spec.name, found.spec.description, found.spec.main_argument, found.spec.asks) == ("dig", "Digs.", "place", False)
    assert found.spec.parameters == {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}


async def test_tools_by_name_with_short_parameters(home: PluginHome) -> None:
    found = tool(
        home,
        'dig = { desc = "Digs.", fn = function() end, params = { { name = "place", desc = "Where." },'
        ' { name = "deep", type = "integer", optional = true } } }',
    )

    assert (found.spec.name, found.spec.description, found.spec.asks) == ("dig", "Digs.", True)
    assert found.spec.parameters == {
        "type": "object",
        "properties": {"place": {"type": "string", "description": "Where."}, "deep": {"type": "integer", "description": ""}},
        "required": ["place"],
    }


async def test_without_parameters_it_takes_an_empty_object(home: PluginHome) -> None:
    found = tool(home, '{ name = "dig", parameters = { type = "object", properties = {}, required = {} }, run = function() end }')

    assert found.spec.parameters == {"type": "object", "properties": {}, "required": []}


async def test_what_it_is_called_with(home: PluginHome) -> None:
    await result(home, "say(args, ctx)", place="x", list=[1])

    assert home.said == [[{"place": "x", "list": [1]}, {"session_id": "s1", "workspace": "/w", "call_id": "c1"}]]


@pytest.mark.parametrize(
    ("body", "content", "is_error"),
    [
        ('return "dug"', "dug", False),
        ("return", "", False),
        ("return { list = { 1, { a = 2 } } }", '{"list":[1,{"a":2}]}', False),
        ("return 5", "5", False),
        ("return true", "true", False),
        ("return nil, 'no spade'", "no spade", True),
        ("return '\\xff'", "\ufffd", False),
    ],
)
async def test_what_it_returns(home: PluginHome, body: str, content: str, is_error: bool) -> None:
    assert await result(home, body) == ToolOutput(content, is_error)


@pytest.mark.parametrize(
    "body", ["error('broken')", "return function() end", "return 0/0", "while true do end", "local t = {} t.t = t return t"]
)
async def test_failures_are_results_that_name_the_plugin(home: PluginHome, body: str) -> None:
    output = await result(home, body)

    assert output.is_error
    assert output.content.startswith("dig (plugin a) ")


async def test_a_failure_has_its_place(home: PluginHome) -> None:
    assert (await result(home, "error('broken')")).content.endswith("plugins/a/init.lua:1: broken")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "`place` is missing."),
        ({"place": 5}, "`place` must be of type string."),
        ({"place": "x", "n": True}, "`n` must be of type integer."),
    ],
)
async def test_arguments_are_checked(home: PluginHome, arguments: dict[str, Any], message: str) -> None:
    found = tool(
        home, 'dig = { run = function() say(1) end, params = { { name = "place" }, { name = "n", type = "integer", optional = true } } }'
    )

    with pytest.raises(ToolInputInvalid, match=message):
        await found.run(arguments, CONTEXT)
    assert home.said == []


@pytest.mark.parametrize(
    ("table", "cause"),
    [
        ("5", "`tools[1]`: found the number 5"),
        ("{ run = print }", "`tools[1].name`: found nil"),
        ('{ name = "a b", run = print }', "`tools[1].name`: found the string 'a b'"),
        ('{ name = "dig" }', "`tools[1].run`: found nil; it must be a function"),
        ('{ name = "dig", run = print, descripton = "x" }', "`tools[1].descripton`: unknown key; did you mean description?"),
        ('{ name = "dig", run = print, parameters = { type = "array" } }', "`tools[1].parameters`: a JSON schema"),
        ('{ name = "dig", run = print, parameters = { properties = { 1 } } }', "`tools[1].parameters`: `properties` must be"),
        ('{ name = "dig", run = print, asks = 1 }', "`tools[1].asks`: found the number 1"),
        ('{ name = "dig", run = print }, { name = "dig", run = print }', "`tools[2]`: there are two tools named 'dig'"),
        ('{ name = "dig", run = print, params = { 5 } }', "`tools[1].params[1]`: a parameter is a table"),
    ],
)
async def test_a_tool_that_cannot_be_is_an_error_of_the_plugin(home: PluginHome, table: str, cause: str) -> None:
    home.load(a=f"return {{ tools = {{ {table} }} }}")

    assert home.state("a").cause is not None
    assert cause in str(home.state("a").cause)


async def test_of_two_plugins_with_a_tool_of_one_name_the_first_has_it(home: PluginHome) -> None:
    text = 'return {{ tools = {{ dig = {{ run = function() return "{0}" end }} }} }}'
    home.load(a=text.format("a"), b=text.format("b"))

    [found] = home.plugins.tools()
    assert (await found.run({}, CONTEXT)).content == "a"
    assert home.messages() == ["plugin b: its tool dig is not used, plugin a has one of that name"]


async def test_a_reload_replaces_the_tools(home: PluginHome) -> None:
    old = tool(home, 'dig = { run = function() return "old" end }')
    home.write("a/init.lua", 'return { tools = { bury = { run = function() return "new" end } } }')
    await home.plugins.reload("a")

    assert [found.spec.name for found in home.plugins.tools()] == ["bury"]
    assert await old.run({}, CONTEXT) == ToolOutput("plugin a has no tool dig any more", is_error=True)


async def test_a_session_that_has_the_tool_already_gets_the_new_code(home: PluginHome) -> None:
    old = tool(home, 'dig = { run = function() return "old" end }')
    home.write("a/init.lua", "error('broken')")
    await home.plugins.reload("a")
    assert (await old.run({}, CONTEXT)).is_error

    home.write("a/init.lua", 'return { tools = { dig = { description = "D", run = function() return "new" end } } }')
    await home.plugins.reload("a")

    assert (await old.run({}, CONTEXT)).content == "new"
    assert old.spec.description == "D"
    assert home.plugins.tools() == [old]
