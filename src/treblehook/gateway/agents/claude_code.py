"""Anthropic's Claude Code (2.1.332). Commands and HTTP; what it does not understand it takes for an allowance."""

import re
from typing import Any, Final

import msgspec

from treblehook.gateway.claude_form import NOTIFIED, ClaudeForm, asked, blocked, context, denied, halted, specific
from treblehook.gateway.codec import Hooked, PayloadInvalid, Support
from treblehook.gateway.elsewhere import ELSEWHERE, TYPED, UNSEEN_INPUT, honoured, with_gap
from treblehook.gateway.patched import added, instead_of_error, unreplaced
from treblehook.gateway.results import text_of
from treblehook.gateway.tool_names import ToolName, ToolNames
from treblehook.gateway.values import (
    AddText,
    Answer,
    Arrived,
    AskUser,
    CallComing,
    CallDone,
    GoOn,
    Granted,
    Patched,
    PermissionAsked,
    PromptGiven,
    Refused,
    RunRewritten,
    Starting,
    Stopping,
    SubagentDone,
)
from treblehook.gateway.wording import refusal, said, unasked_question, unrewritten
from treblehook.host.outside import shell_output
from treblehook.host.tool import ToolOutput
from treblehook.lifecycle import (
    AddContext,
    CompactionStarting,
    PermissionRequest,
    PreToolCall,
    PromptSubmitted,
    Refuse,
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

_AGENT: Final = "Claude Code"
_IN_SKILL: Final = "PreSkillShellCommand"
"""A command line in a skill or a slash command is about to run: no other event tells of it."""

_SHELL: Final = ToolName("bash", {"timeout": "timeout_ms"})
_NAMES: Final = ToolNames(
    {
        "Bash": _SHELL,
        "PowerShell": _SHELL,
        "Monitor": ToolName("bash", {"timeout_ms": "timeout_ms"}),
        "Read": ToolName("read", {"file_path": "path"}),
        "NotebookRead": ToolName("read", {"notebook_path": "path"}),
        "Write": ToolName("write", {"file_path": "path"}),
        "Edit": ToolName("edit", {"file_path": "path", "old_string": "old", "new_string": "new"}),
        "MultiEdit": ToolName("edit", {"file_path": "path"}),
        "NotebookEdit": ToolName("edit", {"notebook_path": "path", "new_source": "new"}),
        "Glob": ToolName("glob"),
        "Grep": ToolName("grep"),
        "Agent": ToolName("agent", {"prompt": "task", "run_in_background": "background"}),
        "Task": ToolName("agent", {"prompt": "task", "run_in_background": "background"}),
    }
)
_REFUSED_START: Final = "Claude Code cannot be kept from starting: every prompt and every call of the session is refused"
_LONG: Final = "more than 10,000 characters go to a file, of which the model sees the beginning"
_REWRITE: Final = "the command of a skill or slash command, and a call of MultiEdit, are denied, and the input to use is told"
_PAST: Final = f"{TYPED}; {UNSEEN_INPUT}"
_REPLACE: Final = "the call is denied, with the result as the reason"
_PATCH: Final = (
    "results of Bash, Read and MCP tools are replaced; with another tool added text is told beside the result, and any other change ends "
    "the run, but the result stays in the conversation, for whoever goes on with that; the error of a call that failed stays, and what "
    "hooks made of it is told beside it"
)
_UNTOLD: Final = "a tool that does not exist, or whose input does not fit, is not told, nor is the end of a command in a skill"
_SUPPORT: Final = (
    *with_gap(ELSEWHERE, PromptSubmitted, NOTIFIED),
    *honoured(
        SessionStart, Support(SessionStart, Refuse, "stricter", _REFUSED_START), Support(SessionStart, AddContext, "honoured", _LONG)
    ),
    *honoured(CompactionStarting),
    *(
        row
        for event in (ToolProposed, PreToolCall)
        for row in honoured(
            event,
            Support(event, None, "honoured", _PAST),
            Support(event, Rewrite, "honoured", _REWRITE),
            Support(event, Replace, "stricter", _REPLACE),
        )
    ),
    *honoured(PermissionRequest),
    *honoured(ToolGate, Support(ToolGate, None, "honoured", _PAST)),
    *honoured(ShellGate, Support(ShellGate, None, "honoured", _PAST)),
    *honoured(ToolFinished, Support(ToolFinished, None, "honoured", _UNTOLD), Support(ToolFinished, Rewrite, "lost", _PATCH)),
    *honoured(ToolRan, Support(ToolRan, None, "honoured", _UNTOLD)),
    *honoured(ShellRan, Support(ShellRan, None, "honoured", _UNTOLD)),
    *honoured(TurnEnding),
    *honoured(TaskEnd),
    *honoured(TurnComplete),
    *honoured(SubagentFinished),
    *honoured(SessionEnd, Support(SessionEnd, None, "honoured", "Claude Code waits 1.5 s")),
)
_CALL: Final = (SessionStart, ToolProposed, PreToolCall, ToolGate, ShellGate)
"""A session that has not been met starts with its first call, so a closed start hook must not be lost there either."""

_EDITS: Final = "MultiEdit"
_FILE_KEYS: Final = frozenset({"filePath", "startLine", "totalLines"})
"""Without one of them a new result of `Read` is ignored."""

_OTHER_READS: Final = ("image", "notebook")
"""What `Read` gives in the place of which text was taken too."""

_EXIT_CODE: Final = re.compile(r"Exit code (\d{1,9})(?:\n|\Z)")


def _calls(tool: str, given: dict[str, Any], id: str) -> tuple[ToolCall, ...]:
    """A `Monitor` runs a command, or listens to a socket; a `MultiEdit` is a call for each of its edits."""
    if tool == "Monitor" and "command" not in given:
        return (ToolCall(id, tool, given),)
    name, ours = _NAMES.ours(tool, given)
    if tool != _EDITS:
        return (ToolCall(id, name, ours),)
    edits = given.get("edits")
    if not isinstance(edits, list) or not edits or not all(isinstance(edit, dict) for edit in edits):
        raise PayloadInvalid("tool_input.edits", "no edits", "a list of objects, at least one")
    common = {key: value for key, value in ours.items() if key != "edits"}
    return tuple(
        ToolCall(id if n == 1 else f"{id}-{n}", name, {**_NAMES.ours("Edit", edit)[1], **common}) for n, edit in enumerate(edits, 1)
    )


def _has_tool(name: str) -> bool:
    """Its own tools have a capital, those of MCP servers have not."""
    return name[:1].isupper() or name.startswith("mcp__")


def _result(call: ToolCall, response: Any) -> ToolOutput:
    """A command that ends with another status than 0 is told as a failure; one that goes on in the background has not ended."""
    if isinstance(response, dict):
        if call.name == "bash" and _is_shell(response):
            output = shell_output(response["stdout"], response["stderr"])
            return ToolOutput(output.content) if response.get("backgroundTaskId") else output
        if _is_text_file(response):
            return ToolOutput(response["file"]["content"])
        if not isinstance(response.get("content"), list):
            return ToolOutput(msgspec.json.encode(response).decode())
    return ToolOutput(text_of(response))


def _error(call: ToolCall, error: str) -> ToolOutput:
    found = _EXIT_CODE.match(error) if call.name == "bash" else None
    if found is None:
        return ToolOutput(error, is_error=True)
    # What did not end with 0 has failed, whatever the number.
    return shell_output(error[found.end() :], exit_code=int(found[1]) or 1, content=error)


def _is_shell(response: dict[str, Any]) -> bool:
    return isinstance(response.get("stdout"), str) and isinstance(response.get("stderr"), str)


def _is_text_file(response: dict[str, Any]) -> bool:
    file = response.get("file")
    return response.get("type") == "text" and isinstance(file, dict) and isinstance(file.get("content"), str)


_FORM: Final = ClaudeForm(_calls, _has_tool, frozenset({"PreToolUse", _IN_SKILL}), _result, _error)


class ClaudeCode:
    """The codec of Claude Code."""

    name: Final = "claude-code"
    hooked: Final = (
        Hooked("SessionStart", (SessionStart,)),
        Hooked("UserPromptSubmit", (SessionStart, PromptSubmitted, TaskStart), http=True),
        Hooked("PreToolUse", _CALL, http=True),
        Hooked(_IN_SKILL, _CALL, http=True),
        Hooked("PermissionRequest", (PermissionRequest,), http=True),
        Hooked("PostToolUse", (ToolFinished, ToolRan, ShellRan), http=True),
        Hooked("PostToolUseFailure", (ToolFinished, ToolRan, ShellRan), http=True),
        Hooked("PreCompact", (CompactionStarting,), http=True),
        Hooked("Stop", (TurnEnding, TaskEnd, TurnComplete), http=True),
        Hooked("SubagentStop", (TurnEnding, TaskEnd, TurnComplete, SubagentFinished), http=True),
        Hooked("SessionEnd", (SessionEnd,), http=True),
    )
    support: Final[tuple[Support, ...]] = _SUPPORT

    def decode(self, event: str, payload: dict[str, Any]) -> Arrived:
        """The hook call `event`. Raises `PayloadInvalid`."""
        return _FORM.decode(event, payload)

    def encode(self, arrived: Arrived, answer: Answer) -> dict[str, Any]:
        """The JSON object that Claude Code honours."""
        match arrived.what, answer:
            case ((Starting() | PromptGiven()), AddText(text)):
                return context(arrived.event, text)
            case Starting(), Refused(reason):
                return context(arrived.event, f"This session is refused, and so is everything that it asks for: {said(reason)}")
            case CallComing() as coming, (AskUser() | RunRewritten()):
                return _changed(arrived.event, coming, answer)
            case PermissionAsked(), Granted():
                return specific(arrived.event, decision={"behavior": "allow"})
            case CallDone() as done, Patched():
                return _patched(arrived.event, done, answer)
            case ((Stopping() | SubagentDone()), GoOn(text)):
                return blocked(said(text, "A hook wants you to go on."))
            case _, Refused():
                return self.refuse(arrived.event, refusal(answer))
        return {}

    def refuse(self, event: str, reason: str) -> dict[str, Any]:
        """What stops `event`; a result that no hook could see ends the run."""
        why = said(reason)
        match event:
            case "UserPromptSubmit":
                return blocked(why)
            case "PreToolUse" | "PreSkillShellCommand":
                return denied(event, why)
            case "PermissionRequest":
                return specific(event, decision={"behavior": "deny", "message": why})
            case "PostToolUse":
                return halted(why)
        return {}


def _changed(event: str, coming: CallComing, answer: AskUser | RunRewritten) -> dict[str, Any]:
    """No `allow` goes with a new input: Claude Code asks its user about it as about any other."""
    try:
        theirs = None if answer.input is None else _NAMES.theirs(coming.tool, answer.input, coming.input)
    except PayloadInvalid:
        # The gate has seen one value, and Claude Code would take another.
        return denied(event, unrewritten(answer.input or {}, _AGENT))
    if theirs is not None and (event == _IN_SKILL or coming.tool == _EDITS):
        return denied(event, unrewritten(theirs, "a skill or slash command" if event == _IN_SKILL else _EDITS))
    if event == _IN_SKILL:
        assert isinstance(answer, AskUser)
        return denied(event, unasked_question(answer, "A skill or slash command"))
    said_so = asked(event, said(answer.reason, "A hook wants the user asked.")) if isinstance(answer, AskUser) else specific(event)
    if theirs is not None:
        said_so["hookSpecificOutput"]["updatedInput"] = theirs
    return said_so


def _patched(event: str, done: CallDone, patch: Patched) -> dict[str, Any]:
    """A result in the shape of its tool, the only one that replaces it."""
    beside = added(done.output, patch)
    if event == "PostToolUseFailure":
        return context(event, instead_of_error(patch) if beside is None else beside)
    text = f"Error: {patch.content}" if patch.is_error and not done.output.is_error else patch.content
    shaped = _shaped(done, text, replaces=beside is None)
    if shaped is not None:
        return specific(event, updatedToolOutput=shaped)
    if beside is not None:
        return context(event, beside)
    return halted(unreplaced(done.tool, patch, _AGENT))


def _shaped(done: CallDone, text: str, *, replaces: bool) -> Any:
    """None where there is no such shape, or where pictures would be lost by adding to them."""
    response = done.response
    if done.tool.startswith("mcp__") and isinstance(response, list):
        is_text = all(isinstance(part, dict) and part.get("type") == "text" for part in response)
        return [{"type": "text", "text": said(text, "(empty)")}] if is_text or replaces else None
    if not isinstance(response, dict):
        return None
    if done.call.name == "bash" and _is_shell(response):
        # What else it holds tells the model of a command that goes on in the background.
        return {**response, "stdout": text, "stderr": "", "interrupted": response.get("interrupted") is True, "isImage": False}
    if done.tool == "Read" and _is_text_file(response) and response["file"].keys() >= _FILE_KEYS:
        return {"type": "text", "file": {**response["file"], "content": text, "numLines": text.count("\n") + 1}}
    if done.tool == "Read" and response.get("type") in _OTHER_READS and replaces:
        lines = text.count("\n") + 1
        file = {"filePath": done.call.input.get("path"), "content": text, "numLines": lines, "startLine": 1, "totalLines": lines}
        return {"type": "text", "file": file}
    return None
