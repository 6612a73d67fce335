"""Hooks of Claude Code's settings files that are broken, or that cannot be what they are there."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

from treblehook.contracts.claude.settings.entries import Endpoint
from treblehook.contracts.claude.settings.merging import Merged
from treblehook.home.claude_settings import ClaudeSettings
from treblehook.home.settings import Settings
from treblehook.host.problems import Problem


class CheckedSettings(Struct, frozen=True):
    """What was found, how many hooks there are, and their names; those of a workspace that is not trusted count too."""

    problems: tuple[Problem, ...] = ()
    hooks: int = 0
    names: tuple[str, ...] = ()


def check_claude_settings(home: Path, workspace: Path | None, settings: Settings, environ: Mapping[str, str]) -> CheckedSettings:
    """Read the files that `[claude] settings` names. No hook is asked."""
    told: list[Problem] = []
    source = ClaudeSettings(home, environ, settings.claude, modes=lambda: settings.modes, report=told.append)
    found = source.find(workspace)
    held = source.merged_held(found)
    problems = [*found.merged.problems, *held.problems]
    if found.held is not None:
        problems.append(found.held.problem)
    problems += _without_library(found.merged)
    hooks = (*found.merged.hooks, *held.hooks)
    return CheckedSettings(tuple(problems), len(hooks), tuple(dict.fromkeys(hook.name for hook in hooks)))


def _without_library(found: Merged) -> list[Problem]:
    """One warning where there are HTTP hooks and nothing to ask them with."""
    first = next((hook for hook in found.hooks if isinstance(hook.how, Endpoint)), None)
    if first is None or find_spec("httpx2") is not None:
        return []
    message = "HTTP hooks cannot be asked without a library, so they let everything pass"
    return [Problem(first.file, f"{first.place}.type", message, "pip install 'treblehook[models]'", "warning")]
