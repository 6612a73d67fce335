"""Where the agents that we know keep their configuration: what `install` changes there, and what decides which hooks they run."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct


class KnownAgent(Struct, frozen=True):
    """An agent that people have.

    The folder of its user is `below` what `variable` names, or what is `usual` in the user's home, and `always`, "" for none, is one in the
    user's home that it reads too; `project` is its folder in a workspace. `settings` is the file that `install` changes, in the user's
    folder; `deciding` are the files and folders in all of these that decide which hooks run, `changing` the orders by which its `program`
    changes them, and `beside` those that lie in a folder around: in the user's home, in the one that the variable names, in a workspace.
    """

    title: str
    variable: str
    usual: str
    project: str
    settings: str
    deciding: tuple[str, ...]
    program: str
    changing: tuple[str, ...]
    below: str = ""
    always: str = ""
    beside_user: tuple[str, ...] = ()
    beside_project: tuple[str, ...] = ()


KNOWN_AGENTS: Final = {
    "claude-code": KnownAgent(
        "Claude Code",
        "CLAUDE_CONFIG_DIR",
        ".claude",
        ".claude",
        "settings.json",
        # Skills, subagents and slash commands may bring hooks in their head.
        ("settings.json", "settings.local.json", "hooks", "plugins", "skills", "agents", "commands"),
        beside_user=(".claude.json",),
        program="claude",
        changing=("config", "mcp", "plugin", "plugins"),
    ),
    "codex": KnownAgent(
        "Codex",
        "CODEX_HOME",
        ".codex",
        ".codex",
        "hooks.json",
        ("hooks.json", "config.toml", "hooks"),
        program="codex",
        changing=("app-server", "features", "mcp", "plugin"),
    ),
    "gemini": KnownAgent(
        "Gemini CLI",
        "GEMINI_CLI_HOME",
        "",
        ".gemini",
        "settings.json",
        ("settings.json", "extensions", "trustedFolders.json"),
        below=".gemini",
        program="gemini",
        changing=("extension", "extensions", "hook", "hooks", "mcp", "skill", "skills"),
    ),
    "qwen": KnownAgent(
        "Qwen Code",
        "QWEN_HOME",
        ".qwen",
        ".qwen",
        "settings.json",
        ("settings.json", "extensions", "trustedFolders.json", "skills", "agents"),
        program="qwen",
        changing=("extensions", "hooks", "mcp"),
    ),
    "copilot": KnownAgent(
        "GitHub Copilot CLI",
        "COPILOT_HOME",
        ".copilot",
        ".github",
        "hooks/treblehook.json",
        ("hooks", "config.json", "settings.json", "copilot", "agents"),
        program="copilot",
        changing=("config", "plugin"),
    ),
    "opencode": KnownAgent(
        "OpenCode",
        "XDG_CONFIG_HOME",
        ".config",
        ".opencode",
        "plugin/treblehook.js",
        # A tool of the user's own is code in the same process, loaded at every start.
        ("plugin", "plugins", "tool", "tools", "opencode.json", "opencode.jsonc", "config.json"),
        below="opencode",
        always=".opencode",
        program="opencode",
        changing=("mcp", "plug", "plugin", "uninstall"),
        beside_project=("opencode.json", "opencode.jsonc"),
    ),
    "pi": KnownAgent(
        "pi",
        "PI_CODING_AGENT_DIR",
        ".pi/agent",
        ".pi",
        "extensions/treblehook.ts",
        ("extensions", "settings.json"),
        program="pi",
        changing=("config", "install", "remove", "uninstall", "update"),
    ),
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


def project_folders(workspace: Path) -> tuple[Path, ...]:
    """The folders that agents take for a project's when they work in `workspace`: that, and those around it as far as the repository's,
    without a repository all of them. Which of them counts depends on the agent."""
    folders = [Path(os.path.abspath(workspace))]
    while not os.path.lexists(folders[-1] / ".git") and folders[-1] != folders[-1].parent:
        folders.append(folders[-1].parent)
    return tuple(folders)


def _root(known: KnownAgent, environ: Mapping[str, str]) -> Path:
    user = Path(user_home(environ))
    named = Path(environ.get(known.variable) or user / known.usual)
    expanded = user.joinpath(*named.parts[1:]) if named.parts[:1] == ("~",) else named
    return Path(os.path.abspath(expanded))
