"""Codex's own step: what `install`, `doctor` and `uninstall` do about its trust, which goes by the position of a hook."""

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_user import COMMAND, AgentUser, agent_user
from tests.support.terminal import Terminal

STAND_IN = Path(__file__).parent.parent / "gateway" / "install" / "codex_stand_in.py"
CONFIG = '# mine\nmodel = "gpt-5.5"\n'
LATER = {"hooks": [{"type": "command", "command": "later"}]}


class CodexUser(AgentUser):
    """Has a program `codex` on PATH."""

    def codex(self, fault: str = "none") -> None:
        folder = self.folder / "bin"
        folder.mkdir(exist_ok=True)
        (folder / "codex").write_text(f'#!/bin/sh\n[ "$1" = app-server ] && exec {sys.executable} {STAND_IN} {fault}\n')
        (folder / "codex").chmod(0o755)

    def environ(self, **more: str) -> dict[str, str]:
        return super().environ(**{"PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}", **more})


@pytest.fixture
def user(tmp_path: Path) -> Iterator[CodexUser]:
    with agent_user(CodexUser(tmp_path / "user")) as user:
        user.has("codex", {"hooks": {}})
        user.codex()
        config(user).write_text(CONFIG)
        yield user


def config(user: AgentUser) -> Path:
    return user.file("codex").parent / "config.toml"


def test_consent_on_the_command_line_trusts_what_was_installed(user: CodexUser) -> None:
    ran = user.run("install", "codex", "--yes", "--trust-hooks")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.endswith("Codex trusts the 9 entries as they are now; any change to one takes that back.\n")
    assert config(user).read_text().count("trusted_hash") == 9


def test_without_consent_nothing_is_trusted(user: CodexUser) -> None:
    ran = user.run("install", "codex", "--yes")
    assert ran.status == 0
    assert "/hooks, and approve those of Treblehook, or: treblehook install codex --trust-hooks" in ran.err
    assert config(user).read_text() == CONFIG
    assert user.run("install", "codex", "--yes", "--trust-hooks").status == 0
    assert user.run("install", "codex", "--yes").err == ""


@pytest.mark.parametrize(("keys", "trusted"), [("y\n", 9), ("n\n", 0)])
def test_the_user_is_asked_for_the_trust_too(user: CodexUser, keys: str, trusted: int) -> None:
    terminal = Terminal([*COMMAND, "install", "codex", "--home", str(user.home)], user.work, user.environ())
    terminal.shows("Make this change? [y/N]:")
    terminal.types("y\n")
    terminal.shows("Trust these 9 entries in Codex too? [y/N]:")
    terminal.types(keys)
    assert terminal.ended() == 0
    terminal.close()
    assert config(user).read_text().count("trusted_hash") == trusted


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("refuses", "the entries could not be trusted: codex app-server: hooks/list: "),
        ("forgets", "9 of the entries are still not trusted"),
    ],
)
def test_trust_that_was_asked_for_and_failed_is_a_failure(user: CodexUser, fault: str, told: str) -> None:
    user.codex(fault)
    ran = user.run("install", "codex", "--yes", "--trust-hooks")
    assert ran.status == 1
    assert f"warning: {told}" in ran.err


def test_doctor_asks_codex_itself(user: CodexUser) -> None:
    def trust() -> dict[str, Any]:
        [found] = [record for record in user.run("doctor", "--output", "jsonl").records if record["what"] == "codex trust"]
        return found

    user.run("install", "codex", "--yes")
    assert (trust()["level"], trust()["message"]) == ("error", "9 of 9 entries are not trusted, and Codex skips them in silence")
    user.run("install", "codex", "--yes", "--trust-hooks")
    assert (trust()["level"], trust()["message"]) == ("ok", "9 entries are trusted")
    # Whoever puts a group before ours takes its trust.
    values = json.loads(user.file("codex").read_text())
    values["hooks"]["Stop"].insert(0, LATER)
    user.has("codex", values)
    assert trust()["message"] == "1 of 9 entries are not trusted, and Codex skips them in silence"
    user.codex("refuses")
    assert trust()["level"] == "warning"


def test_trust_is_taken_out_with_the_entries(user: CodexUser) -> None:
    before = user.file("codex").read_bytes()
    user.run("install", "codex", "--yes", "--trust-hooks")
    ran = user.run("uninstall", "codex", "--yes")
    assert (ran.status, ran.err) == (0, "")
    assert (user.file("codex").read_bytes(), config(user).read_text()) == (before, CONFIG)


def test_a_hook_behind_ours_that_is_not_trusted_any_more_is_named(user: CodexUser) -> None:
    user.run("install", "codex", "--yes", "--trust-hooks")
    values = json.loads(user.file("codex").read_text())
    values["hooks"]["Stop"].append(LATER)
    user.has("codex", values)
    state = user.file("codex").parent / "trusted.json"
    digest = "sha256:" + hashlib.sha256(json.dumps(LATER["hooks"][0]).encode()).hexdigest()
    trusted = json.loads(state.read_text()) | {f"{user.file('codex')}:stop:1:0": digest}
    state.write_text(json.dumps(trusted))

    ran = user.run("uninstall", "codex", "--yes")

    assert ran.status == 0
    assert "warning: Codex does not trust the hook 'later' any more, since its position has changed: approve it with /hooks" in ran.err


def test_codex_that_has_gone_leaves_its_trust_and_that_is_said(user: CodexUser) -> None:
    user.run("install", "codex", "--yes", "--trust-hooks")
    (user.folder / "bin" / "codex").unlink()
    ran = user.run("uninstall", "codex", "--yes")
    assert ran.status == 0
    assert "codex is not on PATH: 9 entries of [hooks.state] in its config.toml stay behind" in ran.err
