"""OpenCode (1.18.33). It loads code: our own plugin calls us with what OpenCode gives it, and puts our answers into what OpenCode reads."""

import re
from typing import Any, Final

from treblehook.gateway.codec import Hooked, PayloadInvalid, Support
from treblehook.gateway.elsewhere import ELSEWHERE, UNSEEN_INPUT, honoured
from treblehook.gateway.patch import calls_of
from treblehook.gateway.reading import mapping, number, text
from treblehook.gateway.results import text_of
from treblehook.gateway.tool_names import ToolName, ToolNames
from treblehook.gateway.values import (
    AddText,
    Answer,
    Arrived,
    AskUser,
    CallComing,
    CallDone,
    Compacting,
    Ending,
    Other,
    Patched,
    PromptGiven,
    Refused,
    RunRewritten,
    Starting,
    Stopping,
    SubagentDone,
    What,
)
from treblehook.gateway.wording import refusal, said, unasked_question, unrewritten
from treblehook.host.outside import shell_output
from treblehook.host.tool import ToolOutput
from treblehook.lifecycle import (
    Ask,
    Block,
    CompactionStarting,
    Continue,
    PermissionRequest,
    PreToolCall,
    PromptSubmitted,
    Refuse,
    Reopen,
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

_AGENT: Final = "OpenCode"
_PATCH: Final = "apply_patch"
_NAMES: Final = ToolNames(
    {
        "bash": ToolName("bash", {"timeout": "timeout_ms", "workdir": "workdir"}),
        "read": ToolName("read", {"filePath": "path"}),
        "write": ToolName("write", {"filePath": "path"}),
        "edit": ToolName("edit", {"filePath": "path", "oldString": "old", "newString": "new"}),
        "task": ToolName("agent", {"prompt": "task"}),
    }
)
_SERVER_CHARACTER: Final = re.compile(r"[^a-zA-Z0-9_-]")
_FAILED: Final = "OpenCode tells nothing of a call that failed; a command that ended with an error is told"
_PATCHED: Final = "a patch is denied, with the input that hooks want; all else runs rewritten"
_REPLACED: Final = "the call is denied, and the reason holds the result"
_TYPED: Final = f"commands that the user types, behind a ! or in a terminal of OpenCode's, call no hook; {UNSEEN_INPUT}"
_ENDED: Final = "a session ends where it is deleted, or nothing has been heard of it for half an hour"
_IDLE: Final = "OpenCode cannot be sent back: a run is over when its session is idle"


class OpenCode:
    """The codec of OpenCode and of `install/plugins/opencode.js`.

    A call has `session`, `subagent` ("" for none: a subagent's own session, with `session` the one that it works for), `workspace`,
    `servers` (the names of the MCP servers), and `input` and `output` as OpenCode has them. An answer is `{}` or has `deny` or `args`
    before a tool, `content` and `is_error` after it, `block` or `context` at a prompt, `context` elsewhere.
    """

    name: Final = "opencode"
    hooked: Final = (
        Hooked("chat.message", (SessionStart, PromptSubmitted, TaskStart)),
        Hooked("tool.execute.before", (SessionStart, ToolProposed, PreToolCall, PermissionRequest, ToolGate, ShellGate)),
        Hooked("tool.execute.after", (ToolFinished, ToolRan, ShellRan)),
        Hooked("experimental.session.compacting", (CompactionStarting,)),
        Hooked("session.compacted", (SessionStart,)),
        Hooked("session.idle", (TurnEnding, TaskEnd, TurnComplete, SubagentFinished)),
        Hooked("session.deleted", (SessionEnd,)),
    )
    """`session.created` is not among them: OpenCode does not wait for it, and a session starts for us with its first prompt."""
    support: tuple[Support, ...] = (
        *(row for row in ELSEWHERE if (row.event, row.decision) != (PromptSubmitted, Block)),
        Support(PromptSubmitted, Block, "stricter", "the prompt is an error, which ends a run"),
        *honoured(
            SessionStart, Support(SessionStart, Refuse, "stricter", "every prompt is an error, which ends a run; every call is denied")
        ),
        *honoured(CompactionStarting),
        *(
            row
            for event in (ToolProposed, PreToolCall)
            for row in honoured(
                event,
                Support(event, None, "honoured", _TYPED),
                Support(event, Rewrite, "stricter", _PATCHED),
                Support(event, Replace, "stricter", _REPLACED),
            )
        ),
        *honoured(
            PermissionRequest,
            Support(PermissionRequest, None, "lost", "what OpenCode itself asks its user calls no hook; what a rule of ours wants does"),
            Support(PermissionRequest, Ask, "stricter", "OpenCode lets no plugin ask: where a rule of ours wants that, the call is denied"),
        ),
        *honoured(ToolGate),
        *honoured(ShellGate, Support(ShellGate, None, "honoured", _TYPED)),
        *honoured(ToolFinished, Support(ToolFinished, None, "lost", _FAILED)),
        *honoured(ToolRan, Support(ToolRan, None, "lost", _FAILED)),
        *honoured(ShellRan, Support(ShellRan, None, "lost", _FAILED)),
        *honoured(TurnEnding, Support(TurnEnding, Continue, "lost", _IDLE)),
        *honoured(TaskEnd, Support(TaskEnd, Reopen, "lost", _IDLE)),
        *honoured(TurnComplete),
        *honoured(SubagentFinished),
        *honoured(SessionEnd, Support(SessionEnd, None, "honoured", _ENDED)),
    )

    def decode(self, event: str, payload: dict[str, Any]) -> Arrived:
        """The hook call `event`. Raises `PayloadInvalid`."""
        name = event or text(payload, "event")
        subagent = text(payload, "subagent", "")
        what = _what(name, payload, subagent=bool(subagent))
        return Arrived(name, what, text(payload, "session"), text(payload, "workspace"), subagent, _model(name, payload))

    def encode(self, arrived: Arrived, answer: Answer) -> dict[str, Any]:
        """The JSON object that the plugin honours."""
        match arrived.what, answer:
            case ((Starting() | PromptGiven()), AddText(words)) if words.strip():
                return {"context": said(words)}
            case _, Refused():
                return self.refuse(arrived.event, refusal(answer))
            case CallComing(), AskUser():
                return self.refuse(arrived.event, unasked_question(answer, _AGENT))
            case CallComing() as coming, RunRewritten(given):
                return self._rewritten(coming, given)
            case CallDone(output=output), Patched(content, is_error):
                # A command that failed is no error to OpenCode; only what a hook has made one becomes one.
                return {"content": content, "is_error": is_error and not output.is_error}
        return {}

    def refuse(self, event: str, reason: str) -> dict[str, Any]:
        """What stops `event`: a prompt or a call."""
        match event:
            case "chat.message":
                return {"block": said(reason)}
            case "tool.execute.before":
                return {"deny": said(reason)}
        return {}

    def _rewritten(self, coming: CallComing, given: dict[str, Any]) -> dict[str, Any]:
        """A patch is several calls of ours, of which none is OpenCode's."""
        try:
            theirs = _NAMES.theirs(coming.tool, given, coming.input)
        except PayloadInvalid:
            # The gate has seen one file, and OpenCode would take another.
            return {"deny": unrewritten(given, _AGENT)}
        return {"deny": unrewritten(theirs, _AGENT)} if coming.tool == _PATCH else {"args": theirs}


def _what(event: str, payload: dict[str, Any], *, subagent: bool) -> What:
    match event:
        case "chat.message":
            # What a subagent is told, the model says and not the user.
            return Starting() if subagent else PromptGiven(_prompt(mapping(payload, "output")))
        case "tool.execute.before":
            given = _within(payload, "output", "args")
            call, *more = _calls(payload, given)
            return CallComing(call, text(mapping(payload, "input"), "tool"), given, tuple(more))
        case "tool.execute.after":
            return _done(payload)
        case "experimental.session.compacting":
            return Compacting()
        case "session.compacted":
            return Starting("compacted")
        case "session.idle":
            reply = text(payload, "reply", "")
            return SubagentDone(reply) if subagent else Stopping(reply)
        case "session.deleted":
            return Ending()
    return Other()


def _prompt(output: dict[str, Any]) -> str:
    """What the user wrote; a synthetic part is OpenCode's, such as the text of a file that is mentioned."""
    parts = output.get("parts")
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise PayloadInvalid("output.parts", "nothing" if parts is None else repr(parts)[:60], "a list of objects")
    return "\n".join(text(part, "text") for part in parts if part.get("type") == "text" and part.get("synthetic") is not True)


def _calls(payload: dict[str, Any], given: dict[str, Any]) -> tuple[ToolCall, ...]:
    """The calls of ours that one of OpenCode's is."""
    about = mapping(payload, "input")
    id, tool = text(about, "callID"), text(about, "tool")
    if tool == _PATCH:
        return calls_of(text(given, "patchText"), id, "args.patchText")
    name, ours = _NAMES.ours(tool, given)
    return (ToolCall(id, _of_server(name, payload.get("servers")), ours),)


def _of_server(tool: str, servers: Any) -> str:
    """OpenCode writes `server_tool`, with `_` for what may not be in a name; the longest server that fits is meant."""
    if not isinstance(servers, list):
        return tool
    written = {_SERVER_CHARACTER.sub("_", server) for server in servers if isinstance(server, str)}
    server = max((one for one in written if tool.startswith(f"{one}_")), key=len, default="")
    return f"mcp__{server}__{tool.removeprefix(f'{server}_')}" if server else tool


def _done(payload: dict[str, Any]) -> CallDone:
    """A tool of an MCP server gives a content list, any other a text."""
    given = _within(payload, "input", "args")
    call, *more = _calls(payload, given)
    output = mapping(payload, "output")
    if "output" in output:
        content = text(output, "output")
    elif isinstance(output.get("content"), list):
        content = text_of(output)
    else:
        raise PayloadInvalid("output.output", "nothing", "a text")
    tool = text(mapping(payload, "input"), "tool")
    return CallDone(call, tool, _output(tool, output, content), output, more=tuple(more))


def _output(tool: str, output: dict[str, Any], content: str) -> ToolOutput:
    """OpenCode gives both outputs of a command as one."""
    metadata = output.get("metadata")
    if tool != "bash" or not isinstance(metadata, dict):
        return ToolOutput(content)
    return shell_output(text(metadata, "output", content), exit_code=int(number(metadata, "exit")), content=content)


def _within(payload: dict[str, Any], outer: str, key: str) -> dict[str, Any]:
    found = mapping(payload, outer).get(key)
    if not isinstance(found, dict):
        raise PayloadInvalid(f"{outer}.{key}", "nothing" if found is None else repr(found)[:60], "an object")
    return found


def _model(event: str, payload: dict[str, Any]) -> str:
    """Known with a prompt only."""
    if event != "chat.message":
        return ""
    message = mapping(payload, "output").get("message")
    model = message.get("model") if isinstance(message, dict) else None
    found = model.get("modelID") if isinstance(model, dict) else None
    return found if isinstance(found, str) else ""
