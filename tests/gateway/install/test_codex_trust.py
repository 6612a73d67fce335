"""Codex's trust, with what its app-server was seen to say, and with Codex itself where it is installed."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.real_agents.install import installed, programs
from treblehook.gateway.install.codex_server import AppServer, CodexFailed
from treblehook.gateway.install.codex_trust import (
    codex_program,
    forget,
    has_second_source,
    key_of,
    known_keys,
    listed,
    switched_off_in_codex,
    trust_own,
)
from treblehook.gateway.install.entries import entries_of
from treblehook.gateway.install.places import DIALECTS
from treblehook.gateway.lines import ClientPlace

STAND_IN = Path(__file__).parent / "codex_stand_in.py"
MINE = {"hooks": [{"type": "command", "command": "mine"}]}


class CodexUser:
    """A user with Codex; the hooks are one of their own, and ours."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder / ".codex"
        self.file = self.folder / "hooks.json"
        self.environ = {"HOME": str(folder), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
        self.folder.mkdir()
        place = ClientPlace(folder / "home", folder / "home" / "gateway.sock", None)
        ours = entries_of("codex", {"PreToolUse": "closed", "Stop": "open"}, DIALECTS["codex"], place, None)
        self.hooks({"PreToolUse": [MINE, ours["PreToolUse"]], "Stop": [ours["Stop"]]})

    def hooks(self, hooks: dict[str, Any]) -> None:
        self.file.write_text(json.dumps({"hooks": hooks}))

    @property
    def program(self) -> str:
        found = codex_program(self.environ)
        assert found is not None
        return found


def stand_in(folder: Path, fault: str = "none") -> CodexUser:
    (folder / "bin").mkdir()
    program = folder / "bin" / "codex"
    program.write_text(f'#!/bin/sh\n[ "$1" = app-server ] && exec {sys.executable} {STAND_IN} {fault}\n')
    program.chmod(0o755)
    return CodexUser(folder, folder / "bin")


@pytest.fixture(params=["stand-in", *(["codex"] if installed("codex") else [])])
def user(request: pytest.FixtureRequest, tmp_path: Path) -> CodexUser:
    return stand_in(tmp_path) if request.param == "stand-in" else CodexUser(tmp_path, programs("codex"))


async def test_only_what_is_ours_is_trusted(user: CodexUser) -> None:
    assert [(hook.own, hook.trusted) for hook in await listed(user.program, user.environ)] == [(False, False), (True, False), (True, False)]

    trusted = await trust_own(user.program, user.environ)

    assert [(hook.own, hook.trusted) for hook in trusted] == [(False, False), (True, True), (True, True)]
    assert [hook.trusted for hook in await listed(user.program, user.environ)] == [False, True, True]
    assert set(known_keys(user.environ)) == {key_of(user.file, "PreToolUse", 1, 0), key_of(user.file, "Stop", 0, 0)}
    assert not has_second_source(user.environ)


async def test_trust_is_forgotten_without_a_trace_and_only_that_of_ours(user: CodexUser) -> None:
    config = user.folder / "config.toml"
    config.write_text('# mine\nmodel = "gpt-5.5"\n')
    await trust_own(user.program, user.environ)
    keys = known_keys(user.environ)

    await forget(user.program, user.environ, keys[:1])
    assert known_keys(user.environ) == keys[1:]
    left = await forget(user.program, user.environ, keys)

    assert config.read_text() == '# mine\nmodel = "gpt-5.5"\n'
    assert [hook.trusted for hook in left] == [False, False, False]


async def test_a_changed_line_is_not_trusted_any_more(user: CodexUser) -> None:
    await trust_own(user.program, user.environ)
    user.file.write_text(user.file.read_text().replace("codex Stop", "codex  Stop"))
    assert [hook.trusted for hook in await listed(user.program, user.environ)] == [False, True, False]


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("ends", "hooks/list: it ended without an answer"),
        ("garbage", "initialize: found b'Welcome to Codex!"),
        ("refuses", "hooks/list: {'code': -32601, 'message': 'unknown method'}"),
        ("unreadable", "hooks/list: cannot parse"),
        ("overridden", "config/batchWrite: its status is 'okOverridden'"),
    ],
)
async def test_what_codex_says_instead_is_told(tmp_path: Path, fault: str, told: str) -> None:
    user = stand_in(tmp_path, fault)
    with pytest.raises(CodexFailed) as failed:
        await trust_own(user.program, user.environ)
    assert told in str(failed.value)


async def test_trust_that_does_not_hold_is_seen(tmp_path: Path) -> None:
    user = stand_in(tmp_path, "forgets")
    assert not any(hook.trusted for hook in await trust_own(user.program, user.environ))


async def test_silence_has_an_end_and_the_server_with_it(tmp_path: Path) -> None:
    user = stand_in(tmp_path, "silent")
    with pytest.raises(CodexFailed, match=r"initialize: no answer within 0\.3 s"):
        async with AppServer(user.program, user.environ, seconds=0.3):
            raise AssertionError


async def test_a_program_that_cannot_be_started_is_told(tmp_path: Path) -> None:
    (tmp_path / "codex").write_text("no program")
    (tmp_path / "codex").chmod(0o755)
    with pytest.raises(CodexFailed, match="cannot be started: Exec format error"):
        await listed(str(tmp_path / "codex"), {})
    assert codex_program({"PATH": str(tmp_path / "nowhere")}) is None


@pytest.mark.parametrize(
    ("config", "switch", "second"),
    [
        ("", None, False),
        ("[features]\nhooks = false\n", "hooks", False),
        ("[features]\ncodex_hooks = false\n", "codex_hooks", False),
        ("[features]\nhooks = true\n", None, False),
        ('features = "none"\nhooks = 5\n', None, False),
        ("[[hooks.Stop]]\n", None, True),
        ("[hooks.state]\n", None, False),
        ("not = [toml", None, False),
    ],
)
def test_what_codex_config_says_of_hooks(tmp_path: Path, config: str, switch: str | None, second: bool) -> None:
    user = stand_in(tmp_path)
    (user.folder / "config.toml").write_text(config)
    found = None if switch is None else (user.folder / "config.toml", switch)
    assert (switched_off_in_codex(user.environ, tmp_path / "work"), has_second_source(user.environ)) == (found, second)
    assert known_keys(user.environ) == []


@pytest.mark.parametrize("trusted", ["repository", "repository/packages/one", "elsewhere"])
def test_a_project_that_codex_trusts_can_switch_hooks_off_in_each_of_its_folders(tmp_path: Path, trusted: str) -> None:
    user = stand_in(tmp_path)
    top = tmp_path / "repository"
    deep = top / "packages" / "one"
    deep.mkdir(parents=True)
    (top / ".git").mkdir()
    (user.folder / "config.toml").write_text(f'[projects."{tmp_path / trusted}"]\ntrust_level = "trusted"\n')
    for folder in (top, top / "packages", deep):
        file = folder / ".codex" / "config.toml"
        file.parent.mkdir()
        file.write_text("[features]\nhooks = false\n")
        assert switched_off_in_codex(user.environ, deep) == ((file, "hooks") if trusted != "elsewhere" else None)
        file.unlink()
    assert switched_off_in_codex(user.environ, deep) is None
