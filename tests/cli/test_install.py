"""`treblehook install`, as a process: what is shown, who is asked, what is written, what it ends with."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_user import COMMAND, GUARD, AgentUser, agent_user
from tests.support.terminal import Terminal
from treblehook.gateway.place import socket_path

OWN = {"model": "opus", "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}]}}


@pytest.fixture
def user(tmp_path: Path) -> Iterator[AgentUser]:
    with agent_user(AgentUser(tmp_path / "user")) as user:
        yield user


@pytest.fixture
def terminal(user: AgentUser) -> Iterator[Terminal]:
    user.has("claude-code", OWN).chmod(0o644)
    argv = [*COMMAND, "install", "claude-code", "--home", str(user.home)]
    started = Terminal(argv, user.work, user.environ())
    yield started
    started.close()


def entries(user: AgentUser, agent: str = "claude-code") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(user.file(agent).read_text())["hooks"]
    return found


def agents(user: AgentUser) -> dict[str, tuple[int, bytes | str]]:
    """Everything but the home of hooks."""
    return {path: value for path, value in user.everything(user.folder).items() if not path.startswith(".treblehook")}


@pytest.mark.parametrize("agent", ["claude-code", "copilot", "opencode"])
def test_yes_installs_and_a_second_time_there_is_nothing_to_do(user: AgentUser, agent: str) -> None:
    ran = user.run("install", agent, "--yes")
    assert ran.status == 0
    assert ran.out.startswith(f"--- /dev/null\n+++ {user.file(agent)}\n")
    assert f"Installed: {agent} asks at " in ran.out
    once = agents(user)

    again = user.run("install", agent, "--yes")
    assert (again.status, again.out) == (0, f"{user.file(agent)} is as it would be written: nothing to change.\n")
    assert agents(user) == once


def test_without_a_terminal_it_is_shown_and_nothing_is_changed(user: AgentUser) -> None:
    user.has("claude-code", OWN)
    before = agents(user)
    ran = user.run("install", "claude-code")
    assert (ran.status, ran.err) == (2, "Nothing was changed: there is no terminal to ask at. Pass --yes to make the change.\n")
    assert '+            "url": "http://127.0.0.1:' in ran.out
    assert agents(user) == before


def test_a_dry_run_shows_the_same_and_asks_nobody(user: AgentUser) -> None:
    user.has("claude-code", OWN)
    before = agents(user)
    ran = user.run("install", "claude-code", "--dry-run")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == user.run("install", "claude-code").out
    assert agents(user) == before
    assert user.run("install", "claude-code", "--dry-run", "--yes").status == 2


def test_a_user_who_says_yes(user: AgentUser, terminal: Terminal) -> None:
    terminal.shows("mode 0644 becomes 0600")
    terminal.shows("Make this change? [y/N]:")
    terminal.types("y\n")
    terminal.shows("the file as it was is kept in")
    terminal.shows("Installed: claude-code asks at")
    assert terminal.ended() == 0
    assert len(entries(user)["PreToolUse"]) == 2


def test_a_user_who_says_no(user: AgentUser, terminal: Terminal) -> None:
    terminal.shows("Make this change? [y/N]:")
    terminal.types("\n")
    terminal.shows("Nothing was changed.")
    assert terminal.ended() == 1
    assert json.loads(user.file("claude-code").read_text()) == OWN


def test_a_file_that_is_edited_while_the_user_thinks_is_not_overwritten(user: AgentUser, terminal: Terminal) -> None:
    terminal.shows("Make this change? [y/N]:")
    user.has("claude-code", {"model": "sonnet"})
    terminal.types("y\n")
    terminal.shows("error: ")
    terminal.shows("it was changed by somebody else meanwhile, so nothing was written")
    assert terminal.ended() == 2
    assert json.loads(user.file("claude-code").read_text()) == {"model": "sonnet"}
    assert os.listdir(user.file("claude-code").parent).count("settings.json") == 1


def test_the_key_is_never_shown_and_stands_in_a_file_of_the_owner_alone(user: AgentUser) -> None:
    user.has("claude-code", OWN)
    ran = user.run("install", "claude-code", "--yes")
    key = (user.home / "token").read_text().strip()
    assert key in user.file("claude-code").read_text()
    assert key not in ran.out + ran.err
    assert "Bearer ***" in ran.out
    assert user.file("claude-code").stat().st_mode & 0o077 == 0


def test_a_guard_gets_a_command_that_denies_where_nobody_answers(user: AgentUser) -> None:
    user.guards()
    user.run("install", "claude-code", "--yes")
    [entry] = entries(user)["PreToolUse"]
    assert " PreToolUse closed " in entry["hooks"][0]["command"]
    # Where the path of the home is too long for a socket, curl is left out.
    assert ("curl -q " in entry["hooks"][0]["command"]) == (socket_path(user.home).parent == user.home)
    assert entries(user)["Stop"][0]["hooks"][0]["type"] == "http"


def test_without_curl_the_client_itself_is_asked_first(user: AgentUser) -> None:
    user.guards()
    user.run("install", "claude-code", "--yes", PATH=str(user.work))
    [entry] = entries(user)["PreToolUse"]
    assert "--unix-socket" not in entry["hooks"][0]["command"]
    assert " PreToolUse closed " in entry["hooks"][0]["command"]


def test_a_guard_is_not_made_open_because_its_file_does_not_load(user: AgentUser) -> None:
    user.guards()
    user.run("install", "claude-code", "--yes")
    before = user.file("claude-code").read_bytes()
    (user.home / "init.lua").write_text("x = = 1")
    ran = user.run("install", "claude-code", "--yes")
    assert ran.status == 2
    assert f"error: {user.home / 'init.lua'}: line 1: init.lua: did not load" in ran.err
    assert user.file("claude-code").read_bytes() == before


def test_where_the_socket_is_outside_the_home_the_client_looks_who_listens(user: AgentUser) -> None:
    home = user.work / ("long" * 30)
    home.mkdir()
    (home / "init.lua").write_text(GUARD)
    user.run("install", "claude-code", "--yes", home=home)
    [entry] = entries(user)["PreToolUse"]
    assert "--unix-socket" not in entry["hooks"][0]["command"]
    assert f" /tmp/treblehook-{os.getuid()}/treblehook-" in entry["hooks"][0]["command"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            '{\n  "model": "opus",\n}',
            "line 3, column 1: found '}' (allowed: a key in double quotes; claude-code cannot read the file as it is)",
        ),
        ("{} // mine", "line 1, column 4: found a comment (allowed: JSON without comments; claude-code cannot read the file as it is)"),
        (b"{\n\xff}", "line 2: found the byte 0xff, which is no UTF-8 (save the file as UTF-8)"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_the_place_and_stays(user: AgentUser, content: str | bytes, told: str) -> None:
    file = user.has("claude-code", content)
    before = agents(user)
    ran = user.run("install", "claude-code", "--yes")
    assert (ran.status, ran.out, ran.err) == (2, "", f"error: {file}: {told}\n")
    assert agents(user) == before


def test_a_home_that_does_not_load_is_not_installed(user: AgentUser) -> None:
    (user.home / "config.toml").write_text("[web]\nport = 99999999\n")
    ran = user.run("install", "codex", "--yes")
    assert ran.status == 2
    assert f"{user.home}/config.toml: web.port: " in ran.err
    assert not user.file("codex").exists()


def test_a_home_that_is_not_there_is_made(user: AgentUser) -> None:
    home = user.folder / "new home"
    assert user.run("install", "gemini", "--yes", home=home).status == 0
    assert home.is_dir()
    assert str(home) in user.file("gemini").read_text()


def test_text_that_would_steer_a_terminal_is_shown_harmless(user: AgentUser) -> None:
    user.has("gemini", '{"x": 1, // \x1b[2J\n"hooks": {}}')
    ran = user.run("install", "gemini", "--yes")
    assert ran.status == 0
    assert "\x1b" not in ran.out


def test_wrong_usage(user: AgentUser) -> None:
    assert "Invalid value for 'AGENT': 'cursor' is not one of" in user.run("install", "cursor").err
    ran = user.run("install", "gemini", "--trust-hooks", "--yes")
    assert (ran.status, "--trust-hooks is for codex" in ran.err) == (2, True)


def test_codex_that_is_not_there_is_told_what_to_do(user: AgentUser) -> None:
    ran = user.run("install", "codex", "--yes")
    assert ran.status == 0
    assert ran.err.startswith("warning: Codex skips hooks that are not trusted, in silence. Start codex, type /hooks, and approve")
    ran = user.run("install", "codex", "--yes", "--trust-hooks")
    assert ran.status == 1
    assert "codex is not on PATH, so nothing could be trusted" in ran.err


def test_hooks_in_codex_config_are_told_of(user: AgentUser) -> None:
    user.has("codex", {"hooks": {}})
    (user.file("codex").parent / "config.toml").write_text("[[hooks.Stop]]\nhooks = []\n")
    assert "warning: config.toml of Codex has hooks too" in user.run("install", "codex", "--yes").err
