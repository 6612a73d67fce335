"""Where no daemon runs, the client starts one; where that fails, it asks the hooks itself."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.daemons import end_daemons
from treblehook.gateway.client import client
from treblehook.gateway.place import socket_path

GUARD = """
cru.on("pre_tool_call", { pattern = "bash" }, function(ctx, event)
  if event.args.command:find("treasure") then return { cancel = true, reason = "Leave it." } end
end)
"""


def payload(command: str) -> bytes:
    """A call that Codex is about to make."""
    facts = {"session_id": "s", "turn_id": "t", "transcript_path": "/t", "cwd": "/tmp", "model": "m", "permission_mode": "default"}
    call = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "c"}
    return json.dumps({**facts, **call}).encode()


def ask(home: Path, command: str = "rm treasure", policy: str = "closed") -> "subprocess.CompletedProcess[bytes]":
    """What Codex would run, and what it would send."""
    words = [client.__file__, "codex", "PreToolUse", policy, str(socket_path(home)), str(home)]
    return subprocess.run([sys.executable, "-S", "-E", *words], input=payload(command), capture_output=True, timeout=120)


def reason(ran: "subprocess.CompletedProcess[bytes]") -> str:
    """Why the call was denied."""
    assert ran.returncode == 0, ran.stderr
    found: str = json.loads(ran.stdout)["hookSpecificOutput"]["permissionDecisionReason"]
    return found


def daemon(home: Path) -> int:
    """The process that serves the home."""
    found: int = json.loads((home / "serve.lock").read_text())["pid"]
    return found


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home with a guard, on a port of its own; its daemon ends with the test."""
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "init.lua").write_text(GUARD)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        (folder / "config.toml").write_text(f"[web]\nport = {free.getsockname()[1]}\n")
    yield folder
    end_daemons(folder)


def test_the_first_call_starts_the_daemon_and_the_next_ones_find_it(home: Path) -> None:
    assert "Leave it." in reason(ask(home))
    first = daemon(home)
    assert json.loads(ask(home, "ls").stdout) == {}
    assert daemon(home) == first
    assert (home / "gateway" / "daemon.log").read_text().count("listening") == 1


def test_many_first_calls_at_once_have_one_daemon(home: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert all("Leave it." in reason(ran) for ran in pool.map(lambda _: ask(home), range(4)))
    # Nobody asked the hooks in a process of its own: that would have been another file.
    assert len(list((home / "sessions").glob("*.jsonl"))) == 1
    assert (home / "gateway" / "daemon.log").read_text().count("listening") == 1


def test_where_the_port_is_taken_the_daemon_answers_over_its_unix_socket_alone(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        (home / "config.toml").write_text(f"[web]\nport = {taken.getsockname()[1]}\n")
        assert "Leave it." in reason(ask(home))
        first = daemon(home)
        assert json.loads(ask(home, "ls").stdout) == {}
        assert daemon(home) == first
    log = (home / "gateway" / "daemon.log").read_text()
    assert "it cannot be listened on" in log
    assert f"unix:{socket_path(home)}" in log


def test_one_that_comes_second_is_no_error_and_asks_the_first(home: Path) -> None:
    ask(home)
    words = [sys.executable, "-m", "treblehook", "serve", "--on-demand", "--home", str(home)]
    second = subprocess.run(words, capture_output=True, timeout=60)
    assert (second.returncode, second.stdout, second.stderr) == (0, b"", b"")


def test_a_daemon_that_was_killed_is_followed_by_another(home: Path) -> None:
    ask(home)
    first = daemon(home)
    os.kill(first, signal.SIGKILL)
    assert "Leave it." in reason(ask(home))
    assert daemon(home) != first


@pytest.mark.parametrize("policy", ["closed", "open"])
def test_the_hooks_are_asked_right_here_where_no_daemon_can_start(home: Path, policy: str) -> None:
    (home / "config.toml").write_text("[web]\nport = 99999999\n")
    assert "Leave it." in reason(ask(home, policy=policy))
    assert json.loads(ask(home, "ls", policy=policy).stdout) == {}
    # The session has been met, and stands in one file.
    assert len(list((home / "sessions").glob("*.jsonl"))) == 1


@pytest.mark.parametrize(("policy", "status"), [("closed", 2), ("open", 0)])
def test_a_home_that_does_not_load_counts_as_the_policy_says(home: Path, policy: str, status: int) -> None:
    (home / "config.toml").write_text("not = [toml\n")
    ran = ask(home, policy=policy)
    assert (ran.returncode, ran.stdout) == (status, b"")
    assert b"config.toml" in ran.stderr


def test_the_folder_that_the_agent_works_in_is_not_searched_for_code(home: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    for package in ("treblehook", "_socket", "asyncio", "msgspec"):
        (trap / package).mkdir(parents=True)
        (trap / package / "__init__.py").write_text("raise SystemExit(0)")
    words = [client.__file__, "codex", "PreToolUse", "closed", str(socket_path(home)), str(home)]
    environment = {**os.environ, "PYTHONPATH": str(trap)}
    command = [sys.executable, "-S", "-E", *words]
    ran = subprocess.run(command, input=payload("rm treasure"), capture_output=True, timeout=120, cwd=trap, env=environment)
    assert "Leave it." in reason(ran)


def test_a_daemon_that_nobody_finds_any_more_makes_room_for_another(home: Path) -> None:
    ask(home)
    first = daemon(home)
    socket_path(home).unlink()
    assert "Leave it." in reason(ask(home))
    assert daemon(home) != first


def test_what_the_daemon_has_started_is_started_anew_where_it_is_configured_otherwise(home: Path) -> None:
    ask(home)
    first = daemon(home)
    with (home / "config.toml").open("a") as config:
        config.write('[claude]\nsettings = ["project"]\n')
    until = time.monotonic() + 60
    while time.monotonic() < until and socket_path(home).exists():
        time.sleep(0.02)
    assert "Leave it." in reason(ask(home))
    assert daemon(home) != first
    assert "config.toml has been edited" in (home / "gateway" / "daemon.log").read_text()


@pytest.mark.parametrize(("policy", "status"), [("closed", 2), ("open", 0)])
def test_a_home_that_is_gone_is_not_replaced_by_one_without_hooks(tmp_path: Path, policy: str, status: int) -> None:
    gone = tmp_path / "home"
    ran = ask(gone, policy=policy)
    assert (ran.returncode, ran.stdout) == (status, b"")
    assert str(gone).encode() in ran.stderr
    assert not gone.exists()
