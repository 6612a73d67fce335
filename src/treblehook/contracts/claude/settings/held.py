"""Context of hooks before a tool, kept until the tool has a result to put it beside: before that, there is no place for it."""

from collections.abc import Sequence

from treblehook.lifecycle import Rewrite, ToolFinished, ToolProposed


class HeldContext:
    """What the hooks of one session said about calls that are under way, by the id of the call."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[str, ...]] = {}

    def forget(self, event: ToolProposed) -> None:
        """A call is proposed: what was kept for an earlier one of that id, which never ran, is not about it."""
        self._held.pop(event.call.id, None)

    def hold(self, call: str, notes: Sequence[str]) -> None:
        """Keep `notes` for a call, if there are any."""
        if notes:
            self._held[call] = tuple(notes)

    def has(self, event: ToolFinished) -> bool:
        """Whether something is kept for this call."""
        return event.call.id in self._held

    async def deliver(self, event: ToolFinished) -> Rewrite:
        """The result with what is kept behind it."""
        return Rewrite(content="\n\n".join(filter(None, (event.content, *self._held.pop(event.call.id)))))
