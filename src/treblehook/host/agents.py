"""Where the agents that we know keep their configuration: what `install` changes there, and what decides which hooks they run."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct


class KnownAgent(Struct, frozen=True):
    """An agent that people have.

    The folder of its user is `below` what `variable` names, or what is `usual` in the user's home; `project` is its folder in a workspace.
    `settings` is the file that `install` changes, in the user's folder; `deciding` are the files and folders in both that decide which
    hooks run, and `beside` those that lie in a folder around them: in the user's home, in the one that the variable names, in a workspace.
    """

    title: str
    variable: str
    usual: str
    project: str
    settings: str
    deciding: tuple[str, ...]
    below: str = ""
    beside_user: tuple[str, ...] = ()
    beside_project: tuple[str, ...] = ()


KNOWN_AGENTS: Final = {
    "claude-code": KnownAgent(
        "Claude Code",
        "CLAUDE_CONFIG_DIR",
        ".claude",
        ".claude",
        "settings.json",
        ("settings.json", "settings.local.json", "hooks", "plugins"),
        beside_user=(".claude.json",),
    ),
    "codex": KnownAgent("Codex", "CODEX_HOME", ".codex", ".codex", "hooks.json", ("hooks.json", "config.toml", "hooks")),
    "gemini": KnownAgent(
        "Gemini CLI",
        "GEMINI_CLI_HOME",
        "",
        ".gemini",
        "settings.json",
        ("settings.json", "extensions", "trustedFolders.json"),
        below=".gemini",
    ),
    "qwen": KnownAgent("Qwen Code", "QWEN_HOME", ".qwen", ".qwen", "settings.json", ("settings.json", "extensions", "trustedFolders.json")),
    "copilot": KnownAgent(
        "GitHub Copilot CLI",
        "COPILOT_HOME",
        ".copilot",
        ".github",
        "hooks/treblehook.json",
        ("hooks", "config.json", "settings.json"),
    ),
    "opencode": KnownAgent(
        "OpenCode",
        "XDG_CONFIG_HOME",
        ".config",
        ".opencode",
        "plugin/treblehook.js",
        ("plugin", "plugins", "opencode.json", "opencode.jsonc", "config.json"),
        below="opencode",
        beside_project=("opencode.json", "opencode.jsonc"),
    ),
    "pi": KnownAgent("pi", "PI_CODING_AGENT_DIR", ".pi/agent", ".pi", "extensions/treblehook.ts", ("extensions", "settings.json")),
}


def user_home(environ: Mapping[str, str]) -> str:
    """The user's home folder, as a shell finds it."""
    return environ.get("HOME") or str(Path.home())


def agent_folder(agent: str, environ: Mapping[str, str]) -> Path:
    """The folder with an agent's user-level configuration, absolute. It need not be there."""
    known = KNOWN_AGENTS[agent]
    return _root(known, environ) / known.below


def beside_folder(agent: str, environ: Mapping[str, str]) -> Path:
    """The folder in which the `beside_user` files of an agent are: the user's home, or what its variable names."""
    known = KNOWN_AGENTS[agent]
    return _root(known, environ) if environ.get(known.variable) else Path(os.path.abspath(user_home(environ)))


def _root(known: KnownAgent, environ: Mapping[str, str]) -> Path:
    user = Path(user_home(environ))
    named = Path(environ.get(known.variable) or user / known.usual)
    expanded = user.joinpath(*named.parts[1:]) if named.parts[:1] == ("~",) else named
    return Path(os.path.abspath(expanded))
