"""Our tools as hooks of Claude Code know them: names, inputs both ways, and results both ways."""

import os
import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from treblehook.engine import HookFailed
from treblehook.lifecycle import ToolCall, ToolFinished

Input = dict[str, Any]


class ClaudeTool(Struct, frozen=True):
    """A tool under its names there, the present one first; `keys` are our arguments that are called otherwise, `has_file` is true where
    `file_path` names a file, always absolute, and `added` are arguments with a fixed value, which only hooks see."""

    names: tuple[str, ...]
    keys: Mapping[str, str] = {}
    has_file: bool = False
    added: Mapping[str, Any] = {}
    dropped: tuple[str, ...] = ()


_TOOLS: Final[dict[str, ClaudeTool]] = {
    "bash": ClaudeTool(("Bash",), {"timeout_ms": "timeout"}, dropped=("description",)),
    "read": ClaudeTool(("Read",), {"path": "file_path"}, has_file=True),
    "write": ClaudeTool(("Write",), {"path": "file_path"}, has_file=True),
    "edit": ClaudeTool(
        ("Edit",), {"path": "file_path", "old": "old_string", "new": "new_string"}, has_file=True, added={"replace_all": False}
    ),
    "glob": ClaudeTool(("Glob",)),
    "grep": ClaudeTool(("Grep",)),
    "agent": ClaudeTool(
        ("Agent", "Task"),
        {"task": "prompt", "background": "run_in_background"},
        added={"subagent_type": "general-purpose"},
        dropped=("description",),
    ),
}

CLAUDE_NAMES: Final[dict[str, str]] = {name: ours for ours, tool in _TOOLS.items() for name in tool.names}
"""Our tool by each of its names there."""

_NUMBER: Final = re.compile(r"^ *\d+\t", re.MULTILINE)


def names_of(tool: str) -> tuple[str, ...]:
    """What a tool of ours is called there, the present name first; others keep their names."""
    return _TOOLS[tool].names if tool in _TOOLS else (tool,)


def told_input(call: ToolCall, workspace: str) -> Input:
    """The input of a call as hooks are told it."""
    tool = _TOOLS.get(call.name)
    if tool is None:
        return call.input
    told = {tool.keys.get(key, key): value for key, value in call.input.items()}
    path = told.get("file_path")
    if tool.has_file and isinstance(path, str):
        told["file_path"] = os.path.normpath(os.path.join(workspace, os.path.expanduser(path)))
    return {**told, **tool.added}


def own_input(tool_name: str, told: Input) -> Input:
    """The whole input that a hook gave, in our words. What a tool of ours does not have stays, and the tool refuses it."""
    tool = _TOOLS.get(tool_name)
    if tool is None:
        return told
    ours = {theirs: key for key, theirs in tool.keys.items()}
    left_out = {*tool.dropped, *(key for key, value in tool.added.items() if told.get(key) == value)}
    return {ours.get(key, key): value for key, value in told.items() if key not in left_out}


def told_result(event: ToolFinished) -> Any:
    """The result of a call in the shape that the tool has there; what is not known of it is empty."""
    text, told = event.content, told_input(event.call, event.workspace)
    match event.call.name:
        case "bash":
            return {"stdout": text, "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False}
        case "read":
            # Here a read shows line numbers, there it has none.
            content = _NUMBER.sub("", text)
            lines, start = content.count("\n") + 1, told.get("offset", 1)
            file = {"filePath": told.get("file_path"), "content": content, "numLines": lines, "startLine": start, "totalLines": lines}
            return {"type": "text", "file": file}
        case "write":
            written = {"filePath": told.get("file_path"), "content": told.get("content")}
            return {"type": "update", **written, "structuredPatch": [], "originalFile": None, "userModified": False}
        case "edit":
            edited = {"filePath": told.get("file_path"), "oldString": told.get("old_string"), "newString": told.get("new_string")}
            return {**edited, "originalFile": None, "structuredPatch": [], "userModified": False, "replaceAll": False}
        case "glob":
            names = text.splitlines()
            return {"filenames": names, "durationMs": int(event.duration_ms), "numFiles": len(names), "truncated": False}
        case "grep":
            return {"mode": "content", "content": text, "numLines": len(text.splitlines()), "filenames": [], "numFiles": 0}
        case _:
            return [{"type": "text", "text": text}]


def own_result(tool_name: str, output: Any) -> str:
    """The text of a result that a hook gave in the tool's shape there. Raises `HookFailed` for any other shape."""
    match tool_name, output:
        case "bash", {"stdout": str(out), "stderr": str(err), "interrupted": bool(), "isImage": bool()}:
            return "\n".join(filter(None, (out.removesuffix("\n") if err else out, err)))
        case "read", {"type": "text", "file": {"content": str(content)}}:
            return content
        case name, list(blocks) if name not in _TOOLS and all(map(_is_text, blocks)):
            return "\n".join(block["text"] for block in blocks)
    raise HookFailed(f"its updatedToolOutput does not have the shape of a result of {names_of(tool_name)[0]}")


def _is_text(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
