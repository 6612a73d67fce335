"""The kilns of a home, as `host.notes.Notes`."""

import asyncio
import importlib.util
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

from treblehook.host.notes import FoundNote, NoteId, NoteInfo, NoteProblem, Written
from treblehook.kiln.editing import Edit, read_text
from treblehook.kiln.index.errors import IndexDamaged, IndexFailed
from treblehook.kiln.indexing.full_pass import ProcessComplete
from treblehook.kiln.indexing.run import Watcher, embed_kiln, index_kiln
from treblehook.kiln.kiln import Hearer, Kiln
from treblehook.kiln.renaming.backlinks import backlinks
from treblehook.kiln.renaming.rename import Renaming
from treblehook.kiln.searching import best, retrieve, search
from treblehook.kiln.semantic import Embedder, open_embedder
from treblehook.kiln.watching.ownership import owner
from treblehook.kiln.watching.watch import Watch

T = TypeVar("T")

MOST: Final = 1000
"""Notes that one search answers at most."""

_LIBRARIES: Final = ("yaml", "watchfiles")


class KilnsMissing(Exception):
    """The libraries that notes need are not installed; the message says how to get them."""


class Kilns:
    """`folders` by name, with an index for each in the folder `store`. `open` it before anything else, and `close` it.

    `hearer` is told what happens, on the event loop: events in their order (crucible.md 7), the end of every full pass, problems.
    """

    def __init__(
        self, folders: Mapping[str, Path], store: Path, hearer: Hearer, embedder: Callable[[], Embedder | None] = open_embedder
    ) -> None:
        self._folders = dict(folders)
        self._store = store
        self._hearer = hearer
        self._embedder = _once(embedder)
        self._open: dict[str, Kiln] = {}
        self._failed: dict[str, str] = {}
        self._watches: dict[str, Watch] = {}
        self._stale: dict[str, asyncio.Event] = {}
        self._embedding: list[asyncio.Task[None]] = []
        self._healing: dict[str, asyncio.Task[None]] = {}

    @property
    def kilns(self) -> tuple[str, ...]:
        """The names, as `[kilns]` has them."""
        return tuple(self._folders)

    async def open(self, *, watch: bool = True) -> None:
        """Open every index and, with `watch`, look after the kilns from now on, beginning with a full pass of each in the background.

        A kiln that another process looks after is left to it until it goes. Raises `KilnsMissing`; an index that cannot be opened is
        reported, and stops no other kiln.
        """
        missing = [library for library in _LIBRARIES if importlib.util.find_spec(library) is None]
        if missing and self._folders:
            raise KilnsMissing(f"kilns need the extra kiln ({', '.join(missing)} is not installed): pip install 'treblehook[kiln]'")
        for name, folder in self._folders.items():
            await self._open_one(name, folder)
            if watch and name in self._open:
                kiln, stale = self._open[name], asyncio.Event()
                self._stale[name] = stale
                self._watches[name] = Watch(kiln, self._lock_file(name), stale.set)
                embedding = asyncio.ensure_future(_keep_embedded(kiln, stale))
                embedding.add_done_callback(partial(kiln.tell_end, "the search by meaning"))
                self._embedding.append(embedding)

    async def indexed(self) -> None:
        """Wait until the first full pass of every kiln is done."""
        for watch in self._watches.values():
            await watch.indexed.wait()

    async def watching(self) -> None:
        """Wait until changes of every kiln are noticed, by this process."""
        for watch in self._watches.values():
            await watch.watching.wait()

    def owner(self, name: str) -> int | None:
        """The process that looks after a kiln, None where there is none. Raises `NoteProblem` for an unknown name, and `OSError`."""
        self._check(name)
        return owner(self._lock_file(name))

    async def index(self, name: str, *, force: bool = False, progress: Watcher = lambda progress: None) -> ProcessComplete:
        """A full pass; with `force` every note is read and indexed again. Raises `NoteProblem`."""
        full = await index_kiln(self._kiln(name), force=force, progress=progress)
        self._changed(name)
        return full.complete()

    async def embed(self, name: str, *, progress: Watcher = lambda progress: None) -> None:
        """Make the vectors that notes lack, and wait for it. Raises `NoteProblem`."""
        await embed_kiln(self._kiln(name), progress)

    async def search(self, query: str, *, kilns: Sequence[str] | None = None, limit: int = 10) -> list[FoundNote]:
        """The best notes by words and by meaning; a kiln that does not open is passed over. Raises `NoteProblem`."""
        return await self._best(search, query, kilns, limit)

    async def retrieve(self, message: str, *, kilns: Sequence[str] | None = None, limit: int = 5) -> list[FoundNote]:
        """Precognition's search (crucible.md 9.2). Raises `NoteProblem`."""
        return await self._best(retrieve, message, kilns, limit)

    async def read(self, note: NoteId) -> str:
        """The whole text. Raises `NoteProblem`."""
        kiln, path = self._of(note)
        return await self._read(kiln, lambda: read_text(kiln, path))

    async def listed(self, *, kilns: Sequence[str] | None = None, folder: str = "") -> list[NoteInfo]:
        """Every note, or those under `folder`, by kiln and path. Raises `NoteProblem`."""
        found: list[NoteInfo] = []
        for kiln in sorted(self._wanted(kilns), key=lambda kiln: kiln.name):
            found += await self._read(kiln, partial(kiln.index.listed, folder))
        return found

    async def info(self, note: NoteId) -> NoteInfo | None:
        """What the index knows of one note. Raises `NoteProblem`."""
        kiln, path = self._of(note)
        return await self._read(kiln, lambda: kiln.index.info(path))

    async def backlinks(self, note: NoteId) -> list[NoteId]:
        """The notes that link to it. Raises `NoteProblem`."""
        kiln, path = self._of(note)
        return await self._read(kiln, lambda: backlinks(kiln, path))

    async def write(self, note: NoteId, text: str) -> Written:
        """Create or replace a note. Raises `NoteProblem`."""
        kiln, path = self._of(note)
        edit = Edit(kiln, path)
        await kiln.change(lambda: edit.write(text))
        self._changed(kiln.name)
        return edit.written

    async def delete(self, note: NoteId) -> bool:
        """Delete a note; false where there was none. Raises `NoteProblem`."""
        kiln, path = self._of(note)
        edit = Edit(kiln, path)
        await kiln.change(edit.delete)
        return edit.existed

    async def rename(self, note: NoteId, destination: str) -> list[NoteId]:
        """Move a note inside its kiln and repoint its inbound links; the notes that were changed for it. Raises `NoteProblem`."""
        kiln, path = self._of(note)
        renaming = Renaming(kiln, path, kiln.path(destination))
        await kiln.change(renaming.run)
        self._changed(kiln.name)
        return renaming.rewritten

    async def close(self) -> None:
        """Stop watching, finish what was begun, and let go of every index."""
        for watch in self._watches.values():
            await watch.close()
        for task in self._embedding:
            task.cancel()
            await asyncio.wait({task})
        await asyncio.gather(*self._healing.values(), return_exceptions=True)
        for kiln in self._open.values():
            await kiln.close()
        self._open.clear()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def _open_one(self, name: str, folder: Path) -> None:
        file = self._store / f"{name}.sqlite3"
        try:
            self._open[name] = await asyncio.to_thread(Kiln, name, folder, file, self._hearer, self._embedder)
        except IndexFailed as failed:
            self._failed[name] = str(failed)
            self._hearer.report(failed.problem(name))
            return
        self._open[name].tell_state()

    async def _best(
        self, find: Callable[[Kiln, str, int], list[FoundNote]], text: str, kilns: Sequence[str] | None, limit: int
    ) -> list[FoundNote]:
        found: list[FoundNote] = []
        limit = max(0, min(limit, MOST))
        for kiln in self._wanted(kilns):
            found += await self._read(kiln, partial(find, kiln, text, limit))
        return best(found, limit)

    async def _read(self, kiln: Kiln, work: Callable[[], T]) -> T:
        """What `work` reads of the index; one that proves to be damaged is made anew before. Raises `NoteProblem`."""
        database = kiln.index.database
        try:
            return await kiln.read(work)
        except NoteProblem as problem:
            replaced = kiln.index.database is not database or kiln.name in self._healing
            if not replaced and not isinstance(problem.__cause__, IndexDamaged):
                raise
        if kiln.index.database is database and kiln.name not in self._healing:
            if self.owner(kiln.name) not in (None, os.getpid()):
                # Another process has the file open, and would go on with the old one.
                raise kiln.problem("", "its index is damaged; start the treblehook that looks after it again, and it is made anew")
            self._healing[kiln.name] = asyncio.ensure_future(self._heal(kiln))
        if kiln.name in self._healing:
            # Whoever comes upon it meanwhile waits for the same.
            await asyncio.shield(self._healing[kiln.name])
        return await kiln.read(work)

    async def _heal(self, kiln: Kiln) -> None:
        try:
            await kiln.remake()
            await index_kiln(kiln)
            self._changed(kiln.name)
        finally:
            del self._healing[kiln.name]

    def _wanted(self, kilns: Sequence[str] | None) -> list[Kiln]:
        for name in kilns or ():
            self._check(name)
        return [kiln for name, kiln in self._open.items() if kilns is None or name in kilns]

    def _check(self, name: str) -> None:
        if name not in self._folders:
            raise NoteProblem(f"{name}: there is no kiln of this name; there {_are(self.kilns)}")

    def _kiln(self, name: str) -> Kiln:
        self._check(name)
        if name not in self._open:
            raise NoteProblem(f"{name}: this kiln is not open; {self._failed.get(name, 'none is')}")
        return self._open[name]

    def _of(self, note: NoteId) -> tuple[Kiln, str]:
        kiln = self._kiln(note.kiln)
        return kiln, kiln.path(note.path)

    def _changed(self, name: str) -> None:
        if name in self._stale:
            self._stale[name].set()

    def _lock_file(self, name: str) -> Path:
        return self._store / f"{name}.lock"


def _are(names: Sequence[str]) -> str:
    return f"are: {', '.join(names)}" if names else "is none"


async def _keep_embedded(kiln: Kiln, stale: asyncio.Event) -> None:
    """Make the vectors of what has changed, in the background."""
    while True:
        await stale.wait()
        stale.clear()
        try:
            await embed_kiln(kiln)
        except NoteProblem as problem:
            kiln.report("", f"its notes have no vectors: {problem}")


def _once(embedder: Callable[[], Embedder | None]) -> Callable[[], Embedder | None]:
    """All kilns share one embedder, which is opened when the first of them needs it."""
    lock = threading.Lock()
    opened: list[Embedder | None] = []

    def shared() -> Embedder | None:
        with lock:
            if not opened:
                opened.append(embedder())
            return opened[0]

    return shared
