"""Hook calls of Copilot, in either of its spellings: camelCase, which is installed and names no event, or PascalCase."""

import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from treblehook.gateway.call_id import call_id
from treblehook.gateway.codec import PayloadInvalid
from treblehook.gateway.patch import calls_of
from treblehook.gateway.reading import flag, mapping, shown, text
from treblehook.gateway.results import text_of
from treblehook.gateway.tool_names import ToolName, ToolNames
from treblehook.gateway.values import (
    Arrived,
    CallComing,
    CallDone,
    Compacting,
    Ending,
    Other,
    PermissionAsked,
    PromptGiven,
    Starting,
    Stopping,
    SubagentDone,
    What,
)
from treblehook.host.outside import shell_output
from treblehook.host.tool import ToolOutput
from treblehook.lifecycle import ToolCall

_SHELL: Final = ToolName("bash")
_READ: Final = ToolName("read")
_WRITE: Final = ToolName("write", {"file_text": "content"})
_EDIT: Final = ToolName("edit", {"old_str": "old", "new_str": "new"})
_GREP: Final = ToolName("grep", {"paths": "path"})
_GLOB: Final = ToolName("glob", {"paths": "path"})
_TASK: Final = ToolName("agent", {"prompt": "task"})
_OWN_NAMES: Final = {
    "bash": _SHELL,
    "write_bash": ToolName("bash", {"input": "command"}),
    "view": _READ,
    "create": _WRITE,
    "edit": _EDIT,
    "str_replace": _EDIT,
    "grep": _GREP,
    "rg": _GREP,
    "glob": _GLOB,
    "task": _TASK,
}
_CLAUDE_NAMES: Final = {"Bash": _SHELL, "Read": _READ, "Write": _WRITE, "Edit": _EDIT, "Grep": _GREP, "Glob": _GLOB, "Agent": _TASK}
"""What PascalCase events call them; the inputs are the same."""

NAMES: Final = ToolNames(_OWN_NAMES | _CLAUDE_NAMES)
_PATCHES: Final = ("apply_patch", "Edit")
_EVENTS: Final = {
    "SessionStart": "sessionStart",
    "UserPromptSubmit": "userPromptSubmitted",
    "PreToolUse": "preToolUse",
    "PermissionRequest": "permissionRequest",
    "PostToolUse": "postToolUse",
    "PostToolUseFailure": "postToolUseFailure",
    "PreCompact": "preCompact",
    "Stop": "agentStop",
    "SubagentStop": "subagentStop",
    "SessionEnd": "sessionEnd",
}
"""The camelCase event of each PascalCase one. Answers are the same at both."""

_EXIT_CODE: Final = re.compile(r"\n?<shellId: [^\n<>]* completed with exit code (\d{1,9})>\s*\Z")


class _Keys(Struct, frozen=True):
    """How a payload spells its fields."""

    session: str
    tool: str
    given: str
    result: str
    kind: str
    words: str
    subagent: str
    parent: str
    reply: str


_CAMEL: Final = _Keys(
    "sessionId", "toolName", "toolArgs", "toolResult", "resultType", "textResultForLlm", "agentId", "parentAgentId", "response"
)
_SNAKE: Final = _Keys(
    "session_id",
    "tool_name",
    "tool_input",
    "tool_result",
    "result_type",
    "text_result_for_llm",
    "agent_id",
    "parent_agent_id",
    "last_assistant_message",
)


def camel_case(event: str) -> str:
    """The camelCase name of an event; one that is not known stays as it is."""
    return _EVENTS.get(event, event)


def decoded(event: str, payload: dict[str, Any]) -> Arrived:
    """A hook call; `event` may be "" where the payload names it. Raises `PayloadInvalid`, also for the call of another agent."""
    name = event or text(payload, "hook_event_name")
    known = _EVENTS.get(name, name)
    named = text(payload, "hook_event_name", name)
    if known in _EVENTS.values() and _EVENTS.get(named, named) != known:
        raise PayloadInvalid("hook_event_name", shown(named), f"{name}, for which the call was made")
    # A permission request is spelled in camelCase at either.
    keys = _SNAKE if name in _EVENTS and _SNAKE.session in payload else _CAMEL
    subagent = text(payload, keys.subagent, "")
    # Most events of a subagent have its id as that of their session.
    session = text(payload, keys.parent, "") if subagent else ""
    session = session or text(payload, keys.session)
    return Arrived(name, _what(known, payload, keys), session, text(payload, "cwd"), subagent)


def _what(event: str, payload: dict[str, Any], keys: _Keys) -> What:
    match event:
        case "sessionStart":
            return Starting("resume" if text(payload, "source", "") == "resume" else "start")
        case "userPromptSubmitted":
            return PromptGiven(text(payload, "prompt"))
        case "preToolUse":
            call, *more = _calls(payload, keys, keys.given)
            return CallComing(call, text(payload, keys.tool), _given(payload, keys.given), tuple(more))
        case "permissionRequest":
            call, *more = _calls(payload, keys, "toolInput")
            return PermissionAsked(call, text(payload, keys.tool), tuple(more))
        case "postToolUse":
            return _done(payload, keys)
        case "postToolUseFailure":
            call, *more = _calls(payload, keys, keys.given)
            return CallDone(call, text(payload, keys.tool), ToolOutput(text(payload, "error"), is_error=True), more=tuple(more))
        case "preCompact":
            return Compacting("manual" if text(payload, "trigger", "") == "manual" else "automatic")
        case "agentStop" if not text(payload, keys.subagent, ""):
            # That of a subagent is followed by `subagentStop`.
            return Stopping(again=flag(payload, "stop_hook_active"))
        case "subagentStop":
            if not text(payload, keys.subagent):
                # It would end the session of the agent itself.
                raise PayloadInvalid(keys.subagent, "''", "the id of a subagent")
            return SubagentDone(text(payload, keys.reply, ""), flag(payload, "stop_hook_active"))
        case "sessionEnd":
            return Ending()
    return Other()


def _given(payload: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The input of a call: bare text is the whole of one for some tools."""
    given = payload.get(key)
    return {"input": given} if isinstance(given, str) else mapping(payload, key)


def _calls(payload: dict[str, Any], keys: _Keys, key: str) -> tuple[ToolCall, ...]:
    """The calls of ours that one of Copilot's is; it has no id."""
    tool, given = text(payload, keys.tool), _given(payload, key)
    id = call_id(text(payload, keys.session), tool, given)
    if tool in _PATCHES and given.keys() == {"input"}:
        return calls_of(text(given, "input"), id, key)
    name, ours = NAMES.ours(tool, given)
    return (ToolCall(id, _mcp_name(name), ours),)


def _mcp_name(tool: str) -> str:
    """`SERVER/TOOL` where permission is asked, else `SERVER-TOOL`; no tool of Copilot's own has either sign in its name."""
    server, sign, name = tool.partition("/")
    if not sign:
        # Hyphens are common in the names of servers, underscores in those of tools.
        server, sign, name = tool.rpartition("-")
    return f"mcp__{server}__{name}" if server and name else tool


def _done(payload: dict[str, Any], keys: _Keys) -> CallDone:
    """What is kept of the response is its kind."""
    call, *more = _calls(payload, keys, keys.given)
    result = mapping(payload, keys.result)
    kind, content = text(result, keys.kind), text_of(result.get(keys.words))
    ended = _EXIT_CODE.search(content) if call.name == "bash" and kind == "success" else None
    output = (
        ToolOutput(content, is_error=kind != "success")
        if ended is None
        else shell_output(content[: ended.start()], exit_code=int(ended[1]), content=content)
    )
    return CallDone(call, text(payload, keys.tool), output, kind, more=tuple(more))
