"""What a hook that was put in by hand is bound to and answers, for each agent, so that the agent does a thing.

Each is an event and an answer for `hand_hooks.put_in`.
"""

import json

Bound = tuple[str, object]
"""An event and the answer at it."""


def passes() -> dict[str, Bound]:
    """The tool runs."""
    return _pre_tool({}, gemini={}, opencode="", pi="")


def denies(reason: str) -> dict[str, Bound]:
    """The tool does not run, and the model reads the reason."""
    specific = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}
    answer = {"decision": "block", "reason": reason, "hookSpecificOutput": specific}
    text = json.dumps(reason)
    return _pre_tool(answer, gemini=answer, opencode=f"throw new Error({text})", pi=f"return {{ block: true, reason: {text} }}")


def rewrites(command: str) -> dict[str, Bound]:
    """The shell runs another command; Qwen cannot."""
    specific = {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": {"command": command}}
    text = json.dumps(command)
    return _pre_tool(
        {"hookSpecificOutput": specific},
        gemini={"hookSpecificOutput": {"tool_input": {"command": command}}},
        opencode=f"output.args.command = {text}",
        pi=f"event.input.command = {text}",
    )


def adds(context: str) -> dict[str, Bound]:
    """The next request has more than the tool's output."""

    def specific(event: str) -> Bound:
        return event, {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}

    text = json.dumps(context)
    return {
        "claude-code": specific("PreToolUse"),
        "codex": specific("PreToolUse"),
        "gemini": specific("AfterTool"),
        "qwen": specific("PostToolUse"),
        "copilot": ("PostToolUse", {"additionalContext": context}),
        "opencode": ("tool.execute.after", f"output.output += {text}"),
        "pi": ("tool_result", f"return {{ content: [...event.content, {{ type: 'text', text: {text} }}] }}"),
    }


def sends_on(reason: str) -> dict[str, Bound]:
    """The agent, which wanted to end, goes on with the reason as its task; OpenCode and pi cannot."""
    answer = {"decision": "block", "reason": reason}
    return {**dict.fromkeys(("claude-code", "codex", "qwen", "copilot"), ("Stop", answer)), "gemini": ("AfterAgent", answer)}


def _pre_tool(answer: object, *, gemini: object, opencode: str, pi: str) -> dict[str, Bound]:
    return {
        **dict.fromkeys(("claude-code", "codex", "qwen", "copilot"), ("PreToolUse", answer)),
        "gemini": ("BeforeTool", gemini),
        "opencode": ("tool.execute.before", opencode),
        "pi": ("tool_call", pi),
    }
