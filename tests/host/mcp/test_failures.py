"""MCP servers that do not start, die, hang or talk nonsense."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.host.mcp.conftest import FULL, TINY, Call, Start, http_server, stub
from tests.support.processes import alive, held, until
from treblehook.host.mcp import McpServerConfig, McpServers, servers
from treblehook.host.problems import Problem

DIES = (sys.executable, "-c", "import sys; print('noise', file=sys.stderr); sys.exit('no key given')")
BORN_DEAF = (
    sys.executable,
    "-c",
    "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint(1, flush=True)\ntime.sleep(1000)",
)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.mark.slow
async def test_one_that_fails_disturbs_no_other(start: Start, call: Call, problems: list[Problem]) -> None:
    tools = await start(
        McpServerConfig(name="none", command=("/nowhere/at/all",)),
        McpServerConfig(name="dies", command=DIES),
        McpServerConfig(name="hangs", command=("sleep", "1000")),
        McpServerConfig(name="tiny", command=TINY),
        McpServerConfig(name="web", url=f"http://127.0.0.1:{free_port()}/mcp"),
        seconds=5,
    )

    assert list(tools) == ["mcp__tiny__echo", "mcp__tiny__fail", "mcp__tiny__ask", "mcp__tiny__hook"]
    assert (await call(tools["mcp__tiny__echo"], text="hi")).content == "echo: hi"
    assert {problem.place: problem.message for problem in problems} == {
        "mcp.none": "the MCP server none: not started: No such file or directory",
        "mcp.dies": "the MCP server dies: not started: Connection closed; its last words: no key given",
        "mcp.hangs": "the MCP server hangs: not started: not ready after 5 s",
        "mcp.web": "the MCP server web: not started: All connection attempts failed",
    }
    assert {(problem.file, problem.level) for problem in problems} == {("config.toml", "warning")}


async def test_one_that_hangs_at_the_list_of_tools(start: Start, problems: list[Problem]) -> None:
    assert await start(McpServerConfig(name="s", command=stub(tools_list=None)), seconds=0.5) == {}

    assert [problem.message for problem in problems] == ["the MCP server s: not started: not ready after 0.5 s"]


@pytest.mark.parametrize("answer", [{"tools": 5}, {"tools": [{"name": "t"}]}, {}])
async def test_one_whose_list_of_tools_is_none(answer: object, start: Start, problems: list[Problem]) -> None:
    assert await start(McpServerConfig(name="s", command=stub(tools_list=answer))) == {}

    (problem,) = problems
    assert problem.message.startswith("the MCP server s: not started: ")
    assert "\n" not in problem.message


async def test_one_without_tools(start: Start, problems: list[Problem]) -> None:
    plain = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "stub", "version": "1"}}

    assert await start(McpServerConfig(name="s", command=stub(initialize=plain))) == {}
    assert problems == []


async def test_one_that_talks_nonsense_in_between_is_told_once_and_works(
    start: Start, call: Call, problems: list[Problem], capfd: pytest.CaptureFixture[str]
) -> None:
    command = ("sh", "-c", 'echo hello; echo; echo "[1]"; exec "$0" "$@"', *TINY)
    tools = await start(McpServerConfig(name="s", command=command))

    assert (await call(tools["mcp__s__echo"], text="hi")).content == "echo: hi"
    assert [problem.message for problem in problems] == [
        "the MCP server s: what it writes to standard output is not all MCP messages; logs belong on standard error"
    ]
    assert capfd.readouterr() == ("", "")


async def test_one_that_floods_standard_error(start: Start, call: Call) -> None:
    command = ("sh", "-c", 'head -c 3000000 /dev/zero >&2; exec "$0" "$@"', *TINY)
    tools = await start(McpServerConfig(name="s", command=command))

    assert (await call(tools["mcp__s__echo"], text="hi")).content == "echo: hi"


async def test_one_that_dies_in_a_call_is_started_again_once(start: Start, call: Call, problems: list[Problem], log: Path) -> None:
    tools = await start(McpServerConfig(name="full", command=FULL, env={"MCP_LOG": str(log)}))

    lost = await call(tools["mcp__full__die"])
    again = await call(tools["mcp__full__echo"], text="hi")
    lost_again = await call(tools["mcp__full__die"])
    gone = await call(tools["mcp__full__echo"], text="hi")

    assert lost.is_error
    assert (
        lost.content == "The MCP server full went away during the call (Connection closed); whether the call was carried out is not known"
    )
    assert again.content == "echo: hi"
    assert lost_again == lost
    assert gone.is_error
    assert gone.content == "The MCP server full is not running: its connection was lost again: Connection closed"
    assert await asyncio.to_thread(log.read_text) == "die: started\n" * 2, "no call was repeated"
    assert [problem.message for problem in problems] == ["the MCP server full: its connection was lost: Connection closed"] * 2


async def test_all_calls_under_way_end_when_it_dies(start: Start, call: Call, told: list[str], problems: list[Problem]) -> None:
    tools = await start(McpServerConfig(name="full", command=FULL))
    waiting = [asyncio.create_task(call(tools["mcp__full__wait"])) for _ in range(3)]
    await until(lambda: len(told) == 3)

    outputs = [await call(tools["mcp__full__die"]), *await asyncio.gather(*waiting)]

    assert all(output.is_error and "went away during the call" in output.content for output in outputs)
    assert len(problems) == 1
    assert (await call(tools["mcp__full__echo"], text="hi")).content == "echo: hi"


async def test_one_that_dies_while_nobody_calls(start: Start, call: Call) -> None:
    before = held().children
    tools = await start(McpServerConfig(name="tiny", command=TINY))
    (pid,) = held().children.keys() - before.keys()

    os.kill(pid, signal.SIGKILL)
    await until(lambda: not alive(pid))

    assert "went away during the call" in (await call(tools["mcp__tiny__echo"], text="hi")).content
    assert (await call(tools["mcp__tiny__echo"], text="hi")).content == "echo: hi"


async def test_one_on_the_net_is_used_again_when_it_is_back(start: Start, call: Call, log: Path) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}/mcp"
    async with http_server(log, port):
        tools = await start(McpServerConfig(name="web", url=url))
        assert (await call(tools["mcp__web__echo"], text="hi")).content == "echo: hi"

    assert "went away during the call" in (await call(tools["mcp__web__echo"], text="hi")).content
    down = await call(tools["mcp__web__echo"], text="hi")
    assert down.content == "The MCP server web is not running: All connection attempts failed"

    async with http_server(log, port):
        assert (await call(tools["mcp__web__echo"], text="hi")).content == "echo: hi"


async def test_one_on_the_net_that_is_no_mcp_server(start: Start, problems: list[Problem]) -> None:
    async def page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(page, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        assert await start(McpServerConfig(name="web", url=f"http://127.0.0.1:{port}/")) == {}

    assert [problem.message for problem in problems] == ["the MCP server web: not started: Unexpected content type: text/html"]


async def test_closing_ends_the_calls_under_way(call: Call, told: list[str], problems: list[Problem]) -> None:
    mcp = McpServers([McpServerConfig(name="full", command=FULL)], problems.append)
    tools = {tool.spec.name: tool for tool in await mcp.start()}
    task = asyncio.create_task(call(tools["mcp__full__wait"]))
    await until(lambda: bool(told))

    await mcp.close()

    assert (await task).content == "The MCP server full was closed during the call"
    assert (await call(tools["mcp__full__echo"], text="hi")).content == "The MCP server full has been closed"
    assert problems == []


async def test_closing_while_one_starts(problems: list[Problem]) -> None:
    before = held()
    mcp = McpServers([McpServerConfig(name="s", command=stub(initialize=None))], problems.append)
    starting = asyncio.create_task(mcp.start())
    await until(lambda: held().children != before.children)

    await mcp.close()

    assert await starting == []
    await until(lambda: held().children == before.children)


async def test_cancelling_the_start_and_closing(problems: list[Problem]) -> None:
    before = held()
    mcp = McpServers([McpServerConfig(name="s", command=stub(initialize=None))], problems.append)
    starting = asyncio.create_task(mcp.start())
    await until(lambda: held().children != before.children)

    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    await mcp.close()

    await until(lambda: held().children == before.children)


@pytest.mark.slow
async def test_one_that_ignores_every_request_to_end_is_ended(problems: list[Problem]) -> None:
    before = held()
    mcp = McpServers([McpServerConfig(name="deaf", command=BORN_DEAF)], problems.append)
    starting = asyncio.create_task(mcp.start())
    # What it writes is no message, so it is up.
    await until(lambda: bool(problems))

    await mcp.close()

    assert await starting == []
    assert held().children == before.children


async def test_without_servers_nothing_is_loaded() -> None:
    code = (
        "import asyncio, sys\nfrom treblehook.host.mcp import McpServers\n"
        "print(asyncio.run(McpServers([], print).start()), sorted({'mcp', 'anyio', 'httpx2', 'pydantic'} & set(sys.modules)))"
    )
    run = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout == "[] []\n"


async def test_without_the_library_the_remedy_is_named(start: Start, problems: list[Problem], monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError("No module named 'mcp'", name="mcp")

    monkeypatch.setattr(servers.importlib, "import_module", missing)

    assert await start(McpServerConfig(name="tiny", command=TINY)) == {}
    assert [str(problem) for problem in problems] == [
        "config.toml: mcp: MCP servers need the extra mcp: No module named 'mcp' (pip install 'treblehook[mcp]')"
    ]
