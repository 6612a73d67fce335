"""Row 9: the conversation is summarised, or replaced by a hook, before it outgrows the context window.

The session file keeps every message; only what the model is sent gets shorter.
"""

from collections.abc import Sequence
from typing import Final, Literal

from treblehook.agent.models.model import Model, ModelFailed, ModelQuery
from treblehook.agent.opening import open_conversation
from treblehook.agent.state import SessionState
from treblehook.lifecycle import CompactionStarting, ContextFull, Message, ReplaceContext

_SYSTEM: Final = "You summarise the working conversation of an agent so that the agent can go on from your summary alone."
_REQUEST: Final = (
    "Summarise the conversation so far. Keep what was asked, what was decided and why, which files and commands were touched, "
    "what came out, and what is still to be done. Write plain prose and lists; leave nothing out that later work needs."
)
_HEADING: Final = "Summary of the conversation so far:\n\n"


def is_full(state: SessionState, model: Model) -> bool:
    """Whether the conversation has reached the part of the window at which it is compacted, and has grown since the last time."""
    window = state.window or model.window
    if window is None:
        return False
    tokens = state.conversation.tokens(state.system, state.tools.values())
    policy = state.policy
    return tokens >= window * policy.compact_at and tokens >= state.conversation.left + window * policy.compact_after


async def compact(state: SessionState, model: Model, reason: Literal["manual", "automatic"], keep: Sequence[Message] = ()) -> None:
    """Compact the conversation and open it anew; the messages in `keep` stay as they are where it is summarised.

    Where nobody summarises and no hook replaces it, it stays as it is. Raises `ModelFailed` where there is no summary; the conversation
    is as it was then, and no start hook is asked.
    """
    window = state.window or model.window
    before = state.conversation.tokens(state.system, state.tools.values())
    fields = state.facts.fields()
    if state.policy.summarises or state.dispatcher.registry.listens(ContextFull):
        state.recorder.listener.working(state.facts.session, "compacting the conversation")
        await state.fire(CompactionStarting(reason=reason, tokens=before, capacity=window, **fields))
    ratio = before / window if window else 0.0
    full = ContextFull(messages=tuple(state.conversation.messages), tokens=before, ratio=ratio, **fields)
    outcome = await state.fire(full)
    replacement = next((c.decision.messages for c in outcome.contributions if isinstance(c.decision, ReplaceContext)), ())
    usable = _is_whole(replacement)
    if not usable and not state.policy.summarises:
        state.keeper.not_compacted(before, "unresolved_tool_call" if replacement else "no_hook_replacement")
        return
    messages = list(replacement) if usable else [await _summary(state, model), *keep]
    state.conversation.restart(messages)
    # Kept at once: a kill while the start hooks are asked must not cost the summary.
    state.recorder.restarted(state.conversation.messages)
    try:
        await open_conversation(state, "compacted")
    finally:
        # What the start hooks added is part of the context now.
        after = state.conversation.tokens(state.system, state.tools.values())
        state.recorder.write("compaction", reason=reason, tokens_before=before, tokens_after=after)
        if usable:
            state.keeper.compacted(before, after, replacement)


def _is_whole(messages: Sequence[Message]) -> bool:
    """Whether a conversation can go on from `messages`: there are some, and every call in them has its result."""
    calls = [call.id for message in messages for call in message.calls]
    results = [message.call_id for message in messages if message.role == "tool"]
    return bool(messages) and sorted(calls) == sorted(results)


async def _summary(state: SessionState, model: Model) -> Message:
    asked = (*state.conversation.messages, Message("user", _REQUEST))
    reply = await state.ask(model, ModelQuery(_SYSTEM, asked), "compaction", stream=False)
    if reply.stop == "refusal" or not reply.text.strip():
        raise ModelFailed(model.spec, "rejected", f"it did not summarise the conversation: {reply.text.strip() or 'an empty reply'}")
    return Message("user", _HEADING + reply.text, source="compaction")
