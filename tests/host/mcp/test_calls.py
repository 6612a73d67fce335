"""Calls of tools of MCP servers, over stdio and HTTP."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.host.mcp.conftest import FULL, TINY, Call, Start, http_server, stub
from tests.support.processes import until
from treblehook.host.mcp import McpServerConfig
from treblehook.host.problems import Problem
from treblehook.host.tool import Tool, ToolContext, ToolInputInvalid, ToolOutput, ToolSpec


@pytest.fixture(params=["stdio", "http"])
async def full(request: pytest.FixtureRequest, log: Path, start: Start, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[dict[str, Tool]]:
    """The tools of the full server, by their names on the server."""
    if request.param == "stdio":
        found = await start(McpServerConfig(name="full", command=FULL, env={"MCP_LOG": str(log), "MCP_GREETING": "hello"}))
        yield {name.removeprefix("mcp__full__"): tool for name, tool in found.items()}
    else:
        async with http_server(log) as (url, _):
            found = await start(McpServerConfig(name="full", url=url, headers={"X-Key": "k1"}))
            yield {name.removeprefix("mcp__full__"): tool for name, tool in found.items()}


async def test_how_the_tools_of_a_server_are_offered(start: Start, problems: list[Problem]) -> None:
    tools = await start(McpServerConfig(name="tiny", command=TINY))

    assert list(tools) == ["mcp__tiny__echo", "mcp__tiny__fail", "mcp__tiny__ask", "mcp__tiny__hook"]
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    assert tools["mcp__tiny__echo"].spec == ToolSpec("mcp__tiny__echo", "Test tool echo.", schema, asks=True)
    assert problems == []


async def test_a_server_by_hand(start: Start, call: Call) -> None:
    tools = await start(McpServerConfig(name="tiny", command=TINY))

    assert await call(tools["mcp__tiny__echo"], text="hü") == ToolOutput("echo: hü")
    assert await call(tools["mcp__tiny__fail"]) == ToolOutput("it failed", is_error=True)
    assert "Elicitation not supported" in (await call(tools["mcp__tiny__ask"])).content


async def test_results_and_errors(full: dict[str, Tool], call: Call) -> None:
    assert await call(full["echo"], text="hi") == ToolOutput("echo: hi")
    assert await call(full["picture"]) == ToolOutput("a picture:\n[image: image/png, 10 bytes; not shown]")
    broken = await call(full["broken"])
    assert (broken.content, broken.is_error) == ("Error executing tool broken", True)
    wrong = await call(full["echo"], txt="hi")
    assert "Field required" in wrong.content
    assert wrong.is_error


async def test_an_answer_of_some_megabytes(full: dict[str, Tool], call: Call) -> None:
    output = await call(full["echo"], text="x" * 3_000_000)

    assert len(output.content) == 3_000_006


async def test_many_calls_at_once(full: dict[str, Tool], call: Call) -> None:
    outputs = await asyncio.gather(*(call(full["echo"], text=str(number)) for number in range(50)))

    assert [output.content for output in outputs] == [f"echo: {number}" for number in range(50)]


async def test_progress_is_told_and_a_cancelled_call_cancels_its_request(
    full: dict[str, Tool], call: Call, told: list[str], log: Path
) -> None:
    task = asyncio.create_task(call(full["wait"]))
    await until(lambda: told == ["half way\n"])

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    await until(lambda: "wait: cancelled" in log.read_text())
    assert (await call(full["echo"], text="still there")).content == "echo: still there"


async def test_a_process_sees_its_own_environment_and_not_the_host_s(start: Start, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_HOST", "a secret")
    tools = await start(McpServerConfig(name="full", command=FULL, env={"MCP_GREETING": "hello"}))

    assert (await call(tools["mcp__full__odd_name_with_dots"])).content == "hello no secret"


async def test_headers_reach_a_server_on_the_net(start: Start, call: Call, log: Path) -> None:
    async with http_server(log) as (url, _):
        tools = await start(McpServerConfig(name="web", url=url, headers={"X-Key": "k1"}))

        assert (await call(tools["mcp__web__header"], name="x-key")).content == "k1"


async def test_what_is_no_text_is_named(start: Start, call: Call) -> None:
    content = [
        {"type": "text", "text": "one"},
        {"type": "audio", "mimeType": "audio/wav", "data": "AAAA"},
        {"type": "resource_link", "uri": "file:///a", "name": "a"},
        {"type": "resource", "resource": {"uri": "file:///b", "text": "text of b"}},
        {"type": "resource", "resource": {"uri": "file:///c", "mimeType": "image/gif", "blob": "AAA="}},
        {"type": "resource", "resource": {"uri": "file:///d", "blob": "AA=="}},
    ]
    tools = await start(McpServerConfig(name="s", command=stub(tools_list=ONE_TOOL, tools_call={"content": content})))

    assert (await call(tools["mcp__s__t"])).content.split("\n") == [
        "one",
        "[audio: audio/wav, 3 bytes; not shown]",
        "[resource: file:///a, a]",
        "text of b",
        "[resource: file:///c, image/gif, 2 bytes; not shown]",
        "[resource: file:///d, unknown type, 1 bytes; not shown]",
    ]


ONE_TOOL = {"tools": [{"name": "t", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object", "required": ["x"]}}]}


@pytest.mark.parametrize(
    ("result", "content", "is_error"),
    [
        ({"content": [], "structuredContent": {"ä": [1]}}, '{"ä": [1]}', False),
        ({"content": []}, "[The tool returned nothing.]", False),
        ({"content": 5}, "The MCP server s answered with something that is no tool result", True),
        ({"content": [{"type": "hologram"}]}, "The MCP server s answered with something that is no tool result", True),
    ],
)
async def test_other_results(result: object, content: str, is_error: bool, start: Start, call: Call) -> None:
    tools = await start(McpServerConfig(name="s", command=stub(tools_list=ONE_TOOL, tools_call=result)))

    assert await call(tools["mcp__s__t"]) == ToolOutput(content, is_error=is_error)


async def test_an_error_of_the_protocol(start: Start, call: Call) -> None:
    tools = await start(McpServerConfig(name="s", command=stub(tools_list=ONE_TOOL)))

    output = await call(tools["mcp__s__t"])

    assert output == ToolOutput("The MCP server s answered with an error: no method tools/call", is_error=True)


async def test_names_that_no_provider_takes_are_changed(start: Start, problems: list[Problem]) -> None:
    named = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("a.b", "a b", "ü" * 100, "x" * 100)]}
    tools = await start(McpServerConfig(name="my server", command=stub(tools_list=named)))

    first, *long = tools
    assert first == "mcp__my_server__a_b"
    assert [len(name) for name in long] == [64, 64]
    (problem,) = problems
    assert problem.message == "its tool 'a b' is left out: there is a mcp__my_server__a_b already"
    assert problem.place == "mcp.my server"


async def test_an_input_that_json_cannot_carry(start: Start, call: Call) -> None:
    tools = await start(McpServerConfig(name="tiny", command=TINY))

    with pytest.raises(ToolInputInvalid, match="The input cannot be sent as JSON"):
        await call(tools["mcp__tiny__echo"], text="\ud800")
    assert (await call(tools["mcp__tiny__echo"], text="fine")).content == "echo: fine"


async def test_an_input_of_many_megabytes(start: Start, call: Call) -> None:
    tools = await start(McpServerConfig(name="tiny", command=TINY))

    output = await call(tools["mcp__tiny__echo"], text="x" * 5_000_000)

    assert len(output.content) == 5_000_006


async def test_a_list_of_tools_without_an_end(start: Start) -> None:
    endless = {**ONE_TOOL, "nextCursor": "again"}
    tools = await start(McpServerConfig(name="s", command=stub(tools_list=endless)))

    assert list(tools) == ["mcp__s__t"]


async def test_a_call_made_from_another_task_than_the_start(start: Start, context: ToolContext) -> None:
    tools = await asyncio.create_task(start(McpServerConfig(name="tiny", command=TINY)))

    output = await asyncio.create_task(tools["mcp__tiny__echo"].run({"text": os.fspath(context.workspace.name)}, context))

    assert output.content == "echo: workspace"
