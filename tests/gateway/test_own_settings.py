"""Hooks of Claude Code's settings guard other agents, and run once where an agent runs them itself."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.samples import sample
from tests.support.outside import Outside, Payload, outside, refusal
from treblehook.gateway.agents import AGENTS
from treblehook.gateway.own_settings import read_by
from treblehook.home.trust import trusted_settings

LOG = 'payload=$(cat); printf "%s\\n" "$payload" >> "$CLAUDE_PROJECT_DIR"/LOG'
CALLS = {
    "claude-code": ("claude", "PreToolUse"),
    "codex": ("codex", "PreToolUse"),
    "copilot": ("copilot", "PreToolUse"),
    "gemini": ("gemini", "BeforeTool"),
    "qwen": ("qwen", "PreToolUse"),
}


class Owner:
    """A user with settings for Claude Code, and in a workspace that is trusted."""

    def __init__(self, folder: Path, side: Outside) -> None:
        self.side = side
        self._folder = folder

    async def call(self, agent: str) -> Payload:
        """A command is about to run, as the agent was seen to say it."""
        folder, event = CALLS[agent]
        payload = {**sample(folder, event).payload, "cwd": str(self.side.workspace)}
        return await self.side.raw(event, json.dumps(payload).encode(), agent)

    def asked(self) -> list[str]:
        """Whose hooks were asked."""
        return [who for who in ("user", "project") if (self.side.workspace / who).exists()]

    def sent(self, who: str) -> Any:
        """What a hook was sent."""
        return json.loads((self.side.workspace / who).read_text())


def settings(place: Path, command: str, **more: Any) -> None:
    (place / ".claude").mkdir(parents=True)
    group = {"matcher": "Bash", "hooks": [{"type": "command", "command": command, **more}]}
    (place / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [group]}}))


@pytest.fixture
async def owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Owner]:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text('[claude]\nsettings = ["user", "project"]\n')
    settings(tmp_path, LOG.replace("LOG", "user"))
    settings(tmp_path / "workspace", LOG.replace("LOG", "project"))
    trusted_settings(tmp_path / "home", tmp_path / "workspace", trust_now=True)
    async with outside(tmp_path) as side:
        yield Owner(tmp_path, side)


@pytest.mark.parametrize(
    ("agent", "asked"),
    [
        ("claude-code", []),
        ("copilot", ["user"]),
        ("codex", ["user", "project"]),
        ("gemini", ["user", "project"]),
        ("qwen", ["user", "project"]),
    ],
)
async def test_whose_hooks_are_asked_of_a_call(owner: Owner, agent: str, asked: list[str]) -> None:
    assert await owner.call(agent) == {}

    assert owner.asked() == asked
    assert owner.side.said == []


async def test_a_call_of_another_agent_looks_like_one_of_claude_code(owner: Owner) -> None:
    await owner.call("gemini")

    sent = owner.sent("user")
    assert (sent["hook_event_name"], sent["tool_name"]) == ("PreToolUse", "Bash")
    assert sent["tool_input"]["command"] == "echo treasure > mark; cat mark"
    assert sent["cwd"] == str(owner.side.workspace)


async def test_a_subagent_of_an_agent_that_runs_them_is_left_alone_too(owner: Owner) -> None:
    await owner.side.bash(agent_id="a1", agent_type="general-purpose")

    assert owner.asked() == []


async def guarded(folder: Path, monkeypatch: pytest.MonkeyPatch, command: str, agent: str, **more: Any) -> Payload:
    """The answer to a call of an agent that a user's hook is about."""
    monkeypatch.setenv("HOME", str(folder))
    (folder / "home").mkdir()
    (folder / "home" / "config.toml").write_text('[claude]\nsettings = ["user"]\n')
    settings(folder, command, **more)
    async with outside(folder) as side:
        return await Owner(folder, side).call(agent)


async def test_a_denial_is_told_in_the_words_of_the_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal(await guarded(tmp_path, monkeypatch, "echo no digging >&2; exit 2", "codex")) == "no digging"


async def test_a_hook_that_fails_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await guarded(tmp_path, monkeypatch, "exit 1", "codex") == {}


async def test_a_question_is_one_for_the_user_of_the_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = {"hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": "may I?"}
    command = f"echo '{json.dumps({'hookSpecificOutput': answer})}'"

    said = (await guarded(tmp_path, monkeypatch, command, "qwen"))["hookSpecificOutput"]

    assert (said["permissionDecision"], said["permissionDecisionReason"]) == ("ask", "A hook wants the user asked: may I?")


def test_every_agent_that_reads_them_is_one_of_ours() -> None:
    assert {agent for agent in AGENTS if read_by(agent)} == {"claude-code", "copilot"}
    assert read_by("claude-code") == {"user", "project"}
    assert read_by("copilot") == {"project"}
