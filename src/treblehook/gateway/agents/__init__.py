"""One module an agent: its hook payloads, the answers that it honours, and what becomes of those that it does not."""

import importlib
from functools import cache
from typing import Final

from treblehook.gateway.codec import Codec

_CODECS: Final = {
    "claude-code": ("claude_code", "ClaudeCode"),
    "codex": ("codex", "Codex"),
    "gemini": ("gemini", "Gemini"),
    "qwen": ("qwen", "Qwen"),
    "copilot": ("copilot", "Copilot"),
    "opencode": ("opencode", "OpenCode"),
    "pi": ("pi", "Pi"),
}

AGENTS: Final = tuple(_CODECS)
"""The names of all agents, as on the command line."""


class AgentUnknown(Exception):
    """There is no codec for `agent`."""

    def __init__(self, agent: str) -> None:
        super().__init__(f"no agent is named {agent!r}; known: {', '.join(AGENTS)}")
        self.agent = agent


@cache
def codec_of(agent: str) -> Codec:
    """The codec of an agent, imported now. Raises `AgentUnknown`."""
    if agent not in _CODECS:
        raise AgentUnknown(agent)
    module, name = _CODECS[agent]
    codec: Codec = getattr(importlib.import_module(f"treblehook.gateway.agents.{module}"), name)()
    return codec
