"""The command client as a real process, against real unix sockets."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from treblehook.gateway.client import client
from treblehook.gateway.client.slow import environment
from treblehook.gateway.lines import AGENT_SECONDS

FILE = Path(client.__file__)
ANSWER = b'{"decision":"block"}'


def response(body: bytes, status: bytes = b"200 OK", length: int | None = None) -> bytes:
    """A whole answer."""
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body) if length is None else length, body)


@contextmanager
def answering(path: Path, answer: Callable[[socket.socket], None]) -> Iterator[list[bytes]]:
    """Something that listens at `path`, takes one request a connection, and answers it somehow."""
    heard: list[bytes] = []
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
                heard.append(read_request(connection))
                answer(connection)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield heard
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


def read_request(connection: socket.socket) -> bytes:
    """A whole request."""
    got = b""
    while b"\r\n\r\n" not in got:
        got += connection.recv(65536)
    head, _, body = got.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def run(path: Path, home: Path, body: bytes = b"{}", policy: str = "closed") -> "subprocess.CompletedProcess[bytes]":
    """Run the client as an agent does. Nothing can take over from it here: the home is a file."""
    words = [sys.executable, "-S", "-E", str(FILE), "codex", "PreToolUse", policy, str(path), str(home)]
    return subprocess.run(words, input=body, capture_output=True, timeout=120)


@pytest.fixture
def no_home(tmp_path: Path) -> Path:
    file = tmp_path / "no-home"
    file.write_text("in the way")
    return file


@pytest.mark.parametrize("body", [b"", b"{}", b"x" * 1_000_000, b'{"a": "\xff"}'], ids=["empty", "small", "large", "no text"])
def test_the_payload_goes_there_and_the_answer_comes_back(tmp_path: Path, no_home: Path, body: bytes) -> None:
    with answering(tmp_path / "s", lambda connection: connection.sendall(response(ANSWER))) as heard:
        ran = run(tmp_path / "s", no_home, body)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, ANSWER, b"")
    head, _, sent = heard[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /hooks/codex?event=PreToolUse HTTP/1.1\r\n")
    assert sent == body


WRONG = {
    "an error": response(ANSWER, b"500 Internal Server Error"),
    "an unknown agent": response(ANSWER, b"404 Not Found"),
    "a redirect": response(ANSWER, b"302 Found"),
    "cut in its body": response(ANSWER, length=len(ANSWER) + 1),
    "more than it says": response(ANSWER, length=len(ANSWER) - 1),
    "cut in its head": b"HTTP/1.1 200 OK\r\nContent-Le",
    "no HTTP": b"hello\r\n\r\n",
    "nothing": b"",
    "no object": response(b"<html>"),
    "an empty text": response(b""),
}


@pytest.mark.parametrize("policy", ["closed", "open"])
@pytest.mark.parametrize("answer", WRONG.values(), ids=WRONG.keys())
def test_what_is_no_answer_counts_as_the_policy_says(tmp_path: Path, no_home: Path, answer: bytes, policy: str) -> None:
    with answering(tmp_path / "s", lambda connection: connection.sendall(answer)):
        ran = run(tmp_path / "s", no_home, policy=policy)
    assert ran.returncode == (2 if policy == "closed" else 0)
    assert ran.stdout == b""
    assert ran.stderr.startswith(b"treblehook: ")
    assert ran.stderr.count(b"\n") == 1
    assert (b"denied" in ran.stderr) is (policy == "closed")


@pytest.mark.parametrize("policy", ["closed", "open"])
@pytest.mark.parametrize("there", ["nothing", "a stale socket", "a file", "a folder"])
def test_where_nobody_listens(tmp_path: Path, no_home: Path, there: str, policy: str) -> None:
    path = tmp_path / "s"
    if there == "a stale socket":
        stale = socket.socket(socket.AF_UNIX)
        stale.bind(str(path))
        stale.close()
    elif there == "a file":
        path.write_text("")
    elif there == "a folder":
        path.mkdir()
    ran = run(path, no_home, policy=policy)
    assert (ran.returncode, ran.stdout) == (2 if policy == "closed" else 0, b"")
    assert ran.stderr.startswith(b"treblehook: ")


@pytest.mark.parametrize(("policy", "status"), [("closed", 2), ("open", 0)])
def test_a_client_that_can_read_nothing_counts_as_the_policy_says(tmp_path: Path, no_home: Path, policy: str, status: int) -> None:
    line = 'exec "$@" <&-'
    words = [sys.executable, "-S", "-E", str(FILE), "codex", "PreToolUse", policy, str(tmp_path / "s"), str(no_home)]
    ran = subprocess.run(["sh", "-c", line, "sh", *words], capture_output=True, timeout=120)
    assert (ran.returncode, ran.stdout) == (status, b"")
    assert ran.stderr.startswith(b"treblehook: ")


def test_what_an_open_one_says_is_what_an_agent_shows_its_user(tmp_path: Path, no_home: Path) -> None:
    ran = run(tmp_path / "s", no_home, policy="shown")
    assert ran.returncode == 0
    assert json.loads(ran.stdout) == {"systemMessage": ran.stderr.decode().strip()}
    assert ran.stderr.startswith(b"treblehook: ")
    assert ran.stderr.endswith(b"the hooks were not asked\n")


def test_a_daemon_that_takes_too_long_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "SECONDS", 0.2)
    release = threading.Event()
    try:
        with answering(tmp_path / "s", lambda connection: bool(release.wait(60)) and None):
            try:
                client.ask(str(tmp_path / "s"), "codex", "PreToolUse", b"{}")
            except client.NoAnswer as nobody:
                late = nobody.late
            release.set()
    finally:
        release.set()
    assert late


def test_the_client_ends_before_the_agent_lets_pass(tmp_path: Path, no_home: Path) -> None:
    arguments = ["codex", "PreToolUse", "closed", str(tmp_path / "s"), str(no_home)]
    code = f"from treblehook.gateway.client import client; client.WHOLE_SECONDS = 1; client.main({arguments})"
    release = threading.Event()
    try:
        with answering(tmp_path / "s", lambda connection: bool(release.wait(60)) and None):
            ran = subprocess.run([sys.executable, "-c", code], input=b"{}", capture_output=True, timeout=120)
            release.set()
    finally:
        release.set()
    assert ran.returncode == -signal.SIGALRM
    assert client.SECONDS < client.WHOLE_SECONDS < AGENT_SECONDS - 3


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")
def test_somebody_else_is_not_believed(tmp_path: Path, no_home: Path) -> None:
    path = tmp_path / "s"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    child = os.fork()
    if child == 0:
        try:
            os.setuid(65534)
            # Who listens is whoever called listen(): once more, as somebody else.
            listener.listen()
            connection, _ = listener.accept()
            connection.sendall(response(b"{}"))
            connection.recv(1)
        finally:
            os._exit(0)
    listener.close()
    ran = run(path, no_home)
    os.waitpid(child, 0)
    assert ran.returncode == 2
    assert ran.stdout == b""


def test_it_loads_nothing_but_the_interpreter() -> None:
    def loaded(*words: str) -> set[str]:
        ran = subprocess.run([sys.executable, "-S", "-E", "-X", "importtime", *words], input=b"", capture_output=True)
        lines = ran.stderr.decode().splitlines()
        return {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}

    arguments = ["codex", "PreToolUse", "open", "/nowhere", "/nowhere"]
    body = f"import sys; sys.argv[1:] = {arguments}; exec(compile(open({str(FILE)!r}).read(), 'client', 'exec'), {{'__name__': 'x'}})"
    assert loaded("-c", body) - loaded("-c", "pass") <= {"_socket", "posix"}


def test_the_daemon_inherits_nothing_that_the_agent_set_for_itself() -> None:
    given = {"PATH": "/bin", "HOME": "/root", "GEMINI_API_KEY": "k", "CLAUDE_CODE_MESSAGING_TOKEN": "t", "CLAUDECODE": "1"}
    assert environment(given) == {"PATH": "/bin", "HOME": "/root"}


def test_the_answer_is_one_json_object(tmp_path: Path, no_home: Path) -> None:
    with answering(tmp_path / "s", lambda connection: connection.sendall(response(b"{}"))):
        assert json.loads(run(tmp_path / "s", no_home).stdout) == {}
