"""Which file of an agent is changed, and how it writes hooks there (captures, HONOURED.md 6)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from treblehook.gateway.lines import AGENT_SECONDS
from treblehook.host.agents import KNOWN_AGENTS, agent_folder


class Dialect(Struct, frozen=True):
    """How an agent writes hooks as JSON. `comments` may be in the file, and it may be `marked` with a byte order mark. With `grouped` each
    entry of an event is an object whose `hooks` are the handlers, otherwise a handler itself. `timeout` is under `timeout_key`, in the
    agent's own unit, or what is in `shorter` for an event: more would make the agent complain at every start. `skeleton` is what the
    file holds beside `hooks`; with `only` any other key makes the agent drop it."""

    comments: bool = False
    marked: bool = False
    grouped: bool = True
    command_key: str = "command"
    timeout_key: str = "timeout"
    timeout: int = AGENT_SECONDS
    shorter: Mapping[str, int] = {}
    skeleton: Mapping[str, Any] = {}
    only: tuple[str, ...] = ()


DIALECTS: Final = {
    "claude-code": Dialect(marked=True),
    "codex": Dialect(shorter={"SessionEnd": 3}, only=("description", "hooks")),
    "gemini": Dialect(comments=True, timeout=AGENT_SECONDS * 1000),
    "qwen": Dialect(comments=True, marked=True),
    "copilot": Dialect(grouped=False, command_key="bash", timeout_key="timeoutSec", skeleton={"version": 1}),
}
"""The agents whose hooks are entries of a JSON file; those of the others are code."""


def settings_file(agent: str, environ: Mapping[str, str]) -> Path:
    """The file that is changed for an agent."""
    return agent_folder(agent, environ) / KNOWN_AGENTS[agent].settings
