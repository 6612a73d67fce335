"""A probe goes the way of a real call: the very line, the very URL; and what comes back is looked at."""

import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from treblehook.gateway.install.entries import HttpAccess, entries_of, is_own
from treblehook.gateway.install.homes import homes_of, homes_of_plugin
from treblehook.gateway.install.places import DIALECTS
from treblehook.gateway.install.plugins import plugin_text
from treblehook.gateway.install.probe import Probe, fire, plugin_probes, probes
from treblehook.gateway.lines import ClientPlace

HOMES = ["/home/me/.treblehook", '/home/it\'s "mine"/$HOME `x` \\n', "/home/|| { exit; }", "/Users/žofie/hooks"]


def place(home: str, curl: str | None = "/usr/bin/curl") -> ClientPlace:
    return ClientPlace(Path(home), Path(home, "gateway.sock"), curl)


def handlers(agent: str, forms: dict[str, Any], where: ClientPlace) -> dict[str, list[Any]]:
    entries = entries_of(agent, forms, DIALECTS[agent], where, HttpAccess("http://127.0.0.1:8777", "key"))
    return {event: entry["hooks"] if DIALECTS[agent].grouped else [entry] for event, entry in entries.items()}


@pytest.mark.parametrize("home", HOMES)
@pytest.mark.parametrize("curl", ["/usr/bin/curl", None])
@pytest.mark.parametrize("agent", DIALECTS)
def test_what_was_installed_is_known_again_with_the_home_that_it_asks(agent: str, curl: str | None, home: str) -> None:
    found = handlers(agent, {"Stop": "open", "PreToolUse": "closed"}, place(home, curl))
    for [handler] in found.values():
        assert is_own(handler, agent)
        assert not any(is_own(handler, other) for other in DIALECTS if other != agent)
    assert homes_of(handler for [handler] in found.values()) == [Path(home)]


@pytest.mark.parametrize("home", HOMES)
@pytest.mark.parametrize("agent", ["opencode", "pi"])
def test_a_plugin_is_known_again_with_the_home_that_it_asks(agent: str, home: str) -> None:
    text = plugin_text(agent, place(home), ["tool.execute.before", "tool_call"])
    assert homes_of_plugin(text) == [Path(home)]
    found = plugin_probes(text)
    assert {probe.words[-3] for probe in found} == {"closed", "open"}
    assert {probe.words[-4] for probe in found} == {"TreblehookProbe"}


@pytest.mark.parametrize("text", ["", "const TREBLEHOOK = {\n", "const TREBLEHOOK = {\n,\n}\n", "export default 1"])
def test_a_plugin_that_somebody_has_edited_asks_nobody(text: str) -> None:
    assert (homes_of_plugin(text), plugin_probes(text)) == ([], [])


def test_what_is_not_ours() -> None:
    for handler in (
        None,
        "x",
        {},
        {"command": 5},
        {"command": "treblehook hook claude-code"},
        {"command": "/x/treblehook/gateway/client/client.py codex Stop open /s /h"},
        {"url": "http://127.0.0.1:8777/hooks/claude-code/other?event=Stop"},
        {"url": "http://127.0.0.1:8777/hooks/codex?event=Stop"},
    ):
        assert not is_own(handler, "claude-code"), handler
    assert homes_of([{"command": "sh -c 'no end"}, {"command": "true"}, {"url": "http://x"}, {"command": "sh -c"}]) == []


def test_there_is_a_probe_for_each_distinct_way_and_commands_come_first() -> None:
    found = probes(
        "claude-code", handlers("claude-code", {"Stop": "http", "PreToolUse": "closed", "SessionStart": "open", "X": "http"}, place("/h"))
    )
    assert [probe.way for probe in found] == [
        "the command of PreToolUse",
        "the command of SessionStart",
        "http://127.0.0.1:8777/hooks/claude-code",
    ]
    assert found[2].url == "http://127.0.0.1:8777/hooks/claude-code?event=TreblehookProbe"
    assert found[2].headers == (("Authorization", "Bearer key"),)
    assert "PreToolUse" not in found[0].command
    assert found[0].command.count("TreblehookProbe") == 2


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("cat > payload; echo '{}'", ""),
        ("cat >/dev/null; echo '{}'; echo late >&2", ""),
        ("echo lost >&2; exit 2", "exit status 2: lost"),
        ("echo lost >&2", "no answer: lost"),
        ("true", "no answer: "),
        ('echo \'{"decision": "block"}\'', 'found the answer b\'{"decision": "block"}\\n\', which is not the gateway\'s'),
        ("exec /no/such/python -S", "exit status 127: "),
    ],
)
async def test_what_a_command_answers(tmp_path: Path, line: str, fault: str) -> None:
    probed = await fire(Probe("Stop", command=f"cd {tmp_path}; {line}"), os.environ)
    assert probed.fault == fault or (fault.endswith(": ") and probed.fault.startswith(fault))
    if (tmp_path / "payload").exists():
        assert json.loads((tmp_path / "payload").read_text())["hook_event_name"] == "TreblehookProbe"


async def test_a_command_that_never_ends_is_ended() -> None:
    probed = await fire(Probe("Stop", command="exec sleep 1000"), os.environ, seconds=0.2)
    assert probed.fault == "no answer within 0.2 s"


async def test_a_program_that_is_gone_is_told() -> None:
    probed = await fire(Probe("Stop", words=("/no/such/python", "-S")), os.environ)
    assert probed.fault == "/no/such/python cannot be started: No such file or directory"


class Answering(BaseHTTPRequestHandler):
    """Answers {} to whoever has the key."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        status = 200 if self.headers["authorization"] == "Bearer key" and self.path.endswith("?event=TreblehookProbe") else 401
        self.send_response(status)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/hooks/qwen?event=TreblehookProbe"
    server.shutdown()
    thread.join()
    server.server_close()


async def test_what_a_url_answers(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert (await fire(Probe("Stop", url=url, headers=(("Authorization", "Bearer key"),)), {})).fault == ""
    assert (await fire(Probe("Stop", url=url), {})).fault == "HTTP status 401"
    assert (await fire(Probe("Stop", url="http://127.0.0.1:9/hooks/qwen"), {})).fault.startswith("no answer: ")
