"""The installed command line where neither the daemon nor the client can be had, and what it takes for an answer."""

import json
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.gateway.honoured import HONOURED, honours
from tests.support.needs import require
from treblehook.gateway.agents import codec_of
from treblehook.gateway.lines import ClientPlace, command_line

COMMANDS = ("claude-code", "codex", "gemini", "qwen", "copilot")


def run(agent: str, event: str, folder: Path, *, closed: bool, curl: bool = True) -> "subprocess.CompletedProcess[str]":
    """The line, where the Python that it knows is gone; nothing listens unless the test does."""
    if curl:
        require("curl")
    place = ClientPlace(folder / "home", folder / "sock", shutil.which("curl") if curl else None, str(folder / "no python"))
    line = command_line(agent, event, place, closed=closed)
    environ = {**os.environ, "HOME": str(folder)}
    return subprocess.run(["sh", "-c", line], input='{"a": "b"}', capture_output=True, text=True, check=False, timeout=60, env=environ)


@contextmanager
def answering(path: Path, answer: bytes, *, after: float = 0) -> Iterator[None]:
    """Something that listens at `path` and says the same to everybody, `after` seconds, and hangs up."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.recv(65536)
                time.sleep(after)
                connection.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


@pytest.mark.parametrize("curl", [True, False])
@pytest.mark.parametrize(("agent", "event"), [(agent, hooked.name) for agent in COMMANDS for hooked in codec_of(agent).hooked])
def test_a_closed_line_denies_and_says_why(tmp_path: Path, agent: str, event: str, curl: bool) -> None:
    ran = run(agent, event, tmp_path, closed=True, curl=curl)
    assert ran.returncode == 2
    assert "the gateway cannot be reached, the call is denied" in ran.stderr
    if agent != "copilot":
        assert ran.stdout == ""
        return
    assert honours(HONOURED[agent], event, json.loads(ran.stdout))
    assert json.loads(ran.stdout).keys() == codec_of(agent).refuse(event, "words").keys()


@pytest.mark.parametrize("curl", [True, False])
@pytest.mark.parametrize("agent", COMMANDS)
def test_an_open_line_lets_pass_and_says_so(tmp_path: Path, agent: str, curl: bool) -> None:
    ran = run(agent, codec_of(agent).hooked[0].name, tmp_path, closed=False, curl=curl)
    assert ran.returncode == 0
    assert "the hooks were not asked" in ran.stderr
    assert json.loads(ran.stdout).keys() == {"systemMessage"}


@pytest.mark.parametrize("said", [b"", b"<html>", b"null", b"[1]"])
@pytest.mark.parametrize("head", [b"200 OK", b"204 No Content", b"302 Found\r\nLocation: /elsewhere"])
def test_only_an_object_is_an_answer(tmp_path: Path, head: bytes, said: bytes) -> None:
    with answering(tmp_path / "sock", b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (head, len(said), said)):
        ran = run("claude-code", "PreToolUse", tmp_path, closed=True)
    assert (ran.returncode, ran.stdout) == (2, "")


@pytest.mark.parametrize(
    "habit", ["include", 'write-out = "%{http_code}"', "output = /dev/null", "head", "trace = -", "url = file:///etc/passwd"]
)
def test_what_a_user_likes_curl_to_do_changes_no_answer(tmp_path: Path, habit: str) -> None:
    (tmp_path / ".curlrc").write_text(f"{habit}\n")
    with answering(tmp_path / "sock", b'HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\n{"decision":"no"}'):
        ran = run("claude-code", "PreToolUse", tmp_path, closed=True)
    assert (ran.returncode, ran.stdout) == (0, '{"decision":"no"}')


@pytest.mark.parametrize(("seconds", "answered"), [(0, True), (3.1, False)])
def test_a_call_whose_daemon_dies_late_is_not_begun_anew(tmp_path: Path, seconds: float, answered: bool) -> None:
    require("curl")
    client = tmp_path / "python"
    client.write_text("#!/bin/sh\nprintf '{}'\n")
    client.chmod(0o755)
    line = command_line("codex", "PreToolUse", ClientPlace(tmp_path, tmp_path / "sock", shutil.which("curl"), str(client)), closed=True)
    with answering(tmp_path / "sock", b"", after=seconds):
        ran = subprocess.run(["sh", "-c", line], input="{}", capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stdout) == ((0, "{}") if answered else (2, ""))
