"""A kiln on disk with everything that is told of it, and ways to wait for that."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from treblehook.host.notes import NoteId
from treblehook.host.problems import Problem
from treblehook.kiln.index.database import Database
from treblehook.kiln.indexing.full_pass import ProcessComplete
from treblehook.kiln.kiln import Hearer
from treblehook.kiln.kilns import Kilns
from treblehook.kiln.semantic import Embedder
from treblehook.lifecycle.daemon_events import (
    DaemonEvent,
    FileChanged,
    FileDeleted,
    FileMoved,
    NoteCreated,
    NoteDeleted,
    NoteEvent,
    NoteModified,
    NoteRenamed,
)

NAME = "notes"
_BARRIER = "barrier"


def no_embedder() -> Embedder | None:
    """As without the extra `semantic`."""
    return None


class KilnRig:
    """A kiln of the name `notes` in `folder`/notes, with its index in `folder`/store."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / NAME
        self.store = folder / "store"
        self.root.mkdir(parents=True)
        self.events: list[DaemonEvent] = []
        self.completes: list[ProcessComplete] = []
        self.problems: list[Problem] = []
        self.embedder: Callable[[], Embedder | None] = no_embedder
        self.on_event: Callable[[DaemonEvent], None] = self.events.append
        self._barriers = 0

    def write(self, path: str, text: str | bytes = "") -> Path:
        """Write a file as an editor would, not through the kiln."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def text(self, path: str) -> str:
        """What a file holds."""
        return (self.root / path).read_bytes().decode()

    def kilns(self, **more: Path) -> Kilns:
        """The kiln and `more`, not opened."""
        hearer = Hearer(lambda event: self.on_event(event), self.completes.append, self.problems.append)
        return Kilns({NAME: self.root, **more}, self.store, hearer, self.embedder)

    @asynccontextmanager
    async def indexed(self) -> AsyncIterator[Kilns]:
        """Indexed once, and not watched."""
        async with self.kilns() as kilns:
            await kilns.open(watch=False)
            await kilns.index(NAME)
            yield kilns

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[Kilns]:
        """Indexed and watched."""
        async with self.kilns() as kilns:
            await kilns.open()
            await kilns.watching()
            yield kilns

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something; the test's time limit guards against waiting for ever."""
        while True:
            if condition():
                return
            await asyncio.sleep(0.005)

    async def settled(self) -> list[str]:
        """Everything that was told of what happened up to now: a note is written behind it, and waited for."""
        self._barriers += 1
        path = f"{_BARRIER}{self._barriers}.md"
        self.write(path, path)
        await self.until(lambda: any(isinstance(event, NoteCreated) and event.path == path for event in self.events))
        return self.told()

    def told(self) -> list[str]:
        """What was told, in short, without barriers."""
        return [self.short(event) for event in self.events if _BARRIER not in str(getattr(event, "path", ""))]

    def notes_told(self) -> list[str]:
        """What was told of notes, in short."""
        return [self.short(event) for event in self.events if isinstance(event, NoteEvent) and _BARRIER not in event.path]

    def short(self, event: DaemonEvent) -> str:
        """An event as a line; absolute paths become relative ones in angle brackets."""
        match event:
            case FileChanged():
                return f"file {event.change} <{self._inside(event.path)}>"
            case FileDeleted():
                return f"file deleted <{self._inside(event.path)}>"
            case FileMoved():
                return f"file moved <{self._inside(event.source)}> <{self._inside(event.destination)}>"
            case NoteCreated():
                return f"created {event.path} {event.title!r}"
            case NoteModified():
                return f"modified {event.path} {event.change}"
            case NoteDeleted():
                return f"deleted {event.path} {event.existed}"
            case NoteRenamed():
                return f"renamed {event.source} {event.path}"
            case _:
                raise AssertionError(event)

    def _inside(self, path: str) -> str:
        assert path.startswith("/")
        return path.removeprefix(f"{self.root}/")


def disk_takes(kilns: Kilns, pages: int) -> None:
    """From now on the index may have so many pages; more is what SQLite calls a full disk."""
    database: Database = vars(kilns)["_open"][NAME].index.database
    with database.write() as connection:
        connection.execute(f"PRAGMA max_page_count = {pages}")


def note(path: str) -> NoteId:
    """A note of the rig's kiln."""
    return NoteId(NAME, path)
