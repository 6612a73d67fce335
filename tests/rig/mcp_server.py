"""An MCP server made with the official library, over stdio or streamable HTTP on 127.0.0.1.

    python mcp_server.py stdio | http [PORT]

Over HTTP the first line on stdout is the URL. Every call, and what became of it, is a line in the file $MCP_LOG.
"""

import os
import signal
import socket
import sys

import anyio
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.utilities.types import Image
from starlette.requests import Request

server = MCPServer("full", log_level="CRITICAL")


def log(line: str) -> None:
    if path := os.environ.get("MCP_LOG"):
        with open(path, "a") as file:
            file.write(line + "\n")


@server.tool(description="Gives its text back.")
def echo(text: str) -> str:
    return f"echo: {text}"


@server.tool(structured_output=False)
def picture() -> list[object]:
    return ["a picture:", Image(data=b"0123456789", format="png")]


@server.tool(structured_output=False)
async def wait(context: Context) -> str:
    """Never ends by itself."""
    log("wait: started")
    await context.report_progress(1, 2, "half way")
    try:
        await anyio.sleep_forever()
    finally:
        log("wait: cancelled")
    raise AssertionError


@server.tool()
def die() -> str:
    log("die: started")
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


@server.tool()
def header(name: str, context: Context) -> str:
    request = context.request_context.request
    assert isinstance(request, Request)
    return request.headers.get(name, "none")


@server.tool(name="odd name/with.dots")
def odd() -> str:
    return os.environ.get("MCP_GREETING", "no greeting") + " " + os.environ.get("SECRET_OF_THE_HOST", "no secret")


@server.tool()
def broken() -> str:
    raise ValueError("it broke")


def main() -> None:
    if sys.argv[1] == "stdio":
        server.run("stdio")
        return
    listening = socket.create_server(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 0))
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
    config = uvicorn.Config(server.streamable_http_app(), log_level="critical", timeout_graceful_shutdown=1)
    anyio.run(lambda: uvicorn.Server(config).serve([listening]))


if __name__ == "__main__":
    main()
