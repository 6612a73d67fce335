"""Events of a tool call that no model has made."""

import difflib
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from treblehook.home.dry_run.wish import Wish, WishInvalid
from treblehook.host.tool import ShellTool, ToolContext, ToolInputInvalid, ToolSpec
from treblehook.lifecycle import PreparedCall, ShellOutcome, ToolCall
from treblehook.lifecycle.tool_events import ToolEvent

_CALL_ID: Final = "call_1"
_TOOL: Final = "bash"
_RESULT: Final = "Hello."
_INPUTS: Final = {
    "command": "echo hello",
    "path": "notes.md",
    "content": "Hello.",
    "old": "Hello.",
    "new": "Goodbye.",
    "pattern": "*",
    "task": "Say hello.",
}
"""Examples of arguments, for those that a tool needs."""


class KnownTools(Struct, frozen=True):
    """The tools that a call may name: those of `specs`, and any whose name begins with one of `prefixes`."""

    specs: dict[str, ToolSpec]
    shells: dict[str, ShellTool]
    prefixes: tuple[str, ...] = ()


def tool_event(kind: type[ToolEvent], wish: Wish, tools: KnownTools) -> ToolEvent:
    """An event of `kind`; a command is resolved, and not run. Raises WishInvalid."""
    call = _call(wish, tools)
    content, is_error = wish.options.get("result", _RESULT), wish.options.get("is_error", False)
    fields: dict[str, Any] = {**wish.facts(), "call": call}
    if "prepared" in kind.__struct_fields__:
        fields["prepared"] = _prepared(call, wish, tools)
    if "input_json" in kind.__struct_fields__:
        fields["input_json"] = msgspec.json.encode(call.input).decode()
    if "content" in kind.__struct_fields__:
        fields |= {"content": content, "is_error": is_error}
    if "outcome" in kind.__struct_fields__:
        fields["outcome"] = ShellOutcome(exit_code=int(is_error), stdout=content, stderr="", duration_ms=0)
    return kind(**fields)


def _call(wish: Wish, tools: KnownTools) -> ToolCall:
    name = wish.options.get("tool", _TOOL)
    spec = tools.specs.get(name)
    if spec is None and not name.startswith(tools.prefixes):
        close = difflib.get_close_matches(name.lower(), tools.specs, n=1)
        hint = f" Did you mean {close[0]}?" if close else ""
        allowed = ", ".join((*tools.specs, *(f"{prefix}TOOL" for prefix in tools.prefixes)))
        raise WishInvalid("tool", f"there is no tool named {name!r}.{hint} Allowed: {allowed}")
    needed = [] if spec is None else spec.parameters.get("required", [])
    example = {argument: _INPUTS.get(argument, "") for argument in needed}
    return ToolCall(_CALL_ID, name, wish.options.get("input", example))


def _prepared(call: ToolCall, wish: Wish, tools: KnownTools) -> PreparedCall:
    shell = tools.shells.get(call.name)
    if shell is None:
        raise WishInvalid("tool", f"{call.name} runs no command. Allowed: {', '.join(tools.shells)}")
    context = ToolContext(Path(wish.workspace), wish.session, call.id, {}, lambda text: None)
    try:
        return shell.prepare(call.input, context)
    except ToolInputInvalid as problem:
        raise WishInvalid("input", str(problem)) from problem
