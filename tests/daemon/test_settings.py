"""`[web]`, the key and the secrets: read strictly, and what is wrong is told with its place."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.deliveries import SECRET, secrets_file
from treblehook.daemon.lock import HomeLock, HomeServed
from treblehook.daemon.settings import WebSettings, web_settings
from treblehook.daemon.token import load_token
from treblehook.daemon.webhooks.secrets import load_secrets
from treblehook.host.problems import ConfigInvalid


def test_nothing_is_set() -> None:
    assert web_settings({}, "config.toml") == (WebSettings("127.0.0.1", 3000, (), None), [])


def test_everything_is_set() -> None:
    values = {"host": "0.0.0.0", "port": 8080, "hosts": ["hooks.example.org", "192.0.2.1", "[::2]"], "api_key": "k" * 16}
    assert web_settings(values, "f") == (WebSettings("0.0.0.0", 8080, ("hooks.example.org", "192.0.2.1", "[::2]"), "k" * 16), [])


@pytest.mark.parametrize(
    ("values", "place", "level"),
    [
        ({"host": 5}, "web.host", "error"),
        ({"host": ""}, "web.host", "error"),
        ({"host": "http://localhost"}, "web.host", "error"),
        ({"host": "localhost:80"}, "web.host", "error"),
        ({"port": "80"}, "web.port", "error"),
        ({"port": 0}, "web.port", "error"),
        ({"port": 65536}, "web.port", "error"),
        ({"port": True}, "web.port", "error"),
        ({"hosts": "hooks.example.org"}, "web.hosts", "error"),
        ({"hosts": ["good", "https://x"]}, "web.hosts[1]", "error"),
        ({"hosts": ["*"]}, "web.hosts[0]", "error"),
        ({"hosts": ["x:80"]}, "web.hosts[0]", "error"),
        ({"hosts": [1]}, "web.hosts[0]", "error"),
        ({"api_key": 5}, "web.api_key", "error"),
        ({"api_key": "schlüssel-der-lang-ist"}, "web.api_key", "error"),
        ({"api_key": " spaces around it "}, "web.api_key", "error"),
        ({"api_key": "short"}, "web.api_key", "warning"),
        ({"api_key": ""}, "web.api_key", "warning"),
        ({"prot": 80}, "web.prot", "warning"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(values: dict[str, Any], place: str, level: str) -> None:
    settings, problems = web_settings(values, "config.toml")
    assert [(problem.file, problem.place, problem.level) for problem in problems] == [("config.toml", place, level)]
    assert problems[0].message
    assert problems[0].remedy
    if level == "error":
        assert settings == WebSettings(hosts=settings.hosts)


def test_a_key_is_never_repeated_in_a_problem() -> None:
    for key in ("short", "", "schlüssel-der-lang-ist"):
        _, problems = web_settings({"api_key": key}, "f")
        assert not key or key not in str(problems[0])


def test_the_key_is_minted_once(tmp_path: Path) -> None:
    key, problems = load_token(tmp_path)
    assert (len(key), problems) == (64, [])
    assert (tmp_path / "token").stat().st_mode & 0o777 == 0o600
    assert load_token(tmp_path) == (key, [])
    assert [path.name for path in tmp_path.iterdir()] == ["token"]


def test_a_key_that_others_may_read_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("a-key-of-my-own-choice\n")
    (tmp_path / "token").chmod(0o644)
    key, [problem] = load_token(tmp_path)
    assert (key, problem.level, problem.remedy) == ("a-key-of-my-own-choice", "warning", f"chmod 600 {tmp_path / 'token'}")


@pytest.mark.parametrize("content", [b"", b"\n", b"short", b"\xff" * 20, "ä".encode() * 20])
def test_a_file_that_holds_no_key(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "token").write_bytes(content)
    with pytest.raises(ConfigInvalid, match="token"):
        load_token(tmp_path)


def test_a_folder_in_the_place_of_the_key(tmp_path: Path) -> None:
    (tmp_path / "token").mkdir()
    with pytest.raises(ConfigInvalid, match="cannot be read"):
        load_token(tmp_path)


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir])
def test_what_is_no_file_of_secrets_stops_nothing(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "webhooks.toml")

    secrets, problems = load_secrets(tmp_path)

    assert secrets == {}
    assert len(problems) == 1


def test_no_secrets(tmp_path: Path) -> None:
    assert load_secrets(tmp_path) == ({}, [])


@pytest.mark.parametrize("content", [b"[webhooks", b"\xff", b"webhooks = 1", b"[[webhooks]]\nsecret='x'", b"a" * 3 + b"=" + b"[" * 5000])
def test_a_file_that_is_malformed_verifies_nothing(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "webhooks.toml"
    file.write_bytes(content)
    file.chmod(0o600)
    secrets, [problem] = load_secrets(tmp_path)
    assert (secrets, problem.file, problem.level) == ({}, str(file), "warning")


def test_what_is_wrong_with_one_webhook_keeps_no_other_from_working(tmp_path: Path) -> None:
    file = tmp_path / "webhooks.toml"
    file.write_text(
        secrets_file(good=SECRET, tiny="fifteen-bytes-x", just="sixteen-bytes-xx", one="the-very-same-secret", two="the-very-same-secret")
        + "[webhooks.none]\n[webhooks.wrong]\nsecret = 5\n[webhooks.more]\nsecret='another-long-secret'\nscheme='github'\n[other]\n"
    )
    file.chmod(0o644)

    secrets, problems = load_secrets(tmp_path)

    assert secrets == {"good": SECRET.encode(), "just": b"sixteen-bytes-xx", "more": b"another-long-secret"}
    assert {problem.place for problem in problems} == {
        "", "webhooks.tiny.secret", "webhooks.one.secret", "webhooks.two.secret", "webhooks.none", "webhooks.wrong.secret",
        "webhooks.more.scheme", "other",
    }  # fmt: skip
    assert all(problem.level == "warning" for problem in problems)
    assert not any("very-same" in str(problem) or "fifteen" in str(problem) for problem in problems)


def test_a_length_is_counted_in_bytes(tmp_path: Path) -> None:
    (tmp_path / "webhooks.toml").write_text(secrets_file(ci="äääääääx"), encoding="utf-8")
    assert load_secrets(tmp_path)[0] == {}
    (tmp_path / "webhooks.toml").write_text(secrets_file(ci="ääääääää"), encoding="utf-8")
    assert load_secrets(tmp_path)[0] == {"ci": "ääääääää".encode()}


def test_one_daemon_to_a_home(tmp_path: Path) -> None:
    with HomeLock(tmp_path) as lock:
        lock.tell("http://127.0.0.1:1")
        with pytest.raises(HomeServed) as raised, HomeLock(tmp_path):
            raise AssertionError
        assert (raised.value.pid, raised.value.url) == (os.getpid(), "http://127.0.0.1:1")
        assert str(raised.value) == f"{tmp_path} is already served by another daemon, process {os.getpid()} at http://127.0.0.1:1"
    with HomeLock(tmp_path):
        assert (tmp_path / "serve.lock").read_bytes() == b""


def test_a_lock_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "serve.lock").mkdir()
    with pytest.raises(ConfigInvalid, match="the home cannot be locked"), HomeLock(tmp_path):
        raise AssertionError
