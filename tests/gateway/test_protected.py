"""An agent that goes for what decides which hooks run: its user is asked where it can ask, and it is refused where it cannot."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.samples import sample
from tests.support.outside import Outside, outside, refusal
from treblehook.contracts.python import Hooks
from treblehook.host.agents import KNOWN_AGENTS
from treblehook.lifecycle import Allow, PermissionRequest


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's home; no agent's folder is elsewhere."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for agent in KNOWN_AGENTS.values():
        monkeypatch.delenv(agent.variable, raising=False)
    return tmp_path


async def asks(side: Outside, tool: str, **given: Any) -> str | None:
    """Why Claude Code has to ask its user about a call; None where it is left alone."""
    answer = await side.ask("PreToolUse", tool_name=tool, tool_input=given, tool_use_id="t1")
    own = answer.get("hookSpecificOutput", {})
    assert answer == {} or own["permissionDecision"] == "ask"
    return own.get("permissionDecisionReason")


async def patches(side: Outside, patch: str) -> dict[str, Any]:
    facts = {"session_id": "one", "cwd": str(side.workspace), "hook_event_name": "PreToolUse", "model": "gpt-5.5", "turn_id": "t"}
    call = {"tool_name": "apply_patch", "tool_input": {"command": f"*** Begin Patch\n{patch}\n*** End Patch\n"}, "tool_use_id": "c1"}
    return await side.raw("PreToolUse", json.dumps({**facts, **call}).encode(), "codex")


async def test_claude_code_asks_about_a_file_that_is_written_or_edited(tmp_path: Path) -> None:
    async with outside(tmp_path) as side:
        (side.workspace / "link").symlink_to(tmp_path / ".claude")
        for path in ("~/.claude/settings.json", f"{tmp_path}/home/config.toml", "link/settings.json", ".claude/settings.local.json"):
            why = await asks(side, "Write", file_path=path, content="{}")
            assert why is not None
            assert "protected" in why
            assert await asks(side, "Edit", file_path=path, old_string="a", new_string="b") is not None
            assert await asks(side, "Read", file_path=path) is None
        assert await asks(side, "NotebookEdit", notebook_path="link/hooks/x.ipynb", new_source="x") is not None
        assert await asks(side, "Write", file_path="src/settings.json", content="~/.claude/settings.json") is None


async def test_claude_code_asks_about_a_command_that_writes(tmp_path: Path) -> None:
    async with outside(tmp_path) as side:
        for command in ("echo {} > ~/.claude/settings.json", f"cd {tmp_path}/home; rm config.toml", "sh -c 'rm -rf $HOME/.codex'"):
            assert await asks(side, "Bash", command=command) is not None
        for command in ("cat ~/.claude/settings.json", "git commit -m 'edit ~/.claude'", "ls -la"):
            assert await asks(side, "Bash", command=command) is None


@pytest.mark.parametrize(
    "patch",
    [
        "*** Add File: .codex/hooks.json\n+{}",
        "*** Update File: a.txt\n*** Move to: ../.codex/hooks.json\n@@\n-a\n+b",
        "*** Add File: fine.txt\n+x\n*** Delete File: {home}/init.lua",
        "*** Update File: ../.codex/config.toml\n@@\n-a\n+b",
    ],
)
async def test_codex_cannot_ask_and_is_refused_a_patch(tmp_path: Path, patch: str) -> None:
    async with outside(tmp_path) as side:
        why = refusal(await patches(side, patch.replace("{home}", str(tmp_path / "home"))))
        assert why is not None
        assert "protected" in why
        assert await patches(side, "*** Add File: codex/hooks.json\n+{}") == {}


def shell_call(agent: str, command: str, workspace: Path) -> tuple[str, dict[str, Any]]:
    """The event at which an agent is about to run a command, and what it sends."""
    ours = {"session": "s", "workspace": str(workspace)}
    if agent == "opencode":
        asked = {"input": {"tool": "bash", "sessionID": "s", "callID": "c1"}, "output": {"args": {"command": command}}}
        return "tool.execute.before", {**ours, **asked}
    if agent == "pi":
        return "tool_call", {**ours, "input": {"type": "tool_call", "toolName": "bash", "toolCallId": "c1", "input": {"command": command}}}
    event = {"gemini": "BeforeTool", "copilot": "preToolUse"}.get(agent, "PreToolUse")
    payload = sample("claude" if agent == "claude-code" else agent, event).payload
    key = "toolArgs" if agent == "copilot" else "tool_input"
    return event, {**payload, "cwd": str(workspace), key: {"command": command, "description": "x"}}


@pytest.mark.parametrize("agent", KNOWN_AGENTS)
async def test_every_agent_is_stopped_or_asks_and_is_left_alone_otherwise(tmp_path: Path, agent: str) -> None:
    async with outside(tmp_path) as side:
        for place in KNOWN_AGENTS.values():
            event, payload = shell_call(agent, f"echo > {place.project}/{place.settings}", side.workspace)
            answer = await side.raw(event, json.dumps(payload).encode(), agent)
            assert "protected" in json.dumps(answer)
            assert any(word in json.dumps(answer) for word in ('"deny"', '"ask"', '"block"'))
        event, payload = shell_call(agent, "echo treasure > mark", side.workspace)
        assert await side.raw(event, json.dumps(payload).encode(), agent) == {}


async def test_what_the_users_rules_allow_by_name_is_not_asked_about(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    rules = 'allow = ["*", "write(~/.codex/*)", "edit(~/.codex/*)", "bash(codex-setup ~/.codex*)"]\ndeny = ["bash(rm *)"]\n'
    (tmp_path / "home" / "config.toml").write_text(f"[permissions]\n{rules}")
    async with outside(tmp_path) as side:
        assert await asks(side, "Write", file_path="~/.codex/hooks.json", content="") is None
        assert await asks(side, "Bash", command="codex-setup ~/.codex") is None
        assert await patches(side, "*** Add File: ../.codex/hooks.json\n+{}") == {}
        assert await asks(side, "Write", file_path="~/.claude/settings.json", content="") is not None
        assert "bash(rm *)" in (refusal(await side.bash("rm ~/.codex/hooks.json")) or "")


async def test_a_hook_may_answer_in_the_users_place(tmp_path: Path) -> None:
    hooks, seen = Hooks(), []

    @hooks.on(PermissionRequest)
    async def answer(event: PermissionRequest) -> Allow | None:
        seen.append(event.call.name)
        return Allow() if event.call.input.get("path") == ".claude/settings.json" else None

    async with outside(tmp_path, hooks) as side:
        assert await asks(side, "Write", file_path=".claude/settings.json", content="") is None
        assert await asks(side, "Write", file_path=".claude/settings.local.json", content="") is not None
        assert await asks(side, "Write", file_path="elsewhere", content="") is None
    assert seen == ["write", "write"]
