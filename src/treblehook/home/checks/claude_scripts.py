"""Scripts that were written for Claude Code and ask for what the `claude` protocol does not have here (vera.md 4.2, 4.4, 4.8).

What a script asks for is read off its text: the names count where they stand as a program writes them, in quotes, in a pattern or
behind a comparison, not as words of a sentence.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from treblehook.contracts.vera.config import VeraConfig
from treblehook.home.checks.entries import Entry, content_of
from treblehook.host.problems import Problem

_TOOLS: Final = {
    "Write": "write",
    "Edit": "edit",
    "MultiEdit": "edit",
    "Read": "read",
    "Glob": "glob",
    "Grep": "grep",
    "Task": "agent",
}
"""Claude Code's tools, and what does their work here."""

_FILE_PATH: Final = re.compile(r"\bfile_path\b")
_PATH: Final = re.compile(r"""["']path["']|input\W{1,3}path\b""")
_UPDATED_INPUT: Final = re.compile(r"\bupdatedInput\b")
_ASK: Final = re.compile(r"""permissionDecision\W{1,8}ask\b|["']ask\\?["']""")
_CONTINUE_FALSE: Final = re.compile(r"""\bcontinue\\?["']?\s*[:=]\s*[Ff]alse\b""")
_REMEDY: Final = "only Bash keeps its name, inputs have the names of our tools, and the decisions are allow and deny"


def claude_habits(config: VeraConfig, entries: Sequence[Entry]) -> Iterator[Problem]:
    """A warning for each script of the claude protocol that has words which mean nothing here, at its first entry."""
    scripts: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.hook.protocol == "claude":
            scripts.setdefault(entry.hook.executable, []).append(entry)
    for first, *more in scripts.values():
        found = list(_found(_text(first), before_tools=any(entry.event == "PreToolUse" for entry in (first, *more))))
        if found:
            message = f"{first.hook.name} cannot work here as it does in Claude Code: it has {', '.join(found)}"
            yield Problem(config.file, first.hook.place, message, _REMEDY, "warning")


def _text(entry: Entry) -> str:
    """The script; "" for a compiled program, whose words tell nothing."""
    content = content_of(entry.hook) or b""
    return "" if b"\0" in content else content.decode("utf-8", "replace")


def _found(text: str, *, before_tools: bool) -> Iterator[str]:
    if before_tools:
        for name, ours in _TOOLS.items():
            if _names(text, name) and not _names(text, ours):
                yield f"{name} (here {ours})"
        if _FILE_PATH.search(text) and not _PATH.search(text):
            yield "file_path (here path)"
        if _UPDATED_INPUT.search(text):
            yield "updatedInput (ignored)"
        if _ASK.search(text):
            yield "the decision ask (a failure)"
    if _CONTINUE_FALSE.search(text):
        yield "continue: false (ignored)"


def _names(text: str, tool: str) -> bool:
    """Whether a program names the tool: `"Write"`, `Write|Edit`, `^Write$`, `Write)` of a `case`, `== Write`."""
    return re.search(rf"""(?:^|[\s"'|(/^]){tool}["'|)/$]|=~?\s*{tool}\b""", text, re.MULTILINE) is not None
