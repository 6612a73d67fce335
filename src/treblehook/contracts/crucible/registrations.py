"""What the code of one Lua machine has registered, by the plugin that owns it."""

from collections import defaultdict

from treblehook.engine import Handler, Registry


class Registrations:
    """Binds handlers into a registry, and takes those of one owner out again.

    What nobody owns (None) stays until `close`. Every registration is a handler of its own, so none is ever taken for another.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._by_owner: defaultdict[str | None, list[Handler]] = defaultdict(list)

    def add(self, handler: Handler, owner: str | None) -> None:
        """Bind `handler`; the next dispatch sees it."""
        self._registry.add(handler)
        self._by_owner[owner].append(handler)

    def of(self, owner: str | None) -> list[Handler]:
        """The handlers of an owner, in the order of registration."""
        return list(self._by_owner.get(owner, ()))

    def clear(self, owner: str | None) -> None:
        """Take the handlers of `owner` out; a dispatch that is under way skips them."""
        for handler in self._by_owner.pop(owner, ()):
            self._registry.remove(handler)

    def close(self) -> None:
        """Take everything out: the machine is about to go."""
        for owner in list(self._by_owner):
            self.clear(owner)
