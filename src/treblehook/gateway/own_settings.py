"""Which agents read Claude Code's settings files and run the hooks in them: asked by us too, each of those would run twice."""

from typing import Final

from treblehook.gateway.lines import ANSWER_SECONDS
from treblehook.home.settings import SETTINGS_SOURCES

_USER, _PROJECT = SETTINGS_SOURCES

_READ: Final = {"claude-code": frozenset((_USER, _PROJECT)), "copilot": frozenset((_PROJECT,))}
"""Copilot reads those of a project that it trusts, and not the user's (HONOURED.md 1.11)."""

HOOK_SECONDS: Final = ANSWER_SECONDS - 10.0
"""How long one of these hooks may take elsewhere. It may be told to take ten minutes, and past our own deadline its call is refused."""


def read_by(agent: str) -> frozenset[str]:
    """The sources, of `[claude] settings`, whose hooks an agent runs itself."""
    return _READ.get(agent, frozenset())
