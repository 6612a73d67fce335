"""Row 2: a conversation starts, is resumed or has just been compacted, and hooks may add to it or refuse it."""

from typing import Literal

from treblehook.agent.state import SessionState
from treblehook.engine import Contribution
from treblehook.lifecycle import AddContext, Message, SessionStart

Reason = Literal["start", "resume", "compacted"]


async def open_conversation(state: SessionState, reason: Reason) -> str | None:
    """Ask the hooks; their texts become one message. Answers why the session is refused, or None."""
    event = SessionStart(reason=reason, model=state.model.spec, **state.facts.fields())
    outcome = await state.fire(event)
    if outcome.blocked is not None:
        return outcome.blocked.reason
    if outcome.contributions:
        first = outcome.contributions[0].handler
        text = sections(outcome.contributions)
        hooks = ", ".join(dict.fromkeys(c.handler.name for c in outcome.contributions))
        state.add(Message("user", text, source=first.origin.event, hook=hooks))
        state.recorder.write("row", text=text, hook=hooks)
    return None


def sections(contributions: tuple[Contribution, ...]) -> str:
    """The texts under headings that are numbered by the hooks' places in the list, so silent hooks leave gaps."""
    return "\n\n".join(
        f"## Session start hook {contribution.position}\n\n{contribution.decision.text}"
        for contribution in contributions
        if isinstance(contribution.decision, AddContext)
    )
