"""A plugin in a real runtime of JavaScript, and whoever answers it on a unix socket: a real HTTP server, or nobody."""

import json
import os
import re
import socketserver
import subprocess
import tempfile
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.real_agents.install import installed, programs
from tests.support.needs import require
from treblehook.gateway.install.plugins import plugin_text
from treblehook.gateway.lines import ClientPlace

Answer = bytes | dict[str, Any] | Callable[[BaseHTTPRequestHandler], None]

HERE = Path(__file__).parent


class Daemon:
    """Answers every hook call with `answer` and keeps it in `calls`, its event and where it went beside it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.answer: Answer = {}
        self.calls: list[dict[str, Any]] = []
        self.targets: list[str] = []
        daemon = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                daemon.targets.append(self.path)
                daemon.calls.append(json.loads(body))
                daemon.reply(self)

            def address_string(self) -> str:
                return "unix"

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = socketserver.ThreadingUnixStreamServer(str(path), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def reply(self, handler: BaseHTTPRequestHandler) -> None:
        """What `answer` says."""
        if callable(self.answer):
            return self.answer(handler)
        body = self.answer if isinstance(self.answer, bytes) else json.dumps(self.answer).encode()
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    @property
    def event(self) -> str:
        """The event in the URL of the last call."""
        return parse_qs(urlsplit(self.targets[-1]).query)["event"][0]

    def close(self) -> None:
        """Stop listening; the socket stays behind, stale. A second time it does nothing."""
        if not self._thread.is_alive():
            return
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class Ran(list[dict[str, Any]]):
    """What each step came to; `stderr` is what the plugin said."""

    stderr: str = ""


class Plugin:
    """A plugin as it is installed, in `runtime`; its command client is a script of the test's own."""

    def __init__(self, agent: str, runtime: str, folder: Path) -> None:
        self.agent = agent
        self.home = folder
        self.socket = folder / "gateway.sock"
        self.asked = folder / "client.asked"
        self._runtime = runtime
        self._folder = folder
        self.client("exit 1")

    def client(self, script: str) -> None:
        """What the command client does; its arguments and what it is given are in `asked`."""
        program = self._folder / "python"
        program.write_text(f'#!/bin/sh\n{{ echo "$@"; cat; echo; }} >> {self.asked}\n{script}\n')
        program.chmod(0o755)

    def run(self, *steps: dict[str, Any], closed: Collection[str] = (), seconds: float = 60) -> Ran:
        """Take the steps in one process."""
        place = ClientPlace(self.home, self.socket, None, python=str(self._folder / "python"))
        text, changed = re.subn(r'"seconds": \d+', f'"seconds": {seconds}', plugin_text(self.agent, place, closed))
        assert changed == 1
        file = self._folder / "plugin.mjs"
        file.write_text(text)
        argv = [*_RUNTIMES[self._runtime][0], str(HERE / f"{self.agent}_driver.mjs"), str(file), "/work"]
        environ = {**os.environ, **_RUNTIMES[self._runtime][1]}
        done = subprocess.run(argv, input=json.dumps(steps), capture_output=True, text=True, env=environ, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        ran = Ran(json.loads(line) for line in done.stdout.splitlines())
        ran.stderr = done.stderr
        return ran


_RUNTIMES: dict[str, tuple[list[str], dict[str, str]]] = {
    "node": (["node"], {}),
    # OpenCode is Bun and its own code in one file, which this variable makes plain Bun.
    "bun": ([str(programs("opencode") / "opencode"), "run"], {"BUN_BE_BUN": "1"}),
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "runtime" in metafunc.fixturenames:
        metafunc.parametrize("runtime", _RUNTIMES)


@pytest.fixture
def plugin(agent: str, runtime: str) -> Iterator[Plugin]:
    """The plugin for the module's `agent`."""
    if runtime == "node":
        require("node")
    elif not installed("opencode"):
        pytest.skip("OpenCode, whose Bun this needs, is not installed; `make test-agents AGENTS=opencode` installs it")
    # A socket's path may not be as long as pytest's own folders.
    with tempfile.TemporaryDirectory(prefix="treblehook-", dir="/tmp") as folder:
        yield Plugin(agent, runtime, Path(folder))


@pytest.fixture
def daemon(plugin: Plugin) -> Iterator[Daemon]:
    """Whoever answers the plugin."""
    with ExitStack() as stack:
        daemon = Daemon(plugin.socket)
        stack.callback(daemon.close)
        yield daemon
