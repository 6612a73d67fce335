"""What a block of a hook means for the turn."""

from treblehook.agent.errors import Blocked
from treblehook.agent.state import SessionState
from treblehook.engine import Outcome
from treblehook.lifecycle import ContextAssembled, ModelRequest, PromptSubmitted


def stop_if_blocked(state: SessionState, outcome: Outcome[PromptSubmitted] | Outcome[ModelRequest] | Outcome[ContextAssembled]) -> None:
    """End the turn where a hook wants that, with a row that says who and why. Raises `Blocked`."""
    if outcome.blocked is None or outcome.by is None:
        return
    reason, by = outcome.blocked.reason, outcome.by
    text = reason if outcome.failure is not None else f"{by.origin.event} blocked this turn: {reason}"
    state.recorder.write("row", text=text, hook=by.name)
    raise Blocked(reason)
