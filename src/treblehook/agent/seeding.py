"""Row 4: a hook's seed is taken as far as its budget goes; hooks that shorten conversations may summarise what does not fit."""

from collections.abc import Sequence

from msgspec.structs import replace

from treblehook.agent.seed import Measured, Seed
from treblehook.agent.state import SessionState
from treblehook.lifecycle import ContextFull, Message, ReplaceContext


def budget_of(state: SessionState) -> int:
    """Tokens that a seed may take; 0 where there is no bound, or none that can be computed."""
    part, window = state.policy.seed_budget, state.window
    return 0 if part is None or window is None else int(window * part)


async def take_seed(state: SessionState, hook: str, messages: Sequence[Message]) -> Seed:
    """What becomes of the `messages` that a hook proposed; each that is taken has an id."""
    named = [message if message.id else replace(message, id=state.conversation.new_id()) for message in messages]
    measured = Measured(hook, named, budget_of(state), state.keeper.count)
    if state.policy.seed_budget is None:
        return measured.taken("seeded", named, measured.proposed)
    refusal = measured.refusal()
    if refusal:
        return measured.rejected(refusal)
    overflow = measured.proposed - measured.budget
    if overflow <= 0:
        return measured.taken("seeded", named, measured.proposed)
    dropped = measured.dropped()
    if overflow <= measured.budget * state.policy.seed_margin:
        return measured.trimmed(dropped)
    summary = await _summary(state, measured, dropped)
    return measured.behind(summary, dropped) if summary else measured.trimmed(dropped)


async def _summary(state: SessionState, measured: Measured, dropped: int) -> list[Message]:
    """What the hooks make of the oldest messages, nothing where they make nothing of them."""
    front = measured.messages[:dropped]
    ratio = state.policy.seed_budget or 0.0
    event = ContextFull(messages=front, tokens=measured.tokens(0, dropped), ratio=ratio, **state.facts.fields())
    outcome = await state.fire(event)
    for contribution in outcome.contributions:
        if isinstance(contribution.decision, ReplaceContext):
            return [m if m.id else replace(m, id=state.conversation.new_id()) for m in contribution.decision.messages]
    return []
