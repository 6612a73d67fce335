"""OpenAI's Codex CLI (0.171.0). It takes commands only, drops a whole answer for one key that it does not know, and runs what it was not
clearly told to leave."""

import re
from typing import Any, Final

from treblehook.gateway.call_id import call_id
from treblehook.gateway.codec import Hooked, PayloadInvalid, Support
from treblehook.gateway.elsewhere import ELSEWHERE, TYPED, UNSEEN_INPUT, honoured, unasked
from treblehook.gateway.patch import calls_of
from treblehook.gateway.reading import flag, mapping, text
from treblehook.gateway.results import text_of
from treblehook.gateway.tool_names import ToolName, ToolNames
from treblehook.gateway.typed_patch import typed_calls
from treblehook.gateway.values import (
    AddText,
    Answer,
    Arrived,
    AskUser,
    CallComing,
    CallDone,
    Compacting,
    Ending,
    GoOn,
    Granted,
    Other,
    Patched,
    PermissionAsked,
    PromptGiven,
    Refused,
    RunRewritten,
    Starting,
    Stopping,
    SubagentDone,
    What,
)
from treblehook.gateway.wording import refusal, said, unasked_question, unrewritten
from treblehook.host.tool import ToolOutput
from treblehook.lifecycle import (
    Ask,
    CompactionStarting,
    PermissionRequest,
    PreToolCall,
    PromptSubmitted,
    Replace,
    Rewrite,
    SessionEnd,
    SessionStart,
    ShellGate,
    ShellRan,
    SubagentFinished,
    TaskEnd,
    TaskStart,
    ToolCall,
    ToolFinished,
    ToolGate,
    ToolProposed,
    ToolRan,
    TurnComplete,
    TurnEnding,
)

_AGENT: Final = "Codex"
_PATCH: Final = "apply_patch"
_SHELL: Final = ToolName("bash", {"cmd": "command"})
# Whatever shell a version offers its model, hooks are told of `Bash`; under its own name a guard of bash would miss it.
_NAMES: Final = ToolNames(
    {
        **dict.fromkeys(("Bash", "shell", "shell_command", "local_shell", "exec_command"), _SHELL),
        "view_image": ToolName("read"),
        "spawn_agent": ToolName("agent", {"message": "task"}),
    }
)
_REWRITE: Final = "only the command of a shell call can be changed; any other call is denied, and the model is told the input to use"
_REPLACE: Final = "the call is denied, with the result as the reason"
_STDIN: Final = (
    "what is typed into a command that already runs (write_stdin) calls no hook, so a shell that was allowed can be told anything; nor do "
    f"tools that run at the provider, such as its web search; {TYPED}; {UNSEEN_INPUT}"
)
_UNTOLD: Final = "a call of an MCP tool that fails is not told, and neither is a patch that is typed into a shell"
_SUPPORT: Final = (
    *ELSEWHERE,
    *honoured(SessionStart),
    *honoured(CompactionStarting),
    *(
        row
        for event in (ToolProposed, PreToolCall)
        for row in honoured(
            event,
            Support(event, None, "honoured", _STDIN),
            Support(event, Rewrite, "stricter", _REWRITE),
            Support(event, Replace, "stricter", _REPLACE),
        )
    ),
    *honoured(
        PermissionRequest,
        Support(PermissionRequest, Ask, "stricter", "Codex cannot be made to ask: where a rule of ours wants that, the call is denied"),
    ),
    *honoured(ToolGate, Support(ToolGate, None, "honoured", _STDIN)),
    *honoured(ShellGate, Support(ShellGate, None, "honoured", _STDIN)),
    *honoured(
        ToolFinished,
        Support(ToolFinished, None, "honoured", _UNTOLD),
        Support(ToolFinished, Rewrite, "honoured", "the text; that it is an error cannot be said"),
    ),
    *honoured(ToolRan, Support(ToolRan, None, "honoured", _UNTOLD)),
    *unasked(ShellRan, "Codex does not say with which status a command ended; ToolRan tells of it"),
    *honoured(TurnEnding),
    *honoured(TaskEnd),
    *honoured(TurnComplete),
    *honoured(SubagentFinished),
    *honoured(SessionEnd, Support(SessionEnd, None, "honoured", "Codex waits about a second")),
)
_STARTS: Final[dict[str, Starting]] = {
    "resume": Starting("resume"),
    "fork": Starting("resume"),
    "compact": Starting("compacted"),
}
_FAILED: Final = re.compile(r"Exit code: 0*[1-9]")
"""How the result of a patch begins that was not applied."""


class Codex:
    """The codec of Codex."""

    name: Final = "codex"
    hooked: Final = (
        Hooked("SessionStart", (SessionStart,)),
        Hooked("UserPromptSubmit", (SessionStart, PromptSubmitted, TaskStart)),
        Hooked("PreToolUse", (SessionStart, ToolProposed, PreToolCall, ToolGate, ShellGate)),
        Hooked("PermissionRequest", (PermissionRequest,)),
        Hooked("PostToolUse", (ToolFinished, ToolRan)),
        Hooked("PreCompact", (CompactionStarting,)),
        Hooked("Stop", (TurnEnding, TaskEnd, TurnComplete)),
        Hooked("SubagentStop", (TurnEnding, TaskEnd, TurnComplete, SubagentFinished)),
        Hooked("SessionEnd", (SessionEnd,)),
    )
    """Never over HTTP: one such entry makes Codex drop the whole file."""
    support: Final[tuple[Support, ...]] = _SUPPORT

    def decode(self, event: str, payload: dict[str, Any]) -> Arrived:
        """The hook call `event`. Raises `PayloadInvalid`."""
        name = event or text(payload, "hook_event_name")
        return Arrived(
            name,
            _what(name, payload),
            text(payload, "session_id"),
            # A command's own folder, where it has one.
            text(payload, "cwd"),
            subagent=text(payload, "agent_id", ""),
            model=text(payload, "model", ""),
        )

    def encode(self, arrived: Arrived, answer: Answer) -> dict[str, Any]:
        """The JSON object that Codex honours."""
        match arrived.what, answer:
            case ((Starting() | PromptGiven()), AddText(words)) if words.strip():
                return {"hookSpecificOutput": {"hookEventName": arrived.event, "additionalContext": said(words)}}
            case _, Refused():
                return self.refuse(arrived.event, refusal(answer))
            case CallComing(), AskUser():
                return self.refuse(arrived.event, unasked_question(answer, _AGENT))
            case CallComing() as coming, RunRewritten(given):
                return self._rewritten(arrived.event, coming, given)
            case PermissionAsked(), Granted():
                return _permission({"behavior": "allow"})
            case CallDone(), Patched(content):
                return {"decision": "block", "reason": said(content, "(empty)")}
            case ((Stopping() | SubagentDone()), GoOn(words)):
                return {"decision": "block", "reason": said(words, "A hook wants you to go on.")}
        return {}

    def refuse(self, event: str, reason: str) -> dict[str, Any]:
        """What stops `event`. A stop is let be: Codex knows no limit of how often it goes on, and no hook of ours refuses a compaction."""
        why = said(reason)
        match event:
            case "SessionStart":
                return {"continue": False, "stopReason": why}
            case "UserPromptSubmit" | "PostToolUse":
                return {"decision": "block", "reason": why}
            case "PreToolUse":
                return _before_tool({"permissionDecision": "deny", "permissionDecisionReason": why})
            case "PermissionRequest":
                return _permission({"behavior": "deny", "message": why})
        return {}

    def _rewritten(self, event: str, coming: CallComing, given: dict[str, Any]) -> dict[str, Any]:
        """Codex takes a new `command` and nothing else, and gives no permission with it."""
        command = given.get("command")
        others = {key: value for key, value in coming.input.items() if key != "command"}
        # Others in one call are what its command does, which would be another then.
        if coming.tool == "Bash" and not coming.more and isinstance(command, str) and given == {**others, "command": command}:
            return _before_tool({"permissionDecision": "allow", "updatedInput": {"command": command}})
        return self.refuse(event, unrewritten(_theirs(coming, given), _AGENT))


def _what(event: str, payload: dict[str, Any]) -> What:
    match event:
        case "SessionStart":
            return _STARTS.get(text(payload, "source", "startup"), Starting())
        case "UserPromptSubmit":
            return PromptGiven(text(payload, "prompt"))
        case "PreToolUse":
            call, *more = _calls(payload)
            return CallComing(call, text(payload, "tool_name"), mapping(payload, "tool_input"), tuple(more))
        case "PermissionRequest":
            call, *more = _calls(payload)
            return PermissionAsked(call, text(payload, "tool_name"), tuple(more))
        case "PostToolUse":
            return _done(payload)
        case "PreCompact":
            return Compacting("manual" if text(payload, "trigger", "auto") == "manual" else "automatic")
        case "Stop":
            return Stopping(_reply(payload), flag(payload, "stop_hook_active"))
        case "SubagentStop":
            if not text(payload, "agent_id"):
                # It would end the session of the agent itself.
                raise PayloadInvalid("agent_id", "''", "the id of a subagent")
            return SubagentDone(_reply(payload), flag(payload, "stop_hook_active"))
        case "SessionEnd":
            return Ending()
    return Other()


def _theirs(coming: CallComing, given: dict[str, Any]) -> dict[str, Any]:
    """An input as the model would have to make the call; as it is where two keys would become one."""
    try:
        return _NAMES.theirs(coming.tool, given, coming.input)
    except PayloadInvalid:
        return given


def _calls(payload: dict[str, Any]) -> tuple[ToolCall, ...]:
    """The calls of ours that one of Codex's is; a permission request has no id."""
    tool, given = text(payload, "tool_name"), mapping(payload, "tool_input")
    id = text(payload, "tool_use_id", "") or call_id(text(payload, "session_id"), tool, given)
    if tool == _PATCH:
        return calls_of(_patch(given), id, "tool_input.command")
    name, ours = _NAMES.ours(tool, given)
    call, command = ToolCall(id, name, ours), ours.get("command")
    if name != "bash" or not isinstance(command, str):
        return (call,)
    return (call, *typed_calls(command, id, text(payload, "cwd"), "tool_input.command"))


def _patch(given: dict[str, Any]) -> str:
    patch = given.get("command")
    if not isinstance(patch, str):
        raise PayloadInvalid("tool_input.command", "nothing" if patch is None else repr(patch)[:60], "the text of a patch")
    return patch


def _done(payload: dict[str, Any]) -> CallDone:
    """A command's exit status is not in the payload."""
    call, *more = _calls(payload)
    tool, response = text(payload, "tool_name"), payload.get("tool_response")
    content = text_of(response)
    return CallDone(call, tool, ToolOutput(content, is_error=_failed(tool, response, content)), response, more=tuple(more))


def _failed(tool: str, response: Any, content: str) -> bool:
    if isinstance(response, dict):
        return response.get("isError") is True
    return tool == _PATCH and _FAILED.match(content) is not None


def _reply(payload: dict[str, Any]) -> str:
    return "" if payload.get("last_assistant_message") is None else text(payload, "last_assistant_message")


def _before_tool(fields: dict[str, Any]) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **fields}}


def _permission(decision: dict[str, str]) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}
