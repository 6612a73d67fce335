"""What one agent sends where another is expected: a guard would look for the wrong names, so it is refused."""

import pytest

from tests.gateway.honoured import HONOURED, honours
from tests.gateway.samples import samples
from treblehook.gateway.agents import codec_of
from treblehook.gateway.codec import PayloadInvalid

FOLDERS = {
    "claude-code": "claude",
    "qwen": "qwen",
    "copilot": "copilot",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "opencode",
    "pi": "pi",
}
COMING = {"claude-code": "PreToolUse", "qwen": "PreToolUse", "copilot": "preToolUse"}
"""Where a tool is about to run, by the name that is installed."""
THEIRS = {"BeforeTool", "PreToolUse", "preToolUse", "tool.execute.before", "tool_call"}
SAME = ("claude-code", "PreToolUse.mcp__tiny__echo")
"""Qwen Code's calls of MCP tools are Claude Code's: the same guards hold for them."""


@pytest.mark.parametrize(
    ("agent", "folder", "name"),
    [
        pytest.param(agent, folder, one.name, id=f"{agent}-{folder}-{one.name}")
        for agent in COMING
        for stranger, folder in FOLDERS.items()
        if stranger != agent
        for one in samples(folder)
        if one.event in THEIRS and (agent, one.name) != SAME
    ],
)
def test_a_tool_call_of_another_agent_is_refused(agent: str, folder: str, name: str) -> None:
    codec, event = codec_of(agent), COMING[agent]
    (one,) = (one for one in samples(folder) if one.name == name)
    with pytest.raises(PayloadInvalid) as invalid:
        codec.decode(event, one.payload)
    refusal = codec.refuse(event, str(invalid.value))
    assert refusal
    assert honours(HONOURED[agent], event, refusal)


def test_a_copilot_event_of_the_other_spelling_is_refused() -> None:
    copilot = codec_of("copilot")
    (pascal,) = (one for one in samples("copilot") if one.name == "PreToolUse")
    with pytest.raises(PayloadInvalid, match="sessionId"):
        copilot.decode("preToolUse", pascal.payload)
