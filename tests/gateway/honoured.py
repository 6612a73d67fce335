"""Which answers each agent was seen to honour at which of its events. Nothing else may ever be sent.

An answer is written as it looks, with a check in the place of what differs from case to case. `{}`, no opinion, is honoured everywhere.
Where a remark says `by source`, the agent's own code says so, but the event was not seen to come in a headless run.
"""

from collections.abc import Callable
from typing import Any

Check = Callable[[Any], bool]
Shape = Check | dict[str, Any] | list[Any] | str | bool


def words(value: Any) -> bool:
    """A text that is not blank: agents drop a denial without a reason."""
    return isinstance(value, str) and bool(value.strip())


def text(value: Any) -> bool:
    """A text."""
    return isinstance(value, str)


def whole_input(value: Any) -> bool:
    """The input of a call."""
    return isinstance(value, dict)


def command_ran(value: Any) -> bool:
    """A result of Claude Code's Bash. It may hold more, as long as it came from there: a key left out is one that the model misses."""
    if not isinstance(value, dict) or value.get("isImage") is not False:
        return False
    return isinstance(value.get("stdout"), str) and value.get("stderr") == "" and isinstance(value.get("interrupted"), bool)


def file_read(value: Any) -> bool:
    """A file in the result of Claude Code's Read."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("content"), str)
        and {"filePath", "numLines", "startLine", "totalLines"} <= set(value)
    )


def specific(event: str, **fields: Any) -> dict[str, Any]:
    """What Claude Code made common."""
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


def denial(event: str) -> dict[str, Any]:
    """The call does not run."""
    return specific(event, permissionDecision="deny", permissionDecisionReason=words)


BLOCK = {"decision": "block", "reason": words}
HALT = {"continue": False, "stopReason": words}
ASK = {"permissionDecision": "ask", "permissionDecisionReason": words}
GRANT = {"behavior": "allow"}
DENY = {"behavior": "deny", "message": words}


def context(event: str) -> dict[str, Any]:
    """Text for the model."""
    return specific(event, additionalContext=words)


HONOURED: dict[str, dict[str, tuple[Shape, ...]]] = {
    "claude-code": {
        # SessionStart: additionalContext is in the system message; exit 2 and continue:false are ignored.
        "SessionStart": (context("SessionStart"),),
        # UserPromptSubmit: block, no model request; additionalContext in the request's system message.
        "UserPromptSubmit": (context("UserPromptSubmit"), BLOCK),
        # The deny matrix, first row and `ask`; updatedInput with or without a decision is used, and permission asked for it.
        "PreToolUse": (
            denial("PreToolUse"),
            specific("PreToolUse", **ASK),
            specific("PreToolUse", **ASK, updatedInput=whole_input),
            specific("PreToolUse", updatedInput=whole_input),
        ),
        # The command line of a slash command is not run, and the model is told why; `ask` and updatedInput do not let it run either.
        "PreSkillShellCommand": (denial("PreSkillShellCommand"),),
        "PermissionRequest": (specific("PermissionRequest", decision=GRANT), specific("PermissionRequest", decision=DENY)),
        # updatedToolOutput replaces if it has the shape of the tool's output; continue:false ends the run.
        "PostToolUse": (
            specific("PostToolUse", updatedToolOutput=command_ran),
            specific("PostToolUse", updatedToolOutput={"type": "text", "file": file_read}),
            specific("PostToolUse", updatedToolOutput=[{"type": "text", "text": words}]),
            context("PostToolUse"),
            HALT,
        ),
        # additionalContext only: continue:false and updatedToolOutput are ignored.
        "PostToolUseFailure": (context("PostToolUseFailure"),),
        "Stop": (BLOCK,),
        "SubagentStop": (BLOCK,),
    },
    "qwen": {
        "SessionStart": (context("SessionStart"),),
        "UserPromptSubmit": (context("UserPromptSubmit"), BLOCK),
        # The deny matrix; updatedInput and additionalContext are ignored.
        "PreToolUse": (denial("PreToolUse"), specific("PreToolUse", **ASK)),
        # By source.
        "PermissionRequest": (specific("PermissionRequest", decision=GRANT), specific("PermissionRequest", decision=DENY)),
        # additionalContext is appended, continue:false replaces; block and updatedToolOutput are ignored.
        "PostToolUse": (context("PostToolUse"), HALT),
        # additionalContext only: block and continue:false are ignored.
        "PostToolUseFailure": (context("PostToolUseFailure"),),
        "Stop": (BLOCK,),
        "SubagentStop": (BLOCK,),
    },
    "copilot": {
        "sessionStart": ({"additionalContext": words},),
        "userPromptSubmitted": ({"additionalContext": words}, BLOCK),
        # The deny matrix, top level; modifiedArgs replaces.
        "preToolUse": ({"permissionDecision": "deny", "permissionDecisionReason": words}, ASK, {"modifiedArgs": whole_input}),
        "permissionRequest": (GRANT, DENY),
        # modifiedResult replaces, as a success or as a failure; block is "Tool result blocked".
        "postToolUse": (
            {"modifiedResult": {"resultType": "success", "textResultForLlm": words}},
            {"modifiedResult": {"resultType": "failure", "textResultForLlm": words}},
            BLOCK,
        ),
        # additionalContext only: modifiedResult, block and continue:false are ignored.
        "postToolUseFailure": ({"additionalContext": words},),
        "agentStop": (BLOCK,),
        "subagentStop": (BLOCK,),
    },
}

# A PascalCase event of Copilot honours what its camelCase one does.
HONOURED["copilot"] |= {
    pascal: HONOURED["copilot"][camel]
    for pascal, camel in {
        "SessionStart": "sessionStart",
        "UserPromptSubmit": "userPromptSubmitted",
        "PreToolUse": "preToolUse",
        "PermissionRequest": "permissionRequest",
        "PostToolUse": "postToolUse",
        "PostToolUseFailure": "postToolUseFailure",
        "Stop": "agentStop",
        "SubagentStop": "subagentStop",
    }.items()
}


def honours(shapes: dict[str, tuple[Shape, ...]], event: str, answer: dict[str, Any]) -> bool:
    """Whether an agent, by its table, was seen to honour this very form of an answer at its event."""
    return answer == {} or any(fits(shape, answer) for shape in shapes.get(event, ()))


def fits(shape: Shape, value: Any) -> bool:
    """Whether a value looks like `shape`, with nothing more and nothing less in it."""
    if callable(shape):
        return shape(value)
    if isinstance(shape, dict):
        return isinstance(value, dict) and value.keys() == shape.keys() and all(fits(each, value[key]) for key, each in shape.items())
    if isinstance(shape, list):
        return isinstance(value, list) and len(value) == len(shape) and all(map(fits, shape, value))
    return type(value) is type(shape) and bool(value == shape)
