"""Qwen Code (0.24.4), which has Gemini CLI's tools and Claude Code's hooks. Commands and HTTP; it takes no new input for a call."""

import re
from typing import Any, Final

from msgspec.structs import replace

from treblehook.gateway.claude_form import NOTIFIED, ClaudeForm, asked, blocked, context, denied, halted, specific
from treblehook.gateway.codec import Hooked, PayloadInvalid, Support
from treblehook.gateway.elsewhere import ELSEWHERE, TYPED, honoured, with_gap
from treblehook.gateway.patched import added, instead_of_error
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
    Other,
    Patched,
    PermissionAsked,
    PromptGiven,
    Refused,
    RunRewritten,
    Starting,
    Stopping,
    SubagentDone,
)
from treblehook.gateway.wording import refusal, said, unrewritten
from treblehook.host.outside import shell_output
from treblehook.host.tool import ToolOutput
from treblehook.lifecycle import (
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

_AGENT: Final = "Qwen Code"
_READ: Final = ToolName("read", {"absolute_path": "path", "file_path": "path"})
_EDIT: Final = ToolName("edit", {"file_path": "path", "old_string": "old", "new_string": "new"})
_GREP: Final = ToolName("grep")
_TASK: Final = ToolName("agent", {"prompt": "task", "run_in_background": "background"})
_NAMES: Final = ToolNames(
    {
        "run_shell_command": ToolName("bash", {"timeout": "timeout_ms", "directory": "workdir"}),
        "monitor": ToolName("bash"),
        "read_file": _READ,
        "write_file": ToolName("write", {"file_path": "path"}),
        "edit": _EDIT,
        "replace": _EDIT,
        "notebook_edit": ToolName("edit", {"notebook_path": "path", "new_source": "new"}),
        "glob": ToolName("glob"),
        "grep_search": _GREP,
        "search_file_content": _GREP,
        "agent": _TASK,
        "task": _TASK,
    }
)
_REFUSED_START: Final = "Qwen Code cannot be kept from starting: every prompt and every call of the session is refused"
_REWRITE: Final = "the call is denied, and the model is told the input to use"
_REPLACE: Final = "the call is denied, with the result as the reason"
_PATCH: Final = (
    "the result of a call that failed stays, and what hooks made of it is told beside it; that a result is an error cannot be said"
)
_SUPPORT: Final = (
    *with_gap(ELSEWHERE, PromptSubmitted, NOTIFIED),
    *honoured(SessionStart, Support(SessionStart, Refuse, "stricter", _REFUSED_START)),
    *honoured(CompactionStarting),
    *(
        row
        for event in (ToolProposed, PreToolCall)
        for row in honoured(
            event,
            Support(event, None, "honoured", TYPED),
            Support(event, Rewrite, "stricter", _REWRITE),
            Support(event, Replace, "stricter", _REPLACE),
        )
    ),
    *honoured(PermissionRequest, Support(PermissionRequest, None, "honoured", "where it would ask: not in a headless run")),
    *honoured(ToolGate, Support(ToolGate, None, "honoured", TYPED)),
    *honoured(ShellGate, Support(ShellGate, None, "honoured", TYPED)),
    *honoured(ToolFinished, Support(ToolFinished, Rewrite, "lost", _PATCH)),
    *honoured(ToolRan),
    *honoured(ShellRan),
    *honoured(TurnEnding),
    *honoured(TaskEnd),
    *honoured(TurnComplete),
    *honoured(SubagentFinished),
    *honoured(
        SessionEnd, Support(SessionEnd, None, "honoured", "a headless run does not tell of its end: it counts as over after a while")
    ),
)
_CALL: Final = (SessionStart, ToolProposed, PreToolCall, ToolGate, ShellGate)
"""A session that has not been met starts with its first call, so a closed start hook must not be lost there either."""

_ENDED: Final = re.compile(r"Exit Code: (\d{1,9})$", re.MULTILINE)
_SIGNALLED: Final = re.compile(r"Signal: (\d{1,3})$", re.MULTILINE)


def _result(call: ToolCall, response: Any) -> ToolOutput:
    content = text_of(response.get("llmContent") if isinstance(response, dict) else response)
    return _output(call, content, failed=False)


def _error(call: ToolCall, error: str) -> ToolOutput:
    return _output(call, error, failed=True)


def _output(call: ToolCall, content: str, *, failed: bool) -> ToolOutput:
    """The result as the model gets it; with what the command came to where one has run to its end.

    `Command:`, `Directory:`, `Output:`, `Error:`, `Exit Code:` and `Signal:` follow each other, the first and the third of any length.
    """
    head = f"Command: {call.input.get('command')}\nDirectory: "
    _, labelled, body = content.removeprefix(head).partition("\nOutput: ")
    stdout, closed, after = body.rpartition("\nError: ")
    if call.name != "bash" or not content.startswith(head) or not labelled or not closed:
        return ToolOutput(content, is_error=failed)
    return shell_output("" if stdout == "(empty)" else stdout, exit_code=_exit_code(after) or int(failed), content=content)


def _exit_code(after: str) -> int:
    """A death by signal reads 128 + signal."""
    ended, signalled = _ENDED.search(after), _SIGNALLED.search(after)
    if ended is not None:
        return int(ended[1])
    return 0 if signalled is None else 128 + int(signalled[1])


def _calls(tool: str, given: dict[str, Any], id: str) -> tuple[ToolCall, ...]:
    return (ToolCall(id, *_NAMES.ours(tool, given)),)


def _has_tool(name: str) -> bool:
    """Claude Code's and Codex's have a capital."""
    return not name[:1].isupper()


_FORM: Final = ClaudeForm(_calls, _has_tool, frozenset({"PreToolUse"}), _result, _error)


class Qwen:
    """The codec of Qwen Code."""

    name: Final = "qwen"
    hooked: Final = (
        Hooked("SessionStart", (SessionStart,), http=True),
        Hooked("UserPromptSubmit", (SessionStart, PromptSubmitted, TaskStart), http=True),
        Hooked("PreToolUse", _CALL, http=True),
        Hooked("PermissionRequest", (PermissionRequest,)),
        Hooked("PostToolUse", (ToolFinished, ToolRan, ShellRan), http=True),
        Hooked("PostToolUseFailure", (ToolFinished, ToolRan, ShellRan), http=True),
        Hooked("PreCompact", (CompactionStarting,)),
        Hooked("Stop", (TurnEnding, TaskEnd, TurnComplete), http=True),
        Hooked("SubagentStop", (TurnEnding, TaskEnd, TurnComplete, SubagentFinished), http=True),
        Hooked("SessionEnd", (SessionEnd,)),
    )
    """Over HTTP are those that were seen to arrive that way."""
    support: Final[tuple[Support, ...]] = _SUPPORT

    def decode(self, event: str, payload: dict[str, Any]) -> Arrived:
        """The hook call `event`. Raises `PayloadInvalid`."""
        arrived = _FORM.decode(event, payload)
        # A blank prompt is what it has for the tool results that it sends back.
        is_blank = isinstance(arrived.what, PromptGiven) and not arrived.what.prompt.strip()
        return replace(arrived, what=Other()) if is_blank else arrived

    def encode(self, arrived: Arrived, answer: Answer) -> dict[str, Any]:
        """The JSON object that Qwen Code honours."""
        match arrived.what, answer:
            case ((Starting() | PromptGiven()), AddText(text)):
                return context(arrived.event, text)
            case Starting(), Refused(reason):
                return context(arrived.event, f"This session is refused, and so is everything that it asks for: {said(reason)}")
            case CallComing(), AskUser(reason, None):
                return asked(arrived.event, said(reason, "A hook wants the user asked."))
            case CallComing() as coming, (AskUser(input=dict() as given) | RunRewritten(given)):
                return denied(arrived.event, unrewritten(_told(coming, given), _AGENT))
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
        """What stops `event`; the model gets no result that no hook could see."""
        why = said(reason)
        match event:
            case "UserPromptSubmit":
                return blocked(why)
            case "PreToolUse":
                return denied(event, why)
            case "PermissionRequest":
                return specific(event, decision={"behavior": "deny", "message": why})
            case "PostToolUse":
                return halted(why)
        return {}


def _told(coming: CallComing, given: dict[str, Any]) -> dict[str, Any]:
    """A new input under Qwen Code's own keys; under ours where two of them would be one."""
    try:
        return _NAMES.theirs(coming.tool, given, coming.input)
    except PayloadInvalid:
        return given


def _patched(event: str, done: CallDone, patch: Patched) -> dict[str, Any]:
    beside = added(done.output, patch)
    if beside is not None:
        return context(event, beside)
    return context(event, instead_of_error(patch)) if event == "PostToolUseFailure" else halted(said(patch.content, "(empty)"))
