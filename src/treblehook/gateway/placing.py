"""Calls that an agent makes in another folder than that of its session: what is relative in them means something else there."""

import os
from typing import Any, Final

from treblehook.lifecycle import ToolCall

_FOLDER: Final = "workdir"


def placed(call: ToolCall, folder: str, workspace: str) -> ToolCall:
    """`call`, made in `folder`, for hooks and rules that take `workspace` for its folder: a command gets the `workdir` that it lacks, and a
    relative path becomes absolute."""
    if folder == workspace:
        return call
    if call.name == "bash":
        return call if _FOLDER in call.input else ToolCall(call.id, call.name, {**call.input, _FOLDER: folder})
    path = call.input.get("path")
    if not isinstance(path, str) or path.startswith(("/", "~")):
        return call
    return ToolCall(call.id, call.name, {**call.input, "path": os.path.join(folder, path)})


def unplaced(rewritten: dict[str, Any], call: ToolCall, folder: str) -> dict[str, Any]:
    """An input as hooks have left it, without the folder that `call` itself did not name."""
    if _FOLDER in call.input or rewritten.get(_FOLDER) != folder:
        return rewritten
    return {key: value for key, value in rewritten.items() if key != _FOLDER}
