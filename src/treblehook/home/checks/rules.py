"""Permission rules about tools that there are not."""

import difflib
import tomllib
from collections.abc import Iterator, Sequence
from typing import Final

from treblehook.agent.permissions.pattern import Pattern
from treblehook.agent.subagents import SPEC
from treblehook.home.settings import Settings
from treblehook.host.mcp import tool_prefix
from treblehook.host.problems import Problem
from treblehook.host.tools import builtin_tools
from treblehook.runtimes.process import ProcessRuntime
from treblehook.shell.bash.word import UNSEEN

_KINDS: Final = ("allow", "ask", "deny")
_MCP: Final = "mcp__"


def idle_rules(settings: Settings) -> Iterator[Problem]:
    """A warning for each rule that is about no built-in tool, and about no tool that a configured MCP server could have."""
    permissions = tomllib.loads(settings.file.read_text(encoding="utf-8-sig")).get("permissions", {}) if settings.file.exists() else {}
    names = [*(tool.spec.name for tool in builtin_tools(ProcessRuntime())), SPEC.name]
    prefixes = [tool_prefix(server.name) for server in settings.mcp]
    for kind in _KINDS:
        for index, rule in enumerate(permissions.get(kind, [])):
            tool = rule.strip().partition("(")[0]
            if not _meets(tool, names, prefixes):
                message = f"found {rule!r}, which is about no tool: it never holds"
                yield Problem(str(settings.file), f"permissions.{kind}[{index}]", message, _remedy(tool, names, prefixes), "warning")


def _meets(tool: str, names: Sequence[str], prefixes: Sequence[str]) -> bool:
    # The case of a tool's name does not count in a rule.
    pattern = Pattern(tool.lower())
    return any(map(pattern.covers, names)) or any(pattern.may_cover(prefix.lower() + UNSEEN) for prefix in prefixes)


def _remedy(tool: str, names: Sequence[str], prefixes: Sequence[str]) -> str:
    nearest = _nearest_server(tool, prefixes) if tool.lower().startswith(_MCP) else next(iter(_close(tool, names)), None)
    return f"did you mean {nearest}?" if nearest else f"tools here: {', '.join((*names, *(f'{prefix}*' for prefix in prefixes)))}"


def _nearest_server(tool: str, prefixes: Sequence[str]) -> str | None:
    server, _, name = tool[len(_MCP) :].partition("__")
    servers = {prefix.removeprefix(_MCP).removesuffix("__"): prefix for prefix in prefixes}
    return next((f"{servers[close]}{name or '*'}" for close in _close(server, servers)), None)


def _close(word: str, known: Sequence[str] | dict[str, str]) -> list[str]:
    return difflib.get_close_matches(word.lower(), known, n=1)
