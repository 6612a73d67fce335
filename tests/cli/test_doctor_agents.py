"""`treblehook doctor` for those who have installed it in an agent: the lines really run, the URL is really asked."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_user import AgentUser, agent_user
from treblehook.gateway.agents import AGENTS

AWKWARD = 'it\'s "my" home $HOME `x`'


@pytest.fixture
def user(tmp_path: Path) -> Iterator[AgentUser]:
    with agent_user(AgentUser(tmp_path / "user")) as user:
        yield user


def findings(user: AgentUser, *, home: Path | None = None, **environ: str) -> dict[str, list[dict[str, Any]]]:
    """What was found of agents, by what was looked at; the exit status must fit."""
    ran = user.run("doctor", "--output", "jsonl", home=home, **environ)
    assert ran.err == ""
    assert ran.status == (2 if any(record["level"] == "error" for record in ran.records) else 0)
    found: dict[str, list[dict[str, Any]]] = {}
    for record in ran.records:
        if record["what"].partition(" ")[0] in (*AGENTS, "gateway"):
            found.setdefault(record["what"], []).append(record)
    return found


def errors(found: dict[str, list[dict[str, Any]]]) -> dict[str, list[str]]:
    return {what: texts for what, each in found.items() if (texts := [one["message"] for one in each if one["level"] == "error"])}


def test_nothing_is_said_where_nothing_is_installed(user: AgentUser) -> None:
    user.has("claude-code", {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}})
    assert findings(user) == {}
    assert not (user.home / "serve.lock").exists()


def test_every_way_is_gone_and_the_answer_comes_back(user: AgentUser) -> None:
    user.guards()
    for agent in ("claude-code", "gemini", "copilot", "opencode", "pi"):
        user.run("install", agent, "--yes")
    found = findings(user)
    assert errors(found) == {}
    ways = [one["message"].partition(": answered in ")[0] for one in found["claude-code probe"]]
    assert ways == ["the command of SessionStart", "the command of PreToolUse", f"http://127.0.0.1:{user.port}/hooks/claude-code"]
    assert len(found["gemini probe"]) == len(found["copilot probe"]) == len(found["opencode probe"]) == len(found["pi probe"]) == 2
    assert found["pi entries"][0]["message"].startswith(f"{user.file('pi')}, ")
    # No hook was asked, and no session was opened.
    assert list((user.home / "sessions").glob("*")) == []


def test_a_home_with_an_awkward_name(tmp_path: Path) -> None:
    with agent_user(AgentUser(tmp_path / "user", AWKWARD)) as user:
        user.guards()
        for agent in ("claude-code", "opencode"):
            assert user.run("install", agent, "--yes").status == 0
        assert errors(findings(user)) == {}
        assert user.run("install", "claude-code", "--yes").out.endswith("nothing to change.\n")
        user.run("uninstall", "claude-code", "--yes")
        assert not user.file("claude-code").exists()


def test_a_guard_that_stands_behind_http_alone_is_an_error(user: AgentUser) -> None:
    user.run("install", "claude-code", "--yes")
    assert errors(findings(user)) == {}
    user.guards()
    found = findings(user)
    [guard] = found["claude-code guards"]
    assert (guard["level"], guard["remedy"]) == ("error", "treblehook install claude-code")
    assert guard["message"].startswith("a guard stands behind HTTP alone at PreToolUse")
    assert "is not as it would be written now: " in errors(found)["claude-code entries"][0]
    user.run("install", "claude-code", "--yes")
    assert errors(findings(user)) == {}


def test_a_home_whose_daemon_does_not_load_is_an_error_at_each_way(user: AgentUser) -> None:
    user.run("install", "gemini", "--yes")
    user.run("install", "opencode", "--yes")
    (user.home / "config.toml").write_text("not = [toml\n")
    assert "gateway" in errors(findings(user))


def test_a_line_that_is_gone_or_broken(user: AgentUser) -> None:
    file = user.file("qwen")
    user.run("install", "qwen", "--yes")
    values = json.loads(file.read_text())
    handler = values["hooks"]["SessionStart"][0]["hooks"][0]
    handler["command"] = handler["command"].replace("python", "no-such-python").replace("--unix-socket", "--no-such-option")
    del values["hooks"]["Stop"]
    file.write_text(json.dumps(values, indent=2))

    found = errors(findings(user))

    assert found["qwen entries"][0].startswith(f"{file} is not as it would be written now: ")
    assert {"SessionStart", "Stop"} <= set(found["qwen entries"][0].rpartition(": ")[2].split(", "))
    assert any("the command of SessionStart" in message for message in found["qwen probe"])


def test_a_file_that_is_gone_or_unreadable(user: AgentUser) -> None:
    user.run("install", "qwen", "--yes")
    user.run("install", "pi", "--yes")
    user.file("qwen").write_text("{")
    user.file("pi").unlink()
    found = errors(findings(user))
    assert found["qwen entries"][0].startswith(f"{user.file('qwen')}: line 1, column 2: found the end of the file")
    assert found["pi entries"] == [f"{user.file('pi')} is not there any more"]


def test_the_daemon_that_asks_for_another_key_is_an_error(user: AgentUser) -> None:
    user.run("install", "claude-code", "--yes")
    text = user.file("claude-code").read_text()
    user.file("claude-code").write_text(text.replace("Bearer ", "Bearer 0"))
    assert any("HTTP status 401" in message for message in errors(findings(user))["claude-code probe"])


@pytest.mark.parametrize("where", ["the user's", "the workspace's"])
def test_hooks_that_are_switched_off_are_an_error(user: AgentUser, where: str) -> None:
    user.run("install", "claude-code", "--yes")
    file = user.file("claude-code")
    if where == "the user's":
        file.write_text(file.read_text().replace("{", '{\n  "disableAllHooks": true,', 1))
    else:
        file = user.work / ".claude" / "settings.json"
        file.parent.mkdir()
        file.write_text('{"disableAllHooks": true}')
    found = errors(findings(user))
    assert found["claude-code switches"] == [f"{file}: disableAllHooks: no hook is asked at all"]


def test_urls_that_are_not_allowed_are_an_error(user: AgentUser) -> None:
    user.run("install", "claude-code", "--yes")
    file = user.file("claude-code")
    file.write_text(file.read_text().replace("{", '{\n  "allowedHttpHookUrls": ["https://elsewhere/*"],', 1))
    assert "allowedHttpHookUrls" in errors(findings(user))["claude-code switches"][0]
    assert user.run("install", "claude-code", "--yes").status == 0
    assert errors(findings(user)) == {}


def test_codex_without_trust_is_an_error(user: AgentUser) -> None:
    user.run("install", "codex", "--yes")
    [trust] = findings(user)["codex trust"]
    assert trust["level"] == "error"
    assert trust["message"] == "9 of 9 entries are not trusted, and Codex skips them in silence"
    assert "treblehook install codex --trust-hooks" in trust["remedy"]


def test_codex_with_hooks_switched_off_is_an_error(user: AgentUser) -> None:
    user.run("install", "codex", "--yes")
    config = user.file("codex").parent / "config.toml"
    config.write_text("[features]\nhooks = false\n")
    assert errors(findings(user))["codex switches"] == [f"{config}: features.hooks: no hook is asked at all"]


def test_lines_that_ask_another_home_are_stale(user: AgentUser) -> None:
    other = user.folder / "other"
    user.run("install", "gemini", "--yes")
    user.run("install", "gemini", "--yes", home=other)
    found = errors(findings(user))
    assert list(found) == ["gemini entries"]
    assert found["gemini entries"][0].endswith(f"; it asks the hooks of {other}")
    assert not (other / "serve.lock").exists()


def test_lines_that_ask_a_home_that_is_gone_are_found_without_a_record(user: AgentUser) -> None:
    gone = user.folder / "gone"
    user.run("install", "gemini", "--yes", home=gone)
    user.run("install", "pi", "--yes", home=gone)
    assert findings(user) == {}
    shutil.rmtree(gone)
    found = errors(findings(user))
    assert found["gemini entries"][0].endswith(f"; it asks the hooks of {gone}")
    assert found["pi entries"][0].endswith(f"; it asks the hooks of {gone}")
    assert not gone.exists()


def test_what_a_home_has_forgotten_is_found_again(user: AgentUser) -> None:
    user.run("install", "copilot", "--yes")
    (user.home / "gateway" / "installed.json").unlink()
    found = findings(user)
    assert (errors(found), found["copilot entries"][0]["level"]) == ({}, "ok")


def test_a_damaged_record_is_an_error(user: AgentUser) -> None:
    (user.home / "gateway").mkdir()
    (user.home / "gateway" / "installed.json").write_text("{}")
    assert "found no list of installations" in errors(findings(user))["gateway"][0]
