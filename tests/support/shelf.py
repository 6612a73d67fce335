"""Notes for the sessions of a test, as their kilns would find them."""

import asyncio
from collections.abc import Sequence
from typing import cast

from treblehook.agent.session import Session
from treblehook.host.notes import FoundNote, NoteId, Notes


class Shelf:
    """Finds `found` for whatever is asked, or raises `fails`; waits for `go` first. `asked` is what it was asked."""

    def __init__(self, *found: FoundNote) -> None:
        self.found = list(found)
        self.fails: BaseException | None = None
        self.asked: list[tuple[str, tuple[str, ...] | None, int]] = []
        self.reached = asyncio.Event()
        self.go = asyncio.Event()
        self.go.set()

    async def retrieve(self, message: str, *, kilns: Sequence[str] | None = None, limit: int = 5) -> list[FoundNote]:
        self.asked.append((message, None if kilns is None else tuple(kilns), limit))
        self.reached.set()
        await self.go.wait()
        if self.fails is not None:
            raise self.fails
        return self.found[:limit]

    def put_up(self, session: Session, *kilns: str) -> None:
        """Let `session` look here."""
        session.state.notes = cast(Notes, self)
        session.state.kilns = kilns or ("notes",)


def found(title: str, text: str = "", *, kiln: str = "notes", score: float = 0.5, folder: str = "") -> FoundNote:
    """A note that was found; without `text` its text names it."""
    return FoundNote(NoteId(kiln, f"{folder}{title}.md"), f"The title inside {title}", score, text or f"All about {title}.")
