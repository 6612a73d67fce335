"""`treblehook uninstall`, as a process: what was put in is taken out, and nothing else."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.agent_user import COMMAND, AgentUser, agent_user
from tests.support.terminal import Terminal

OWN = '{\n\t"hooks": {\n\t\t"Stop": [ {"hooks": [{"type": "command", "command": "mine"}]} ]}}'


@pytest.fixture
def user(tmp_path: Path) -> Iterator[AgentUser]:
    with agent_user(AgentUser(tmp_path / "user")) as user:
        yield user


def agents(user: AgentUser) -> dict[str, tuple[int, bytes | str]]:
    """Everything but the home of hooks."""
    return {path: value for path, value in user.everything(user.folder).items() if not path.startswith(".treblehook")}


@pytest.mark.parametrize("agent", ["claude-code", "gemini", "pi"])
@pytest.mark.parametrize("lost", [False, True], ids=["remembered", "forgotten"])
def test_everything_is_as_it_was(user: AgentUser, agent: str, lost: bool) -> None:
    if agent in ("claude-code", "codex", "gemini", "qwen"):
        user.has(agent, OWN)
    elif lost:
        user.file(agent).parent.mkdir(parents=True)
    before = agents(user)
    assert user.run("install", agent, "--yes").status == 0
    if lost:
        shutil.rmtree(user.home)

    ran = user.run("uninstall", agent, "--yes")

    assert ran.status == 0
    assert f"Uninstalled: {user.file(agent)} has nothing of ours any more." in ran.out
    assert agents(user) == before
    again = user.run("uninstall", agent, "--yes")
    assert (again.status, again.out) == (0, f"{user.file(agent)} has nothing of ours.\n")
    assert agents(user) == before


def test_what_the_user_has_added_stays(user: AgentUser) -> None:
    file = user.has("claude-code", OWN)
    user.run("install", "claude-code", "--yes")
    edited = json.loads(file.read_text())
    edited["hooks"]["PreToolUse"].insert(0, {"hooks": [{"type": "command", "command": "later"}]})
    edited["hooks"]["Stop"][1]["hooks"].append({"type": "command", "command": "beside ours"})
    file.write_text(json.dumps({"model": "opus", **edited}, indent=1))

    ran = user.run("uninstall", "claude-code", "--yes")

    assert json.loads(file.read_text()) == {
        "model": "opus",
        "hooks": {
            "Stop": [*json.loads(OWN)["hooks"]["Stop"], {"hooks": [{"type": "command", "command": "beside ours"}]}],
            "PreToolUse": [{"hooks": [{"type": "command", "command": "later"}]}],
        },
    }
    assert "the file as it was before the installation is still in" in ran.out
    assert (file.parent / "settings.json.before-treblehook").read_text() == OWN


def test_without_a_terminal_it_is_shown_and_nothing_is_changed(user: AgentUser) -> None:
    user.run("install", "opencode", "--yes")
    before = agents(user)
    ran = user.run("uninstall", "opencode")
    assert (ran.status, ran.err) == (2, "Nothing was changed: there is no terminal to ask at. Pass --yes to make the change.\n")
    assert ran.out.startswith(f"--- {user.file('opencode')}\n+++ /dev/null\n")
    ran = user.run("uninstall", "opencode", "--dry-run")
    assert (ran.status, ran.err) == (0, "")
    assert agents(user) == before


@pytest.mark.parametrize(("keys", "status"), [("y\n", 0), ("n\n", 1)])
def test_a_user_is_asked(user: AgentUser, keys: str, status: int) -> None:
    user.run("install", "pi", "--yes")
    terminal = Terminal([*COMMAND, "uninstall", "pi", "--home", str(user.home)], user.work, user.environ())
    terminal.shows("Make this change? [y/N]:")
    terminal.types(keys)
    assert terminal.ended() == status
    terminal.close()
    assert user.file("pi").exists() == bool(status)


def test_a_folder_of_the_agent_that_has_moved_is_remembered(user: AgentUser) -> None:
    elsewhere = user.folder / "elsewhere"
    assert user.run("install", "claude-code", "--yes", CLAUDE_CONFIG_DIR=str(elsewhere)).status == 0
    assert (elsewhere / "settings.json").exists()
    user.run("uninstall", "claude-code", "--yes")
    assert not elsewhere.exists()


def test_a_file_that_cannot_be_read_is_refused_with_the_place_and_stays(user: AgentUser) -> None:
    user.run("install", "qwen", "--yes")
    file = user.file("qwen")
    file.write_text(file.read_text() + "}")
    before = agents(user)
    ran = user.run("uninstall", "qwen", "--yes")
    assert ran.status == 2
    assert ran.err.startswith(f"error: {file}: line ")
    assert agents(user) == before


def test_what_asks_another_home_is_said_to(user: AgentUser) -> None:
    user.run("install", "gemini", "--yes")
    ran = user.run("uninstall", "gemini", "--yes", home=user.folder / "other")
    assert f"what is taken out asks the hooks of {user.home}\n" in ran.out
    assert not user.file("gemini").exists()
