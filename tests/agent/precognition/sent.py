"""What the model was sent of notes."""

import re

from tests.support.nest import Nest
from treblehook.agent.session import Session
from treblehook.engine import Handler
from treblehook.lifecycle import Message


def block(nest: Nest, request: int = -1) -> Message | None:
    """The notes' message of one request; it stands in front of everything else."""
    first, *others = nest.queries[request].messages
    assert not any(message.role == "system" for message in others), "a second block"
    return first if first.role == "system" else None


def titles(nest: Nest, request: int = -1) -> list[str]:
    """The titles in the built-in block, in order."""
    found = block(nest, request)
    return re.findall(r"^## (\w+)", found.text, re.MULTILINE) if found else []


def bind(session: Session, *handlers: Handler) -> None:
    """Add handlers to a running session."""
    for handler in handlers:
        session.state.dispatcher.registry.add(handler)
