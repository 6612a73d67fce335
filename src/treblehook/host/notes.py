"""The notes of a home's kilns, as hooks, tools and the agent reach them."""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct


class NoteId(Struct, frozen=True, order=True):
    """A note: the name of its kiln and its path there, with `/` between the parts."""

    kiln: str
    path: str


class FoundNote(Struct, frozen=True):
    """A note that a search found. `score` is from 0 to 1, higher is nearer; `snippet` is text of the note."""

    id: NoteId
    title: str
    score: float
    snippet: str
    tags: tuple[str, ...] = ()


class NoteInfo(Struct, frozen=True):
    """What the index knows of a note. `links` are its wikilinks as written, `modified` is in seconds since the epoch."""

    id: NoteId
    title: str
    tags: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    modified: float = 0.0


class NoteProblem(Exception):
    """What was asked of a note cannot be done; the message says why, and names kiln and path."""


Written = Literal["created", "modified", "unchanged"]


class Notes(Protocol):
    """The kilns of a home. `kilns` narrows what is looked at, () to none, None to all; an unknown name raises `NoteProblem`.

    Whatever writes announces what it did (crucible.md 7.3), once the index says so too.
    """

    @property
    def kilns(self) -> tuple[str, ...]:
        """The names, as `[kilns]` has them."""

    async def search(self, query: str, *, kilns: Sequence[str] | None = None, limit: int = 10) -> list[FoundNote]:
        """The best notes for `query` by words and by meaning, best first."""

    async def retrieve(self, message: str, *, kilns: Sequence[str] | None = None, limit: int = 5) -> list[FoundNote]:
        """Precognition's search (crucible.md 9.2): by meaning, every kiln's best merged; `snippet` is the note's first 500 characters."""

    async def read(self, note: NoteId) -> str:
        """The whole text. Raises `NoteProblem`."""

    async def listed(self, *, kilns: Sequence[str] | None = None, folder: str = "") -> list[NoteInfo]:
        """Every note, or those under `folder`, by kiln and path."""

    async def info(self, note: NoteId) -> NoteInfo | None:
        """What the index knows of one note."""

    async def backlinks(self, note: NoteId) -> list[NoteId]:
        """The notes that link to it."""

    async def write(self, note: NoteId, text: str) -> Written:
        """Create or replace a note. Raises `NoteProblem`."""

    async def delete(self, note: NoteId) -> bool:
        """Delete a note; false where there was none. Raises `NoteProblem`."""

    async def rename(self, note: NoteId, destination: str) -> list[NoteId]:
        """Move a note inside its kiln and repoint its inbound links; the notes that were changed for it. Raises `NoteProblem`."""
