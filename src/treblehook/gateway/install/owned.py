"""Where our entries stand in an agent's settings."""

from typing import Any

from msgspec import Struct

from treblehook.gateway.install.entries import is_own
from treblehook.gateway.install.places import Dialect
from treblehook.gateway.install.text.reading import Document, Node


class Owned(Struct, frozen=True):
    """Finds the entries of one agent. An entry is ours as a whole where all its handlers are; a single handler of ours may also have come
    to stand in somebody else's."""

    agent: str
    dialect: Dialect

    def events(self, document: Document) -> list[str]:
        """The events at which there is a handler of ours, in the order of the file."""
        hooks = document.root.get("hooks")
        keys = () if hooks is None else hooks.keys
        return [event for event in dict.fromkeys(keys) if self.handlers(document, event)]

    def handlers(self, document: Document, event: str) -> list[tuple[int, int, Any]]:
        """Each of our handlers at an event: the place of its entry in the list, its place in the entry, and itself."""
        found = []
        for at, part in enumerate(_parts(_listed(document, event))):
            for index, handler in enumerate(self._handlers(part)):
                if is_own(value := handler.plain(), self.agent):
                    found.append((at, index, value))
        return found

    def whole(self, document: Document, event: str) -> list[int]:
        """The places of the entries that are ours as a whole."""
        return [at for at, part in enumerate(_parts(_listed(document, event))) if self._is_whole(part)]

    def surplus(self, document: Document, event: str, *, keep_first: bool = False) -> tuple[Node, list[int]] | None:
        """The next list from which something of ours is to go, and the places in it; None where nothing is left. `keep_first` leaves the
        first entry that is ours as a whole."""
        for part in _parts(_listed(document, event)):
            own = [index for index, handler in enumerate(self._handlers(part)) if is_own(handler.plain(), self.agent)]
            handlers = part.get("hooks")
            if self.dialect.grouped and handlers is not None and own and not self._is_whole(part):
                return handlers, own
        whole = self.whole(document, event)[1 if keep_first else 0 :]
        listed = _listed(document, event)
        return (listed, whole) if listed is not None and whole else None

    def _is_whole(self, part: Node) -> bool:
        handlers = self._handlers(part)
        return bool(handlers) and all(is_own(handler.plain(), self.agent) for handler in handlers)

    def _handlers(self, part: Node) -> tuple[Node, ...]:
        if not self.dialect.grouped:
            return (part,)
        return _parts(part.get("hooks"))


def _listed(document: Document, event: str) -> Node | None:
    hooks = document.root.get("hooks")
    return None if hooks is None else hooks.get(event)


def _parts(node: Node | None) -> tuple[Node, ...]:
    return node.parts if node is not None and node.kind == "list" else ()
