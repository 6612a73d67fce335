"""What the returns of the turn's events mean, daemon events included (crucible.md 3.3 to 3.5, 3.8, 3.15)."""

from treblehook.contracts.crucible.author import Author
from treblehook.contracts.crucible.messages import MessagesInvalid, messages_of
from treblehook.contracts.crucible.plain import what
from treblehook.contracts.crucible.returned import Cancelled, Injected, Returned, Transform, warn_of_scalar
from treblehook.lifecycle import Block, ContextAssembled, Decision, Inject, ModelRequest, Rewrite, Stop
from treblehook.lifecycle.event import Event


def pre_llm_call(returned: Returned, event: ModelRequest, author: Author) -> Decision | None:
    """Another prompt, or the end of the turn before the provider is asked."""
    match returned:
        case Cancelled(reason):
            return Block(reason)
        case Transform(fields) if isinstance(prompt := fields.get("prompt"), str):
            return Rewrite(prompt=prompt)
        case Transform(fields) if fields.get("prompt") is not None:
            author.warn(f"returned `prompt` that is {what(fields['prompt'])}; a string is needed, so the prompt is unchanged")
    warn_of_scalar(returned, author)
    return None


def transform_context(returned: Returned, event: ContextAssembled, author: Author) -> Decision | None:
    """The whole list anew, or the end of the turn. A list with anything wrong in it is rejected as a whole."""
    match returned:
        case Cancelled(reason):
            return Block(reason)
        case Transform(fields) if fields.get("messages") is not None:
            try:
                return Rewrite(messages=messages_of(fields["messages"], event.messages))
            except MessagesInvalid as invalid:
                author.warn(f"returned a context that is no list of messages: {invalid}; the context is unchanged")
    warn_of_scalar(returned, author)
    return None


def turn_complete(returned: Returned, event: Event, author: Author) -> Decision | None:
    """Text for the user's next prompt."""
    if isinstance(returned, Injected):
        return Inject(returned.content, returned.position)
    warn_of_scalar(returned, author)
    return None


def observed(returned: Returned, event: Event, author: Author) -> Decision | None:
    """Nothing: `post_llm_call` only looks on."""
    warn_of_scalar(returned, author)
    return None


def daemon_event(returned: Returned, event: Event, author: Author) -> Decision | None:
    """A cancel spares the handlers that follow; what has happened stays."""
    if isinstance(returned, Cancelled):
        return Stop()
    warn_of_scalar(returned, author)
    return None
