"""What all hooks of one event come to: deny beats stop beats ask beats allow, and each decision stands at the hook that made it."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from treblehook.contracts.claude.settings.answers import NO_REASON, Said
from treblehook.contracts.claude.settings.held import HeldContext
from treblehook.contracts.claude.settings.tools import names_of, own_input
from treblehook.contracts.claude.settings.wishes import CallWish, CallWishes
from treblehook.lifecycle import AddContext, Allow, Block, Continue, Decision, Deny, Replace, Rewrite, ToolFinished, ToolProposed

Everyone = Sequence[Said | None]
"""What each hook said, None for one that has nothing to say or failed."""
Decisions = list[Decision | None]
Decide = Callable[[Any, Everyone], Decisions]


def decider(name: str, held: HeldContext, wishes: CallWishes) -> Decide:
    """How the hooks of the Claude event `name` are taken together; what cannot be said at once is kept in `held` and `wishes`."""
    if name == "PreToolUse":
        return lambda event, everyone: _before_tool(event, everyone, held, wishes)
    if name in ("PostToolUse", "PostToolUseFailure"):
        return lambda event, everyone: _after_tool(name, event, everyone)
    return _DECIDERS.get(name, _nothing)


def _before_tool(event: ToolProposed, everyone: Everyone, held: HeldContext, wishes: CallWishes) -> Decisions:
    contexts = tuple(context_note("PreToolUse", event.call.name, one.context) for one in everyone if one is not None and one.context)
    denial = _first(everyone, "deny")
    if denial is not None:
        # A call that is blocked has no result of its own: what is to be said of it is said in the reason.
        return _only(everyone, denial, Block("\n\n".join((_reasons(everyone, "deny"), *contexts))))
    held.hold(event.call.id, contexts)
    stop = _first(everyone, "stop")
    if stop is not None:
        # The tool does not run, and the turn ends where all calls of the reply are stopped: the nearest to a run that ends.
        return _only(everyone, stop, Replace(_reasons(everyone, "stop"), is_error=True, terminate=True))
    inputs = [(at, one.input) for at, one in enumerate(everyone) if one is not None and one.input is not None]
    rewriter, told = inputs[-1] if inputs else (None, None)
    own = event.call.input if told is None else own_input(event.call.name, told)
    if _first(everyone, "ask") is not None:
        wishes.keep(event.call.id, CallWish("ask", own, _reasons(everyone, "ask")))
    elif _first(everyone, "allow") is not None:
        wishes.keep(event.call.id, CallWish("allow", own))
    return _only(everyone, rewriter, Rewrite(input=own))


def _permission(event: Any, everyone: Everyone) -> Decisions:
    denial = _first(everyone, "deny")
    if denial is not None:
        return _only(everyone, denial, Deny(_reasons(everyone, "deny")))
    return _only(everyone, _first(everyone, "allow"), Allow())


def _after_tool(name: str, event: ToolFinished, everyone: Everyone) -> Decisions:
    content, notes, speaker = event.content, [], None
    for at, one in enumerate(everyone):
        if one is None:
            continue
        told = list(_notes(name, event.call.name, one))
        if one.content is not None or told:
            speaker = at
        content = content if one.content is None else one.content
        notes += told
    return _only(everyone, speaker, Rewrite(content="\n\n".join(filter(None, (content, *notes)))))


def _notes(name: str, tool: str, one: Said) -> list[str]:
    """What follows the result of a tool; in Claude Code these are messages of their own."""
    head = f"{name}:{names_of(tool)[0]} hook"
    notes = []
    if one.verdict == "deny":
        notes.append(f"{head} blocking error: {one.reason}")
    if one.context:
        notes.append(context_note(name, tool, one.context))
    if one.verdict == "stop":
        notes.append(f"{head} asks you to stop here: {one.reason or NO_REASON}")
    return notes


def context_note(name: str, tool: str, context: str) -> str:
    """Context of a hook, as the model is told it beside a tool's result."""
    return f"{name}:{names_of(tool)[0]} hook additional context: {context}"


def _prompt(event: Any, everyone: Everyone) -> Decisions:
    refusal = _first(everyone, "deny")
    if refusal is not None:
        return _only(everyone, refusal, Block(_reasons(everyone, "deny")))
    stop = _first(everyone, "stop")
    if stop is not None:
        return _only(everyone, stop, Block(f"Operation stopped by hook: {_reasons(everyone, 'stop')}"))
    return _contexts(event, everyone)


def _contexts(event: Any, everyone: Everyone) -> Decisions:
    return [AddContext(one.context) if one is not None and one.context else None for one in everyone]


def _stopping(event: Any, everyone: Everyone) -> Decisions:
    if _first(everyone, "stop") is not None:
        return _only(everyone, None, None)
    feedback = [one.reason if one.verdict == "deny" else one.context for one in everyone if one is not None]
    speaker = _last(everyone, lambda one: one.verdict == "deny" or one.context != "")
    return _only(everyone, speaker, Continue("\n\n".join(filter(None, feedback))))


def _nothing(event: Any, everyone: Everyone) -> Decisions:
    return _only(everyone, None, None)


_DECIDERS: Final[dict[str, Decide]] = {
    "SessionStart": _contexts,
    "SubagentStart": _contexts,
    "UserPromptSubmit": _prompt,
    "PermissionRequest": _permission,
    "Stop": _stopping,
    "SubagentStop": _stopping,
}


def _first(everyone: Everyone, verdict: str) -> int | None:
    return next((at for at, one in enumerate(everyone) if one is not None and one.verdict == verdict), None)


def _last(everyone: Everyone, wanted: Callable[[Said], bool]) -> int | None:
    return next((at for at in reversed(range(len(everyone))) if (one := everyone[at]) is not None and wanted(one)), None)


def _reasons(everyone: Everyone, verdict: str) -> str:
    reasons = dict.fromkeys(one.reason or NO_REASON for one in everyone if one is not None and one.verdict == verdict)
    return "\n".join(reasons)


def _only(everyone: Everyone, at: int | None, decision: Decision | None) -> Decisions:
    """A pass for each but one."""
    return [decision if place == at else None for place in range(len(everyone))]
