"""What is expected of an agent, as its capability table has it."""

from treblehook.gateway.agents import codec_of
from treblehook.gateway.codec import Support
from treblehook.lifecycle import Decision, Event


def support(agent: str, event: type[Event], decision: type[Decision]) -> Support:
    """What becomes of a decision at an event."""
    return next(row for row in codec_of(agent).support if (row.event, row.decision) == (event, decision))
