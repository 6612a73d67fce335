"""Google's Gemini CLI (0.61.0). Commands only; its calls have no ids, and nothing tells a subagent's calls from the agent's own."""

import os
import re
from typing import Any, Final

from treblehook.gateway.call_id import call_id
from treblehook.gateway.codec import Hooked, PayloadInvalid, Support
from treblehook.gateway.elsewhere import ELSEWHERE, TYPED, UNSEEN_INPUT, honoured, unasked
from treblehook.gateway.reading import flag, mapping, shown, text
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
    GoOn,
    Other,
    Patched,
    PromptGiven,
    Refused,
    RunRewritten,
    Starting,
    Stopping,
    What,
)
from treblehook.gateway.wording import refusal, said, unasked_question, unrewritten
from treblehook.host.outside import shell_output
from treblehook.host.tool import ToolOutput
from treblehook.lifecycle import (
    Ask,
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

_AGENT: Final = "Gemini CLI"
_SHELL: Final = "run_shell_command"
_EDIT: Final = "replace"
_GREP: Final = ToolName("grep", {"dir_path": "path"})
_NAMES: Final = ToolNames(
    {
        _SHELL: ToolName("bash", {"dir_path": "workdir"}),
        "read_file": ToolName("read", {"absolute_path": "path", "file_path": "path", "start_line": "offset"}),
        "write_file": ToolName("write", {"file_path": "path"}),
        _EDIT: ToolName("edit", {"file_path": "path", "old_string": "old", "new_string": "new"}),
        "glob": ToolName("glob", {"dir_path": "path"}),
        "grep_search": _GREP,
        "search_file_content": _GREP,
        "invoke_agent": ToolName("agent", {"prompt": "task"}),
    }
)
_OPENING: Final = frozenset({"read_file", "write_file", _EDIT})
_ENCODED: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_REWRITE: Final = "a call of which a hook takes a key away is denied, and the model is told the input to use"
_PAST: Final = f"{TYPED}; {UNSEEN_INPUT}"
_REPLACE: Final = "the call is denied, with the result as the reason"
_SUPPORT: Final = (
    *ELSEWHERE,
    *honoured(SessionStart, Support(SessionStart, Refuse, "honoured", "the session is there, but every prompt and call of it is refused")),
    Support(
        CompactionStarting,
        None,
        "lost",
        "only a compaction that the user asks for is told: Gemini announces an automatic one before every model turn, compaction or not",
    ),
    *(
        row
        for event in (ToolProposed, PreToolCall)
        for row in honoured(
            event,
            Support(event, None, "honoured", _PAST),
            Support(event, Rewrite, "stricter", _REWRITE),
            Support(event, Replace, "stricter", _REPLACE),
        )
    ),
    *honoured(
        PermissionRequest,
        Support(PermissionRequest, None, "lost", "what Gemini itself asks its user calls no hook; what a rule of ours wants asked does"),
        Support(PermissionRequest, Ask, "stricter", "Gemini cannot be made to ask: where a rule of ours wants that, the call is denied"),
    ),
    *honoured(ToolGate, Support(ToolGate, None, "honoured", _PAST)),
    *honoured(ShellGate, Support(ShellGate, None, "honoured", _PAST)),
    *honoured(ToolFinished, Support(ToolFinished, Rewrite, "stricter", "the model gets the new text as an error")),
    *honoured(ToolRan),
    *honoured(ShellRan),
    *honoured(TurnEnding),
    *honoured(TaskEnd),
    *honoured(TurnComplete),
    *unasked(SubagentFinished, "nothing tells a subagent of Gemini from the agent itself"),
    *honoured(SessionEnd),
)
_AFTER_OUTPUT: Final = ("Process Group PGID", "Background PIDs", "Signal", "Exit Code", "Error")
"""The lines that follow the output of a command, each at most once, from the last to the first."""


class Gemini:
    """The codec of Gemini CLI."""

    name: Final = "gemini"
    hooked: Final = (
        Hooked("SessionStart", (SessionStart,)),
        Hooked("BeforeAgent", (SessionStart, PromptSubmitted, TaskStart)),
        Hooked("BeforeTool", (SessionStart, ToolProposed, PreToolCall, PermissionRequest, ToolGate, ShellGate)),
        Hooked("AfterTool", (ToolFinished, ToolRan, ShellRan)),
        Hooked("PreCompress", (CompactionStarting,)),
        Hooked("AfterAgent", (TurnEnding, TaskEnd, TurnComplete)),
        Hooked("SessionEnd", (SessionEnd,)),
    )
    """Gemini counts the time that a hook may take in milliseconds."""
    support: Final[tuple[Support, ...]] = _SUPPORT

    def decode(self, event: str, payload: dict[str, Any]) -> Arrived:
        """The hook call `event`. Raises `PayloadInvalid`."""
        name = event or text(payload, "hook_event_name")
        return Arrived(name, _what(name, payload), text(payload, "session_id"), text(payload, "cwd"))

    def encode(self, arrived: Arrived, answer: Answer) -> dict[str, Any]:
        """The JSON object that Gemini honours."""
        match arrived.what, answer:
            case ((Starting() | PromptGiven()), AddText(words)) if words.strip():
                return {"hookSpecificOutput": {"hookEventName": arrived.event, "additionalContext": said(words)}}
            case _, Refused():
                return self.refuse(arrived.event, refusal(answer))
            case CallComing(), AskUser():
                # "ask" hangs where nobody sits at the terminal.
                return self.refuse(arrived.event, unasked_question(answer, _AGENT))
            case CallComing() as coming, RunRewritten(given):
                return self._rewritten(arrived, coming, given)
            case CallDone(), Patched(content):
                return _denial(said(content, "(empty)"))
            case Stopping(), GoOn(words):
                return _denial(said(words, "A hook wants you to go on."))
        return {}

    def refuse(self, event: str, reason: str) -> dict[str, Any]:
        """What stops `event`. A start cannot be stopped, and a stop is let be: Gemini knows no limit of how often it goes on."""
        return _denial(said(reason)) if event in ("BeforeAgent", "BeforeTool", "AfterTool") else {}

    def _rewritten(self, arrived: Arrived, coming: CallComing, given: dict[str, Any]) -> dict[str, Any]:
        """Gemini lays the new input over the old one, so a key can be changed but not taken away. It is sent as a whole: one of the ways
        in which Gemini runs a tool replaces the input."""
        try:
            _check_path(coming.tool, given, arrived.workspace)
            theirs = _NAMES.theirs(coming.tool, given, coming.input)
        except PayloadInvalid:
            # The gate has seen one file, and Gemini would take another.
            return self.refuse(arrived.event, unrewritten(given, _AGENT))
        if theirs.keys() >= coming.input.keys():
            return {"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": theirs}}
        return self.refuse(arrived.event, unrewritten(theirs, _AGENT))


def _denial(reason: str) -> dict[str, Any]:
    return {"decision": "deny", "reason": reason}


def _what(event: str, payload: dict[str, Any]) -> What:
    match event:
        case "SessionStart":
            return Starting("resume" if text(payload, "source", "startup") == "resume" else "start")
        case "BeforeAgent":
            return PromptGiven(text(payload, "prompt"))
        case "BeforeTool":
            return _coming(payload)
        case "AfterTool":
            return _done(payload)
        case "PreCompress" if text(payload, "trigger", "auto") == "manual":
            # The automatic one comes before every model turn, long before there is anything to compact.
            return Compacting("manual")
        case "AfterAgent":
            return Stopping(text(payload, "prompt_response", ""), flag(payload, "stop_hook_active"))
        case "SessionEnd":
            return Ending()
    return Other()


def _call(payload: dict[str, Any]) -> ToolCall:
    tool, given = text(payload, "tool_name"), mapping(payload, "tool_input")
    name, ours = _NAMES.ours(tool, given)
    if "mcp_context" in payload:
        context = mapping(payload, "mcp_context")
        name = f"mcp__{text(context, 'server_name')}__{text(context, 'tool_name')}"
    return ToolCall(call_id(text(payload, "session_id"), tool, given), name, ours)


def _coming(payload: dict[str, Any]) -> CallComing:
    call = _call(payload)
    _check_path(text(payload, "tool_name"), call.input, text(payload, "cwd"))
    return CallComing(call, text(payload, "tool_name"), mapping(payload, "tool_input"))


def _check_path(tool: str, given: dict[str, Any], folder: str) -> None:
    """Gemini opens other files than those that are named: it decodes `%2e`, drops NUL, drops the @ of a path that is not there, and looks
    for a file to edit by the end of its path. Raises `PayloadInvalid` where a guard would see another path than the one that is opened."""
    path = given.get("path")
    if tool not in _OPENING or not isinstance(path, str):
        return
    place = "tool_input.file_path"
    if "\0" in path or _ENCODED.search(path):
        raise PayloadInvalid(place, shown(path), "a path without NUL and without %xx, which Gemini decodes")
    there = os.path.lexists(os.path.join(folder, path))
    if path.startswith("@") and not there and not os.path.lexists(os.path.join(folder, path.split("/")[0])):
        raise PayloadInvalid(place, shown(path), "a path without the @, which Gemini takes off")
    if tool == _EDIT and not there and not os.path.isabs(path):
        raise PayloadInvalid(place, shown(path), "an absolute path: Gemini takes any file whose path ends so")


def _done(payload: dict[str, Any]) -> CallDone:
    tool, response = text(payload, "tool_name"), mapping(payload, "tool_response")
    content = text_of(response.get("llmContent"))
    failed = response.get("error") is not None
    return CallDone(_call(payload), tool, _output(tool, content, failed=failed), response)


def _output(tool: str, content: str, *, failed: bool) -> ToolOutput:
    """The result as the model gets it; with what the command came to where one has run to its end."""
    body = content.removeprefix("<untrusted_context>\n").removesuffix("\n</untrusted_context>")
    if failed or tool != _SHELL or not body.startswith("Output: "):
        # A command that was cancelled, or sent to the background, begins otherwise.
        return ToolOutput(content, is_error=failed)
    body = body.removeprefix("Output: ")
    after: dict[str, str] = {}
    for label in _AFTER_OUTPUT:
        head, newline, last = body.rpartition("\n")
        if newline and last.startswith(f"{label}: "):
            body, after[label] = head, last.removeprefix(f"{label}: ")
    return shell_output("" if body == "(empty)" else body, exit_code=_exit_code(after), content=content)


def _exit_code(after: dict[str, str]) -> int:
    """A death by signal reads 128 + signal; 1 stands for a failure that says no more."""
    if "Exit Code" in after:
        return _number(after["Exit Code"])
    if "Signal" in after:
        return 128 + _number(after["Signal"])
    return 1 if "Error" in after else 0


def _number(digits: str) -> int:
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else 1
