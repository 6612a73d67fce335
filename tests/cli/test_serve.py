"""`treblehook serve`, in a process of its own."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx2
import pytest

from tests.support.command_home import MAIN, Ran
from tests.support.command_run import calls, wait_for
from tests.support.daemon_process import HOOKED, DaemonProcess
from tests.support.nest import HELD, KEEPS_STDIN
from tests.support.processes import alive
from tests.support.served import Stage


@pytest.fixture
def serving(tmp_path: Path) -> Stage:
    stage = Stage(tmp_path)
    stage.script.write_text(json.dumps({"turns": [{"text": "Dug.", "repeat": 1000}]}))
    return stage


def refused(home: Path, *options: str) -> Ran:
    """The command where it is not to serve."""
    done = subprocess.run(
        [sys.executable, "-m", "treblehook", "serve", "--home", str(home), *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert done.stdout == ""
    return Ran(done.returncode, done.stdout, done.stderr)


def told(stage: Stage, hook: str) -> list[dict[str, object]]:
    file = stage.files.hooks / f"{hook}.stdin"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def test_the_first_line_says_where_it_listens(serving: Stage) -> None:
    with DaemonProcess(serving.home) as daemon:
        assert daemon.first == {"type": "listening", "url": daemon.first["url"]}
        assert daemon.first["url"].startswith("http://127.0.0.1:")
        assert daemon.client.get("/healthz").json()["status"] == "ok"
        token = (serving.home / "token").read_text().strip()
        assert daemon.client.get("/metrics", headers={"x-forwarded-for": "203.0.113.7"}).status_code == 401
        headers = {"x-forwarded-for": "203.0.113.7", "authorization": f"Bearer {token}"}
        assert daemon.client.get("/metrics", headers=headers).status_code == 200
        assert daemon.stop() == 0
        assert daemon.process.stdout is not None
        assert daemon.process.stdout.read() == b""
        assert daemon.errors == ""


def test_a_home_that_is_not_there_yet_is_made(tmp_path: Path) -> None:
    with DaemonProcess(tmp_path / "new") as daemon:
        assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700
        assert (tmp_path / "new" / "token").stat().st_mode & 0o777 == 0o600
        assert daemon.stop(signal.SIGINT) == 0


def test_what_the_settings_say(serving: Stage) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    serving.files.settings(f'[web]\nport = {port}\nhost = "localhost"\nhosts = ["hooks.example.org"]\napi_key = ""\n')
    command = (sys.executable, "-m", "treblehook", "serve", "--home")
    with DaemonProcess(serving.home, command=command) as daemon:
        assert daemon.first["url"] == f"http://localhost:{port}"
        assert daemon.client.get("/metrics", headers={"x-forwarded-for": "203.0.113.7", "host": "hooks.example.org"}).status_code == 200
        assert "config.toml: web.api_key: it is empty: every caller who reaches the port may do everything" in daemon.errors
        assert not (serving.home / "token").exists()


def test_ipv6(serving: Stage) -> None:
    if not socket.has_ipv6 or not Path("/proc/net/if_inet6").exists() or not Path("/proc/net/if_inet6").read_text():
        pytest.skip("this machine has no IPv6")
    with DaemonProcess(serving.home, "--host", "::1") as daemon:
        assert daemon.first["url"].startswith("http://[::1]:")
        assert daemon.client.get("/metrics").status_code == 200


def test_it_ends_properly(serving: Stage) -> None:
    serving.files.hook("session_end", "logbook", f'{KEEPS_STDIN}echo \'{{"power":"observe"}}\'')
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with DaemonProcess(serving.home) as daemon:
            sessions = [daemon.client.post("/api/sessions", json=serving.opening).json()["id"] for _ in range(3)]
            with daemon.client.stream("GET", f"/api/sessions/{sessions[0]}/events") as events:
                lines = events.iter_lines()
                while next(lines) != "event: session":
                    continue
                daemon.process.send_signal(number)
                rest = list(lines)
            assert rest[-3:] == ["event: closed", 'data: {"type":"closed","reason":"shutdown"}', ""]
            assert daemon.process.wait() == 0
            assert daemon.errors == ""
    reasons = [payload["reason"] for payload in told(serving, "logbook")]
    assert reasons == ["shutdown"] * 9


def test_a_turn_that_runs_is_stopped_and_its_tool_with_it(serving: Stage) -> None:
    serving.script.write_text(json.dumps({"turns": [calls("echo $$ > pid; sleep 1000")]}))
    with DaemonProcess(serving.home, "--approve", "always") as daemon:
        session = daemon.client.post("/api/sessions", json=serving.opening).json()["id"]
        daemon.client.post(f"/api/sessions/{session}/prompts", json={"prompt": "dig"})
        wait_for(lambda: (serving.workspace / "pid").exists() and bool((serving.workspace / "pid").read_text()))
        assert daemon.stop() == 0
        wait_for(lambda: not alive(int((serving.workspace / "pid").read_text())))
    end = json.loads((serving.home / "sessions" / f"{session}.jsonl").read_text().splitlines()[-1])
    assert (end["type"], end["status"]) == ("end", "interrupted")


def test_handlers_of_what_has_arrived_are_waited_for(serving: Stage) -> None:
    with DaemonProcess(serving.home, command=HOOKED) as daemon:
        (serving.home / "hold").touch()
        assert daemon.deliver(b"1") == 200
        daemon.wait_received(1)
        assert daemon.deliver(b"2") == 200
        daemon.process.send_signal(signal.SIGTERM)
        wait_for(lambda: _refuses(daemon))
        (serving.home / "hold").unlink()
        assert daemon.process.wait() == 0
        assert [one["body"] for one in daemon.received()] == ["1", "2"]


def _refuses(daemon: DaemonProcess) -> bool:
    try:
        daemon.client.get("/healthz")
    except httpx2.TransportError:
        return True
    return False


def test_a_second_signal_ends_it_at_once(serving: Stage) -> None:
    serving.files.hook("session_end", "slow", f"cat >/dev/null\n{HELD}")
    with DaemonProcess(serving.home) as daemon:
        daemon.client.post("/api/sessions", json=serving.opening)
        daemon.process.send_signal(signal.SIGTERM)
        wait_for(lambda: (serving.files.hooks / "slow.started").exists())
        assert daemon.stop() == -signal.SIGTERM
    # The hook outlives the daemon; it shall not outlive the test.
    (serving.files.hooks / "slow.go").touch()


def test_an_end_hook_that_does_not_end_is_not_waited_for_for_ever(serving: Stage) -> None:
    serving.files.hook("session_end", "slow", f"cat >/dev/null\n{HELD}")
    with DaemonProcess(serving.home) as daemon:
        daemon.client.post("/api/sessions", json=serving.opening)
        began = time.monotonic()
        assert daemon.stop() == 0
        assert time.monotonic() - began < 60


def test_a_second_daemon_on_the_same_home(serving: Stage) -> None:
    with DaemonProcess(serving.home) as daemon:
        ran = refused(serving.home, "--port", "0")
        expected = f"error: {serving.home} is already served by another daemon, process {daemon.process.pid} at {daemon.first['url']}\n"
        assert (ran.status, ran.err) == (2, expected)
        daemon.kill()
    with DaemonProcess(serving.home) as daemon:
        assert daemon.client.get("/healthz").status_code == 200


def test_a_port_in_use(serving: Stage, tmp_path: Path) -> None:
    with DaemonProcess(serving.home) as daemon:
        port = daemon.first["url"].rpartition(":")[2]
        ran = refused(tmp_path / "other", "--port", port)
    assert ran.status == 2
    assert ran.err.startswith(f"error: 127.0.0.1:{port}: it cannot be listened on: Address already in use (")
    assert "--port" in ran.err


@pytest.mark.parametrize("host", ["no.such.host.invalid", "203.0.113.7"])
def test_an_address_that_is_not_ours(serving: Stage, host: str) -> None:
    ran = refused(serving.home, "--host", host, "--port", "0")
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert host in ran.err


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("config.toml", "[web", "config.toml"),
        ("config.toml", "[web]\nport = 'x'", "web.port: found 'x'"),
        ("config.toml", "[web]\nhosts = [1]", "web.hosts[0]: found 1"),
        ("config.json", "{", "config.json"),
        ("token", "short", "token: found a key of 5 characters"),
        ("webhooks.sqlite3", "no database, but text that is long enough to be looked at", "the queue cannot be opened"),
    ],
)
def test_what_does_not_load(serving: Stage, name: str, content: str, told: str) -> None:
    (serving.home / name).write_text(content)
    ran = refused(serving.home, "--port", "0")
    assert ran.status == 2
    assert told in ran.err
    # Nothing is left locked.
    (serving.home / name).unlink()
    with DaemonProcess(serving.home) as daemon:
        assert daemon.client.get("/healthz").status_code == 200


def test_a_home_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    ran = refused(tmp_path / "home", "--port", "0")
    assert (ran.status, "it is not a folder" in ran.err) == (2, True)


def test_ask_says_that_nobody_can_be_asked(serving: Stage) -> None:
    serving.script.write_text(json.dumps({"turns": [calls("echo dug"), {"text": "Done."}]}))
    with DaemonProcess(serving.home, "--approve", "ask") as daemon:
        session = daemon.client.post("/api/sessions", json=serving.opening).json()["id"]
        daemon.client.post(f"/api/sessions/{session}/prompts", json={"prompt": "dig"})
        wait_for(lambda: "denied" in daemon.errors)
        assert "echo dug" in daemon.errors


def test_webhook_secrets_with_a_fault_are_a_warning(serving: Stage) -> None:
    serving.secrets("[webhooks.ci]\nsecret = 'short'\n")
    (serving.home / "webhooks.toml").chmod(0o640)
    with DaemonProcess(serving.home) as daemon:
        assert daemon.deliver(b"{}") == 401
        assert daemon.stop() == 0
        assert "it has mode 0640" in daemon.errors
        assert "webhooks.ci.secret: it has 5 bytes" in daemon.errors


PLUGIN = """
cru.on("webhook:received", { pattern = "ci" }, function(ctx, event)
  local payload = cru.json.decode(event.body)
  cru.log("warn", "CI said " .. tostring(payload.status) .. " " .. tostring(event.headers.authorization))
end)
"""


def test_a_plugin_hears_a_delivery_and_is_reloaded(serving: Stage) -> None:
    plugin = serving.home / "plugins" / "ci" / "init.lua"
    plugin.parent.mkdir(parents=True)
    plugin.write_text(PLUGIN)
    with DaemonProcess(serving.home) as daemon:
        assert daemon.deliver(b'{"status":"green"}') == 200
        wait_for(lambda: "CI said green nil" in daemon.errors)

        plugin.write_text(PLUGIN.replace("CI said", "CI says"))
        answer = daemon.client.post("/api/plugins/ci/reload")
        assert (answer.status_code, answer.json()) == (200, {"plugin": "ci"})
        assert daemon.deliver(b'{"status":"red"}') == 200
        wait_for(lambda: "CI says red nil" in daemon.errors)
        assert "CI said red" not in daemon.errors

        plugin.write_text("local x = ")
        answer = daemon.client.post("/api/plugins/ci/reload")
        assert (answer.status_code, answer.json()["error"]["code"]) == (500, "plugin_broken")
        assert "init.lua" in answer.json()["error"]["message"]
        assert daemon.client.get("/healthz").json()["status"] == "degraded"
        assert daemon.client.post("/api/plugins/other/reload").status_code == 404


def test_a_plugin_that_is_switched_off(serving: Stage) -> None:
    for name in ("on", "off"):
        (serving.home / "plugins" / name).mkdir(parents=True)
        (serving.home / "plugins" / name / "init.lua").write_text("")
    serving.files.settings("[plugins.off]\nenabled = false\n")
    with DaemonProcess(serving.home) as daemon:
        assert daemon.client.post("/api/plugins/off/reload").status_code == 409
        assert daemon.client.post("/api/plugins/on/reload").status_code == 200


def test_help_loads_no_server() -> None:
    heavy = ("starlette", "uvicorn", "httptools", "tomlkit")
    code = f"import sys\ntry:\n {MAIN}\nfinally:\n print([name for name in {heavy} if name in sys.modules])"
    for arguments in (["--help"], ["serve", "--help"], ["webhook", "add", "--help"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "100"}
        )
        assert done.stdout.endswith("[]\n"), done.stdout + done.stderr
