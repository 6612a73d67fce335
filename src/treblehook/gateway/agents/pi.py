"""The pi coding agent (0.73.1). It loads code: our own extension calls us, with what pi gives it, and gives pi what our answers say."""

import re
from typing import Any, Final

from treblehook.gateway.call_id import call_id
from treblehook.gateway.codec import Hooked, PayloadInvalid, Support
from treblehook.gateway.elsewhere import ELSEWHERE, UNSEEN_INPUT, honoured, unasked
from treblehook.gateway.reading import flag, mapping, text
from treblehook.gateway.results import text_of
from treblehook.gateway.tool_names import ToolName, ToolNames, unknown_to_shell
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
from treblehook.gateway.wording import refusal, said, unrewritten
from treblehook.host.outside import shell_output
from treblehook.host.tool import ToolOutput
from treblehook.lifecycle import (
    CompactionStarting,
    Continue,
    Event,
    PermissionRequest,
    PreToolCall,
    PromptSubmitted,
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

_AGENT: Final = "pi"
_EDIT: Final = "edit"
_SHELL: Final = "bash"
_TYPED: Final = "user_bash"
"""Pi's event for a command that its user types behind a `!`; it has no tool's name."""
_OPENING: Final = frozenset({"read", "write", _EDIT, "grep", "find", "ls"})
_SPACES: Final = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")
_EDIT_KEYS: Final = {"oldText": "old", "newText": "new"}
# `timeout` of its bash is in seconds, so it is not our `timeout_ms` and keeps its name.
_NAMES: Final = ToolNames({"find": ToolName("glob")})
_EXIT_CODE: Final = re.compile(r"\n*Command exited with code (\d+)\s*$")
_STARTS: Final[dict[str, What]] = {
    "startup": Starting(),
    "new": Starting(),
    "resume": Starting("resume"),
    "fork": Starting("resume"),
    # The extension is loaded anew; the session goes on.
    "reload": Other(),
}
_REPLACED: Final = "the call is denied, and the reason holds the result"
_SEVERAL: Final = (
    "an edit of several places, and a command that the user types (!), is denied, with the input that hooks want; all else runs rewritten"
)
_BY_PROGRAM: Final = f"commands that a program gives pi over its RPC call no hook; {UNSEEN_INPUT}"
_RESULT: Final = "what a command came to that the user typed (!) is not told"
_CALL: Final = (SessionStart, ToolProposed, PreToolCall, PermissionRequest, ToolGate, ShellGate)
_OVER: Final = "`pi -p` is over by then, and says what it was to do; where pi has a user, the model gets it as a further message"


def _coming(event: type[Event]) -> tuple[Support, ...]:
    return honoured(
        event,
        Support(event, None, "honoured", _BY_PROGRAM),
        Support(event, Rewrite, "stricter", _SEVERAL),
        Support(event, Replace, "stricter", _REPLACED),
    )


class Pi:
    """The codec of pi and of `install/plugins/pi.js`.

    A call has `session`, `workspace`, `model` ("" for none), and as `input` pi's own event. An answer is `{}` or has `deny`, `ask` or
    `args` before a tool, `content` and `is_error` after it, `block` or `context` at a prompt, `context` at a start, `continue` at the end
    of a turn.
    """

    name: Final = "pi"
    hooked: Final = (
        Hooked("session_start", (SessionStart,)),
        Hooked("input", (SessionStart, PromptSubmitted, TaskStart)),
        Hooked("tool_call", _CALL),
        Hooked(_TYPED, _CALL),
        Hooked("tool_result", (ToolFinished, ToolRan, ShellRan)),
        Hooked("session_before_compact", (CompactionStarting,)),
        Hooked("session_compact", (SessionStart,)),
        Hooked("agent_end", (TurnEnding, TaskEnd, TurnComplete)),
        Hooked("session_shutdown", (SessionEnd,)),
    )
    support: tuple[Support, ...] = (
        *ELSEWHERE,
        *honoured(SessionStart),
        *honoured(CompactionStarting),
        *(row for event in (ToolProposed, PreToolCall) for row in _coming(event)),
        *honoured(PermissionRequest, Support(PermissionRequest, None, "lost", "pi itself never asks; what a rule of ours wants asked is")),
        *honoured(ToolGate),
        *honoured(ShellGate, Support(ShellGate, None, "honoured", _BY_PROGRAM)),
        *honoured(ToolFinished, Support(ToolFinished, None, "honoured", _RESULT)),
        *honoured(ToolRan, Support(ToolRan, None, "honoured", _RESULT)),
        *honoured(ShellRan, Support(ShellRan, None, "honoured", _RESULT)),
        *honoured(TurnEnding, Support(TurnEnding, Continue, "lost", _OVER)),
        *honoured(TaskEnd, Support(TaskEnd, Reopen, "lost", _OVER)),
        *honoured(TurnComplete),
        *unasked(SubagentFinished, "pi has no subagents"),
        *honoured(SessionEnd),
    )

    def decode(self, event: str, payload: dict[str, Any]) -> Arrived:
        """The hook call `event`. Raises `PayloadInvalid`."""
        name = event or text(payload, "event")
        session = text(payload, "session")
        what = _what(name, session, mapping(payload, "input"))
        return Arrived(name, what, session, text(payload, "workspace"), model=text(payload, "model", ""))

    def encode(self, arrived: Arrived, answer: Answer) -> dict[str, Any]:
        """The JSON object that the extension honours."""
        match arrived.what, answer:
            case ((Starting() | PromptGiven()), AddText(words)) if words.strip():
                return {"context": said(words)}
            case _, Refused():
                return self.refuse(arrived.event, refusal(answer))
            case CallComing() as coming, RunRewritten(given):
                return self._rewritten(coming, given)
            case CallComing() as coming, AskUser(reason, given):
                changed = {} if given is None else self._rewritten(coming, given)
                return changed if "deny" in changed else {"ask": said(reason, "A hook wants you asked."), **changed}
            case CallDone(), Patched(content, is_error):
                return {"content": content, "is_error": is_error}
            case Stopping(), GoOn(words):
                return {"continue": said(words, "A hook wants you to go on.")}
        return {}

    def refuse(self, event: str, reason: str) -> dict[str, Any]:
        """What stops `event`: a prompt or a call."""
        match event:
            case "input":
                return {"block": said(reason)}
            case "tool_call" | "user_bash":
                return {"deny": said(reason)}
        return {}

    def _rewritten(self, coming: CallComing, given: dict[str, Any]) -> dict[str, Any]:
        """Only its own keys make an edit of one place; what pi would open must be what the gate has seen."""
        back = {ours: theirs for theirs, ours in _EDIT_KEYS.items()}
        edit = {back[key]: given[key] for key in back if key in given}
        rest = {key: value for key, value in given.items() if key not in back}
        unsaid = coming.tool == _EDIT and (coming.more or len(edit) < len(back) or not rest.keys().isdisjoint((*_EDIT_KEYS, "edits")))
        ignored = coming.tool == _SHELL and unknown_to_shell(given, coming.input)
        if unsaid or ignored or coming.tool == _TYPED or _opened(coming.tool, given) != given:
            return {"deny": unrewritten({**rest, **edit} if coming.tool == _EDIT else given, _AGENT)}
        return {"args": {**rest, "edits": [edit]} if coming.tool == _EDIT else given}


def _what(event: str, session: str, given: dict[str, Any]) -> What:
    match event:
        case "session_start":
            return _STARTS.get(text(given, "reason", "startup"), Starting())
        case "input":
            prompt = text(given, "text")
            # What an extension says in the user's place (ours does, to send the model back) is no prompt.
            return Other() if text(given, "source", "interactive") == "extension" else PromptGiven(prompt)
        case "tool_call":
            call, *more = _calls(given)
            return CallComing(call, text(given, "toolName"), mapping(given, "input"), tuple(more))
        case "user_bash":
            command = {"command": text(given, "command")}
            return CallComing(ToolCall(call_id(session, _TYPED, command), "bash", command), _TYPED, command)
        case "tool_result":
            call, *more = _calls(given)
            return CallDone(call, text(given, "toolName"), _output(given), given.get("content"), more=tuple(more))
        case "session_before_compact":
            # An order of the user's without a word of his own looks like none.
            return Compacting("manual" if given.get("customInstructions") else "automatic")
        case "session_compact":
            return Starting("compacted")
        case "agent_end":
            return Stopping(_reply(given))
        case "session_shutdown":
            return Other() if text(given, "reason", "quit") == "reload" else Ending()
    return Other()


def _calls(given: dict[str, Any]) -> tuple[ToolCall, ...]:
    """The calls of ours that one of pi's is: an edit changes several places of one file."""
    id, tool, its = text(given, "toolCallId"), text(given, "toolName"), mapping(given, "input")
    name, ours = _NAMES.ours(tool, _opened(tool, its))
    if tool != _EDIT:
        return (ToolCall(id, name, ours),)
    shared = {key: value for key, value in ours.items() if key != "edits"}
    inputs = [{**shared, **edit} for edit in _edits(its.get("edits"))]
    return tuple(ToolCall(f"{id}-{n}" if n > 1 else id, name, one) for n, one in enumerate(inputs, 1))


def _opened(tool: str, given: dict[str, Any]) -> dict[str, Any]:
    """With the path that pi opens: it takes off an @, and takes other white space for a space."""
    path = given.get("path")
    return {**given, "path": _SPACES.sub(" ", path.removeprefix("@"))} if tool in _OPENING and isinstance(path, str) else given


def _edits(edits: Any) -> list[dict[str, Any]]:
    """Under our names."""
    if not isinstance(edits, list) or not edits or not all(isinstance(edit, dict) for edit in edits):
        raise PayloadInvalid("input.edits", "nothing" if edits is None else repr(edits)[:60], "a list of objects, at least one")
    return [{_EDIT_KEYS.get(key, key): value for key, value in edit.items()} for edit in edits]


def _output(given: dict[str, Any]) -> ToolOutput:
    """Of a command there is one text; a status other than 0 is its last line."""
    content, is_error = text_of(given.get("content")), flag(given, "isError")
    if text(given, "toolName") != _SHELL:
        return ToolOutput(content, is_error=is_error)
    found = _EXIT_CODE.search(content) if is_error else None
    if found is not None:
        return shell_output(content[: found.start()], exit_code=int(found[1]), content=content)
    # Stopped or out of time, it has no status.
    return ToolOutput(content, is_error=True) if is_error else shell_output(content, content=content)


def _reply(given: dict[str, Any]) -> str:
    messages = given.get("messages")
    if not isinstance(messages, list):
        raise PayloadInvalid("input.messages", "nothing" if messages is None else repr(messages)[:60], "a list")
    replies = [one for one in messages if isinstance(one, dict) and one.get("role") == "assistant"]
    parts = replies[-1].get("content") if replies else None
    texts = [part for part in parts if isinstance(part, dict) and part.get("type") == "text"] if isinstance(parts, list) else []
    return text_of(texts)
