"""Whom a hook is for: the matcher of its group, and the `if` of the hook itself."""

import os
import re
from collections.abc import Callable, Iterable
from typing import Final

from msgspec import Struct

from treblehook.contracts.claude.settings.tools import CLAUDE_NAMES, names_of, told_input
from treblehook.engine.patterns import Pattern
from treblehook.lifecycle import ToolCall

CommandRule = Callable[[str, str], bool]
"""Whether a permission pattern holds for some command in a command line, or might, as far as can be seen."""

_EXACT: Final = re.compile(r"[A-Za-z0-9_\-\s,|]*")
_NAMED_GROUP: Final = re.compile(r"\(\?<(?=[A-Za-z_$])")
_RULE: Final = re.compile(r"\s*(?P<tool>[\w*.-]+)(?:\((?P<of>.*)\))?\s*", re.DOTALL)
_SEVERAL: Final = re.compile(r"\)\s*(?:&&|\|\||,)\s*[\w*.-]+\(")
_FILES: Final = {"Edit": ("Edit", "Write"), "Read": ("Read", "Glob", "Grep"), "Write": ("Write",)}
"""The tools that a rule about files speaks of."""
_FILE_KEYS: Final = ("file_path", "path")


class Matcher:
    """A matcher: exact names between `|` and `,`, else a regular expression that may match anywhere. Raises `ValueError` where Python
    cannot read it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._names: frozenset[str] | None = None
        self._search: Callable[[str], object] | None = None
        if text in ("", "*"):
            return
        if _EXACT.fullmatch(text):
            self._names = frozenset(name.strip() for name in re.split(r"[|,]", text))
            return
        try:
            # JavaScript's \d and \w know ASCII alone, and its groups are named without a P.
            self._search = re.compile(_NAMED_GROUP.sub("(?P<", text), re.ASCII).search
        except re.error as error:
            raise ValueError(f"is no regular expression: {error}") from error

    def matches(self, words: Iterable[str]) -> bool:
        """Whether one of the names that something has there is meant."""
        if self._names is not None:
            return not self._names.isdisjoint(words)
        search = self._search
        return search is None or any(search(word) for word in words)


class Condition(Struct, frozen=True):
    """An `if`: one permission rule, `TOOL` or `TOOL(of)`."""

    tool: str
    of: str | None

    def holds(self, call: ToolCall, workspace: str, command_rule: CommandRule) -> bool:
        """Whether the rule is about this call."""
        if not self._names(call.name):
            return False
        if self.of is None or _is_open(self.of):
            return True
        told = told_input(call, workspace)
        if self.tool == "Bash":
            command = told.get("command")
            # `git:*` is the older spelling of `git *`; how much white space there is does not count.
            return isinstance(command, str) and command_rule(re.sub(r":\*\Z", " *", " ".join(self.of.split())), command)
        if self.tool in _FILES:
            named = next((told[key] for key in _FILE_KEYS if isinstance(told.get(key), str)), workspace)
            return path_matches(self.of, os.path.normpath(os.path.join(workspace, os.path.expanduser(named))), workspace)
        return self.of == told.get("subagent_type")

    def _names(self, tool: str) -> bool:
        names = names_of(tool)
        if self.tool in _FILES:
            return names[0] in _FILES[self.tool]
        return any(Pattern(self.tool).matches(name) for name in names)


def condition(text: str) -> Condition:
    """The rule in `text`. Raises `ValueError` for one that never holds here, saying why."""
    parts = _RULE.fullmatch(text)
    if parts is None:
        raise ValueError("is no permission rule")
    found = Condition(parts["tool"], parts["of"])
    if found.of is not None and _SEVERAL.search(found.of):
        raise ValueError("is more than one rule")
    known = found.tool in CLAUDE_NAMES
    if not known and found.tool not in _FILES and not found.tool.startswith("mcp__") and "*" not in found.tool:
        raise ValueError(f"is about {found.tool}, and no tool here is called that")
    if found.of is not None and not _is_open(found.of) and found.tool not in ("Bash", *_FILES, *names_of("agent")):
        raise ValueError(f"is narrower than a rule about {found.tool} can be; those about Bash, Edit, Read, Write and Agent can")
    return found


def _is_open(of: str) -> bool:
    """Whether a rule says no more than its tool."""
    return of.strip() in ("", "*")


def path_matches(pattern: str, path: str, workspace: str) -> bool:
    """Whether an absolute path is meant by a pattern as `.gitignore` has them: `//` begins at the root, `~/` at the user's home, `/` at the
    workspace; one without a slash inside is a name at any depth, and one that begins with a star is meant anywhere, also outside of the
    workspace. What lies in a folder that is meant is meant too, and the case of letters does not count (seen in Claude Code 2.1.332)."""
    if pattern.startswith("*"):
        glob = pattern if "/" in pattern.rstrip("/") else f"**/{pattern}"
        return _below("/", glob, path) or _below(workspace, glob, path)
    root = workspace
    if pattern.startswith("//"):
        root, pattern = "/", pattern[1:]
    elif pattern.startswith("~/"):
        root, pattern = os.path.expanduser("~"), pattern[1:]
    pattern = pattern.removeprefix("./")
    anchored = "/" in pattern.rstrip("/")
    pattern = pattern.strip("/")
    return _below(root, pattern if anchored else f"**/{pattern}", path)


def _below(root: str, glob: str, path: str) -> bool:
    """Whether `glob`, seen from the folder `root`, is `path` or a folder around it."""
    inside = os.path.relpath(path, root).casefold()
    if inside == ".." or inside.startswith("../"):
        return False
    folded = glob.strip("/").casefold()
    return Pattern(folded).matches(inside) or Pattern(f"{folded}/**").matches(inside)
