"""Which answers Codex (0.171.0) and Gemini CLI (0.61.0) were seen to honour at which of their events, written as in `honoured.py`.

Codex drops a whole answer for a key that it does not know, for a known one of a wrong type, and for a reason that is missing.
"""

from typing import Any

from tests.gateway.honoured import BLOCK, DENY, GRANT, HALT, Shape, context, denial, fits, specific, text, whole_input, words

REFUSAL = {"decision": "deny", "reason": words}

HONOURED: dict[str, dict[str, tuple[Shape, ...]]] = {
    "codex": {
        # additionalContext is a developer message; continue:false ends before any request; exit 2 is ignored.
        "SessionStart": (context("SessionStart"), HALT),
        "UserPromptSubmit": (context("UserPromptSubmit"), BLOCK),
        # `ask` runs; allow gives no permission, but without it updatedInput is ignored, which may hold a command and nothing else.
        "PreToolUse": (denial("PreToolUse"), specific("PreToolUse", permissionDecision="allow", updatedInput={"command": text})),
        # With updatedInput, interrupt or anything else the whole answer is dropped, and the user asked.
        "PermissionRequest": (specific("PermissionRequest", decision=GRANT), specific("PermissionRequest", decision=DENY)),
        # The reason replaces the output; updatedToolOutput is ignored.
        "PostToolUse": (BLOCK,),
        # The reason is the next user message; additionalContext is ignored.
        "Stop": (BLOCK,),
        "SubagentStop": (BLOCK,),
    },
    "gemini": {
        # Nothing stops a start.
        "SessionStart": (context("SessionStart"),),
        "BeforeAgent": (context("BeforeAgent"), REFUSAL),
        # `ask` hangs; "DENY" runs; tool_input is merged, updatedInput and additionalContext are ignored.
        "BeforeTool": (REFUSAL, specific("BeforeTool", tool_input=whole_input)),
        # The result is replaced by an error.
        "AfterTool": (REFUSAL,),
        # The reason is the next user message.
        "AfterAgent": (REFUSAL,),
    },
}


def codex_honours(event: str, answer: dict[str, Any]) -> bool:
    """Whether Codex was seen to honour this very form of an answer; an empty one is no opinion everywhere."""
    return answer == {} or any(fits(shape, answer) for shape in HONOURED["codex"].get(event, ()))


def gemini_honours(event: str, answer: dict[str, Any]) -> bool:
    """The same of Gemini CLI."""
    return answer == {} or any(fits(shape, answer) for shape in HONOURED["gemini"].get(event, ()))
