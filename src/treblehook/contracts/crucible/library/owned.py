"""What plugins have going on outside of their handlers: it ends when the plugin is reloaded and when the machine is closed."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

End = Callable[[], None]


class Owned:
    """Keeps, for each owner, how to end what it started. The owner is a plugin's name, None for what no reload takes away."""

    def __init__(self) -> None:
        self._ends: dict[object, tuple[str | None, End]] = {}

    def add(self, owner: str | None, end: End) -> Callable[[], None]:
        """Have `end` called when the owner is cleared; what is returned forgets it."""
        key = object()
        self._ends[key] = (owner, end)
        return lambda: void(self._ends.pop(key, None))

    def run(self, owner: str | None, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        """Start background work, which is cancelled when the owner is cleared."""
        task = asyncio.get_running_loop().create_task(work)
        forget = self.add(owner, lambda: void(task.cancel()))
        task.add_done_callback(lambda _: forget())
        return task

    def clear(self, owner: str) -> None:
        """End everything of one plugin."""
        for key, (whose, end) in list(self._ends.items()):
            if whose == owner:
                del self._ends[key]
                end()

    def close(self) -> None:
        """End everything."""
        ends = [end for _, end in self._ends.values()]
        self._ends.clear()
        for end in ends:
            end()


def void(_: object) -> None:
    """Nothing, whatever there was."""
