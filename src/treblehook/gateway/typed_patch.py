"""A patch that is typed into a shell: Codex starts none for it, and applies the patch as it does that of its `apply_patch` tool."""

import os
import re
from typing import Final

from treblehook.gateway.codec import PayloadInvalid
from treblehook.gateway.patch import calls_of
from treblehook.lifecycle import ToolCall

_LIKE_ONE: Final = re.compile(r"apply_?patch(?:\s|\\\n)*<<")
_MARK: Final = "*** Begin Patch"
_FOLDER: Final = r"""'(?P<single>[^'\n]+)'|"(?P<double>[^"$`\\\n]+)"|(?P<bare>[\w./@%+,:=-]+)"""
_BODY: Final = r"""(?P<quote>['"]?)(?P<end>[\w.-]+)(?P=quote)[ \t]*\n(?P<patch>.*)\n(?P=end)"""
_ONE: Final = re.compile(rf"\s*(?:cd[ \t]+(?:{_FOLDER})\s*&&\s*)?apply_?patch\s*<<\s*{_BODY}\s*", re.DOTALL)


def typed_calls(command: str, id: str, folder: str, place: str) -> tuple[ToolCall, ...]:
    """A call of ours for every path that the patch in `command`, which is run in `folder`, touches; none where it is no such command.
    The paths are absolute. Raises `PayloadInvalid` where it looks like one that may be read otherwise."""
    if _MARK not in command or not _LIKE_ONE.search(command):
        return ()
    one = _ONE.fullmatch(command)
    if one is None:
        allowed = "`apply_patch <<'EOF'`, the patch and EOF, alone or behind `cd FOLDER &&`"
        raise PayloadInvalid(place, "a patch within another command", allowed)
    entered = one["single"] or one["double"] or one["bare"] or ""
    return tuple(
        ToolCall(f"{id}-patch-{n}", call.name, {**call.input, "path": os.path.join(folder, entered, call.input["path"])})
        for n, call in enumerate(calls_of(one["patch"], id, place), 1)
    )
