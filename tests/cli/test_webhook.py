"""`treblehook webhook`."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.command_home import CommandHome
from tests.support.daemon_process import HOOKED, DaemonProcess
from tests.support.needs import needs
from treblehook.daemon.webhooks.secrets import load_secrets


@pytest.fixture
def home(tmp_path: Path) -> CommandHome:
    return CommandHome(tmp_path / "home")


def secrets(home: CommandHome) -> dict[str, str]:
    found, problems = load_secrets(home.folder)
    assert problems == []
    return {name: secret.decode() for name, secret in found.items()}


def test_a_secret_is_minted(home: CommandHome) -> None:
    ran = home.run("webhook", "add", "ci")

    assert (ran.status, ran.err) == (0, "")
    [(name, secret)] = secrets(home).items()
    assert (name, re.fullmatch("[0-9a-f]{64}", secret) is not None) == ("ci", True)
    assert (home.folder / "webhooks.toml").stat().st_mode & 0o777 == 0o600
    assert ran.out.count(secret) == 2
    assert "http://127.0.0.1:3000/api/webhook/ci" in ran.out
    for word in ("GitHub", "Stripe", "curl", "X-Hub-Signature-256", "whsec_", "401", "tunnel", "[web]"):
        assert word in ran.out


def test_a_home_that_is_not_there_yet_is_made(tmp_path: Path) -> None:
    home = CommandHome(tmp_path / "elsewhere")
    ran = home.bare_run("webhook", "add", "ci", "--home", str(tmp_path / "new"))
    assert ran.status == 0
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


def test_each_has_its_own_and_comments_stay(home: CommandHome) -> None:
    file = home.folder / "webhooks.toml"
    file.write_text('# mine\n[webhooks.old]   # kept\nsecret = "an-older-secret-of-mine"\n\n[other]\nx = 1\n')
    file.chmod(0o644)
    for name in ("ci", "A-b_9"):
        assert home.run("webhook", "add", name).status == 0

    text = file.read_text()
    assert text.startswith('# mine\n[webhooks.old]   # kept\nsecret = "an-older-secret-of-mine"\n')
    assert "[other]\nx = 1\n" in text
    found = load_secrets(home.folder)[0]
    assert sorted(found) == ["A-b_9", "ci", "old"]
    assert len(set(found.values())) == 3
    assert file.stat().st_mode & 0o777 == 0o600


def test_one_that_is_there_is_replaced_only_when_asked(home: CommandHome) -> None:
    home.run("webhook", "add", "ci")
    before = secrets(home)

    ran = home.run("webhook", "add", "ci")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("error: webhook ci has a secret already, in ")
    assert "--rotate" in ran.err
    assert secrets(home) == before

    assert home.run("webhook", "add", "ci", "--rotate").status == 0
    assert secrets(home)["ci"] != before["ci"]


@pytest.mark.parametrize("name", ["", "a b", "a/b", "ä", "a.b", "ci\n", "../x"])
def test_a_name_is_letters_digits_and_two_signs(home: CommandHome, name: str) -> None:
    ran = home.bare_run("webhook", "add", "--home", str(home.folder), "--", name)
    assert (ran.status, ran.out) == (2, "")
    assert "allowed: letters, digits, _ and -" in ran.err
    assert not (home.folder / "webhooks.toml").exists()


@pytest.mark.parametrize("content", [b"[webhooks", b"\xff\xfe", b"webhooks = 5\n", b"[webhooks]\nci = 5\n", b"a = 1\na = 2\n"])
def test_a_file_that_cannot_be_parsed_is_not_touched(home: CommandHome, content: bytes) -> None:
    file = home.folder / "webhooks.toml"
    file.write_bytes(content)
    ran = home.run("webhook", "add", "ci", "--rotate")
    assert (ran.status, ran.out) == (2, "")
    assert str(file) in ran.err
    assert file.read_bytes() == content


def test_a_link_stays_a_link(home: CommandHome, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.toml").write_text("# far away\n")
    (home.folder / "webhooks.toml").symlink_to(tmp_path / "elsewhere.toml")
    assert home.run("webhook", "add", "ci").status == 0
    assert (home.folder / "webhooks.toml").is_symlink()
    assert "far away" in (tmp_path / "elsewhere.toml").read_text()
    assert "ci" in secrets(home)


def test_the_port_of_the_settings(home: CommandHome) -> None:
    home.settings("[web]\nport = 8080\n")
    assert "http://127.0.0.1:8080/api/webhook/ci" in home.run("webhook", "add", "ci").out


def test_listing(home: CommandHome) -> None:
    assert "webhook add NAME" in home.run("webhook", "list").out
    for name in ("two", "one"):
        home.run("webhook", "add", name)
    with (home.folder / "webhooks.toml").open("a") as file:
        file.write('[webhooks.tiny]\nsecret = "short"\n')

    ran = home.run("webhook", "list")
    assert (ran.status, ran.out) == (0, "one\ntwo\n")
    assert "webhooks.tiny.secret: it has 5 bytes" in ran.err
    assert home.run("webhook", "list", "--output", "jsonl").records == [
        {"type": "webhook", "name": "one"},
        {"type": "webhook", "name": "two"},
    ]


@needs("openssl", "curl", "sh")
def test_the_command_line_for_curl_works_as_it_is_printed(home: CommandHome) -> None:
    out = home.run("webhook", "add", "ci").out
    [line] = [line.strip() for line in out.splitlines() if line.strip().startswith("body=")]
    with DaemonProcess(home.folder, command=HOOKED) as daemon:
        line = line.replace("http://127.0.0.1:3000", daemon.first["url"])
        done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True)
        assert json.loads(done.stdout) == {"status": "accepted"}
        [received] = daemon.wait_received(1)
    assert json.loads(received["body"]) == {"hello": "world"}
