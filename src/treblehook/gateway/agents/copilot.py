"""GitHub's Copilot CLI (1.0.102). Commands only: it skips HTTP to this machine. A hook that fails closes; one that is late opens."""

from typing import Any, Final

from treblehook.gateway.codec import Hooked, PayloadInvalid, Support
from treblehook.gateway.copilot_form import NAMES, camel_case, decoded
from treblehook.gateway.elsewhere import ELSEWHERE, TYPED, UNSEEN_INPUT, honoured
from treblehook.gateway.patched import added, instead_of_error
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
from treblehook.gateway.wording import refusal, said, unrewritten
from treblehook.lifecycle import (
    CompactionStarting,
    Continue,
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
    ToolFinished,
    ToolGate,
    ToolProposed,
    ToolRan,
    TurnComplete,
    TurnEnding,
)

_AGENT: Final = "Copilot"
_REFUSED_START: Final = "Copilot cannot be kept from starting: every prompt and every call of the session is refused"
_PAST: Final = f"{TYPED}; {UNSEEN_INPUT}"
_MCP: Final = f"a tool of an MCP server is mcp__SERVER__TOOL, parted where Copilot's own name for it has its last hyphen; {_PAST}"
_REWRITE: Final = (
    "a new input goes to the tool; but a patch is denied, and so is what the user has to be asked about, and the input to use is told"
)
_REPLACE: Final = "the call is denied, with the result as the reason"
_PATCH: Final = "the error of a call that failed stays, and what hooks made of it is told beside it"
_SUPPORT: Final = (
    *ELSEWHERE,
    *honoured(SessionStart, Support(SessionStart, Refuse, "stricter", _REFUSED_START)),
    *honoured(CompactionStarting),
    *(
        row
        for event in (ToolProposed, PreToolCall)
        for row in honoured(
            event,
            Support(event, None, "honoured", _MCP),
            Support(event, Rewrite, "stricter", _REWRITE),
            Support(event, Replace, "stricter", _REPLACE),
        )
    ),
    *honoured(PermissionRequest),
    *honoured(ToolGate, Support(ToolGate, None, "honoured", _MCP)),
    *honoured(ShellGate, Support(ShellGate, None, "honoured", _PAST)),
    *honoured(ToolFinished, Support(ToolFinished, Rewrite, "lost", _PATCH)),
    *honoured(ToolRan),
    *honoured(ShellRan),
    *honoured(
        TurnEnding,
        Support(TurnEnding, None, "honoured", "the text of the reply is told for subagents only"),
        Support(TurnEnding, Continue, "honoured", "what the model is sent back with comes to prompt hooks as a prompt"),
    ),
    *honoured(TaskEnd),
    *honoured(TurnComplete),
    *honoured(SubagentFinished),
    *honoured(SessionEnd),
)


class Copilot:
    """The codec of Copilot. Its payloads do not name their event."""

    name: Final = "copilot"
    hooked: Final = (
        Hooked("sessionStart", (SessionStart,)),
        Hooked("userPromptSubmitted", (SessionStart, PromptSubmitted, TaskStart)),
        Hooked("preToolUse", (SessionStart, ToolProposed, PreToolCall, ToolGate, ShellGate)),
        Hooked("permissionRequest", (PermissionRequest,)),
        Hooked("postToolUse", (ToolFinished, ToolRan, ShellRan)),
        Hooked("postToolUseFailure", (ToolFinished, ToolRan, ShellRan)),
        Hooked("preCompact", (CompactionStarting,)),
        Hooked("agentStop", (TurnEnding, TaskEnd, TurnComplete)),
        Hooked("subagentStop", (TurnEnding, TaskEnd, TurnComplete, SubagentFinished)),
        Hooked("sessionEnd", (SessionEnd,)),
    )
    """A session that has not been met starts with its first call, so a closed start hook must not be lost there either."""
    support: Final[tuple[Support, ...]] = _SUPPORT

    def decode(self, event: str, payload: dict[str, Any]) -> Arrived:
        """The hook call `event`, in either spelling. Raises `PayloadInvalid`."""
        return decoded(event, payload)

    def encode(self, arrived: Arrived, answer: Answer) -> dict[str, Any]:
        """The JSON object that Copilot honours."""
        match arrived.what, answer:
            case ((Starting() | PromptGiven()), AddText(words)):
                return _context(words)
            case Starting(), Refused(reason):
                return _context(f"This session is refused, and so is everything that it asks for: {said(reason)}")
            case CallComing(), AskUser(reason, None):
                return _ruling("ask", said(reason, "A hook wants the user asked."))
            case CallComing() as coming, (AskUser(input=dict() as given) | RunRewritten(given)):
                return _rewritten(coming, given, asks=isinstance(answer, AskUser))
            case PermissionAsked(), Granted():
                return {"behavior": "allow"}
            case CallDone() as done, Patched():
                return _patched(camel_case(arrived.event), done, answer)
            case ((Stopping() | SubagentDone()), GoOn(words)):
                return _blocked(said(words, "A hook wants you to go on."))
            case _, Refused():
                return self.refuse(arrived.event, refusal(answer))
        return {}

    def refuse(self, event: str, reason: str) -> dict[str, Any]:
        """What stops `event`; the model gets no result that no hook could see. A stop is let be: Copilot knows no limit for subagents."""
        why = said(reason)
        match camel_case(event):
            case "preToolUse":
                return _ruling("deny", why)
            case "permissionRequest":
                return {"behavior": "deny", "message": why}
            case "userPromptSubmitted" | "postToolUse":
                return _blocked(why)
        return {}


def _ruling(decision: str, reason: str) -> dict[str, Any]:
    return {"permissionDecision": decision, "permissionDecisionReason": reason}


def _blocked(reason: str) -> dict[str, Any]:
    return {"decision": "block", "reason": reason}


def _context(words: str) -> dict[str, Any]:
    return {"additionalContext": said(words)} if words.strip() else {}


def _rewritten(coming: CallComing, given: dict[str, Any], *, asks: bool) -> dict[str, Any]:
    """Nobody has seen what becomes of a new input that the user is asked about, or of one for a tool that takes bare text."""
    try:
        theirs = NAMES.theirs(coming.tool, given, coming.input)
    except PayloadInvalid:
        # The gate has seen one value, and Copilot would take another.
        return _ruling("deny", unrewritten(given, _AGENT))
    if asks or coming.input.keys() == {"input"}:
        return _ruling("deny", unrewritten(theirs, _AGENT))
    return {"modifiedArgs": theirs}


def _patched(event: str, done: CallDone, patch: Patched) -> dict[str, Any]:
    if event == "postToolUseFailure":
        beside = added(done.output, patch)
        return _context(instead_of_error(patch) if beside is None else beside)
    # A command that fails is a success to Copilot, which it stays unless hooks say otherwise.
    failed = patch.is_error if patch.is_error != done.output.is_error else done.response != "success"
    return {"modifiedResult": {"resultType": "failure" if failed else "success", "textResultForLlm": said(patch.content, "(empty)")}}
