"""What a tool's input says of the files that a call is about."""

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

from treblehook.shell.bash.programs import SHELLS

_READ = """
    read read_file read_many_files notebookread view view_image glob grep grep_search search_file_content ls list list_dir
    list_directory note_read note_rename note_search note_write
"""
READING: Final = frozenset(_READ.split())
"""Tools that change no file, by their names in small letters: ours, and those that agents have. Notes are changed in their kilns only."""

_MCP_READS: Final = re.compile(r"(?:count|describe|directory_tree|find|get|glob|grep|list|read|search|show|stat|view)(?:_|\b)")
_CHANGES: Final = re.compile(
    r"(?:_|\b)(?:and|append|apply|call|copy|create|delete|edit|exec|execute|insert|mkdir|move|or|patch|put|remove|rename|replace|run|save|set"
    r"|touch|update|upload|write)(?:_|\b)"
)

WRITING: Final = frozenset({"write", "edit"})
"""Tools that change the one file that they are told, and no folder."""
PATCHING: Final = frozenset({"apply_patch", "patch"})
MOVING: Final = re.compile(r"(?:\b|_)(?:delete|mv|move|remove|rename|rm|rmdir|trash|unlink)(?:\b|_)")
"""In a tool's name: it changes all that is below a folder."""

_WORKING_FOLDERS: Final = frozenset({"cwd", "directory", "dir_path", "workdir", "working_directory"})
_PATHS: Final = frozenset({"destination", "filename", "source"})
_PATCHED: Final = re.compile(r"^\s*\*\*\* *(?:(?:Add|Update|Delete) File|Move to): *(.*?)\s*$", re.MULTILINE)
_SCRIPT: Final = re.compile(r"-l?c")
_DEEPEST: Final = 4


def reads(tool: str) -> bool:
    """Whether a tool, its name in small letters, changes no file; one of MCP by the verb that its own name begins with."""
    if tool in READING:
        return True
    own = tool.rpartition("__")[2].replace("-", "_") if tool.startswith("mcp__") else ""
    return _MCP_READS.match(own) is not None and not _CHANGES.search(own)


def paths_in(values: Mapping[str, Any]) -> Iterator[str]:
    """The values of all arguments that are named as a path is, lists and tables of them included."""
    yield from _paths(values, named=False, depth=0)


def _paths(value: object, *, named: bool, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        if named:
            yield value.removeprefix("file://")
    elif depth > _DEEPEST:
        return
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _paths(one, named=_is_path(str(key)), depth=depth + 1)
    elif isinstance(value, list):
        for one in value:
            yield from _paths(one, named=named, depth=depth + 1)


def _is_path(key: str) -> bool:
    key = key.lower()
    return (key.endswith(("path", "paths", "file", "files")) and key not in _WORKING_FOLDERS) or key in _PATHS


def patched_paths(values: Mapping[str, Any]) -> Iterator[str]:
    """The files that a patch adds, changes, deletes or moves, in whatever argument it is."""
    for value in values.values():
        if isinstance(value, str):
            yield from _PATCHED.findall(value)


def command_in(values: Mapping[str, Any]) -> str | None:
    """The command line of a shell tool; of the words `[SHELL, -c, SCRIPT]` it is the script."""
    command = values.get("command", values.get("cmd"))
    if isinstance(command, list):
        words = [str(word) for word in command]
        shell = len(words) == 3 and words[0].rpartition("/")[2] in SHELLS and _SCRIPT.fullmatch(words[1])
        return words[2] if shell else shlex.join(words)
    return command if isinstance(command, str) else None


def working_folders(values: Mapping[str, Any]) -> list[str]:
    """Where a command is to be run, as the call says."""
    return [value for key, value in values.items() if key in _WORKING_FOLDERS and isinstance(value, str)]
