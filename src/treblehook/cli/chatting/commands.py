"""What a chat's commands come to: each a JSON object, which text output lays out as lines."""

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from treblehook.agent.conversation import estimate
from treblehook.agent.session import Session
from treblehook.home.listing import Bound, listed
from treblehook.lifecycle import ROWS, Fold, Message

Result = dict[str, Any]

_ROW_OF: Final = {event: row for row, (_, event) in enumerate(ROWS)}


async def compacted(session: Session) -> Result:
    """`/compact`: `error` (null where it worked) and the `tokens` that the conversation has now."""
    if session.state.conversation.messages:
        failure = await session.compact()
        error = None if failure is None else str(failure)
    else:
        error = "the conversation is empty"
    return {"error": error, "tokens": _tokens(session)}


def context(session: Session) -> Result:
    """`/context`: `tokens`, `window` (null where it is not known), `messages`, and `sources`: where the messages come from."""
    state = session.state
    messages = state.conversation.messages
    return {
        "tokens": _tokens(session),
        "window": state.window or state.model.window,
        "messages": len(messages),
        "sources": _sources(messages),
    }


def _tokens(session: Session) -> int:
    return session.state.conversation.tokens(session.state.system, session.state.tools.values())


def _sources(messages: Iterable[Message]) -> list[Result]:
    """Messages and their estimated tokens by whoever they come from, in the order of their first one."""
    found: dict[str, Result] = {}
    for message in messages:
        source = f"{message.source} {message.hook}".strip() or message.role
        entry = found.setdefault(source, {"source": source, "messages": 0, "tokens": 0})
        entry["messages"] += 1
        entry["tokens"] += estimate(message)
    return list(found.values())


def usage(session: Session) -> Result:
    """`/usage`: `uses`, what has been asked of which model since the session was opened, and the tokens that took."""
    return {
        "uses": [
            {"use": use, "model": model, "requests": session.state.asked[use, model], **msgspec.to_builtins(tokens)}
            for (use, model), tokens in session.state.usage.items()
        ]
    }


def hooks(session: Session) -> Result:
    """`/hooks`: `profile` (`default`, `bare`, `prompt-only`), and `handlers`, as `hooks list` has them, in the order in which they
    would run."""
    bare = session.state.profile != "default"
    handlers = sorted(session.state.dispatcher.registry.handlers(), key=lambda handler: _ROW_OF[handler.event])
    held_back = {h: f"the session is {session.state.profile}" if bare and h.event.fold is not Fold.GATE else None for h in handlers}
    bound = [Bound(handler, held_back=why) for handler, why in held_back.items()]
    return {
        "profile": session.state.profile,
        "handlers": [msgspec.to_builtins(listed(order, one)) for order, one in enumerate(bound, start=1)],
    }


COMMANDS: Final[dict[str, Callable[[Session], Result]]] = {"/context": context, "/usage": usage, "/hooks": hooks}
"""The commands that are answered at once."""
