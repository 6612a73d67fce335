"""One open kiln: its folder, its index, and the order in which things happen to it."""

import asyncio
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from treblehook.host.notes import NoteProblem
from treblehook.host.problems import Problem
from treblehook.kiln.files.paths import PathRefused, checked_path
from treblehook.kiln.index.errors import IndexFailed
from treblehook.kiln.index.index import NoteIndex
from treblehook.kiln.index.vectors import NoteVectors
from treblehook.kiln.indexing.full_pass import ProcessComplete
from treblehook.kiln.semantic import Embedder
from treblehook.lifecycle.daemon_events import DaemonEvent

T = TypeVar("T")


class Hearer(Struct, frozen=True):
    """Who is told what happens in kilns, on the event loop: events in their order, the end of every full pass, and problems."""

    tell: Callable[[DaemonEvent], None]
    completed: Callable[[ProcessComplete], None] = lambda complete: None
    report: Callable[[Problem], None] = lambda problem: None


class Change(Struct):
    """What a piece of work came to: `events` are told in order; then `problem`, where there is one, is raised."""

    events: list[DaemonEvent] = []
    problem: NoteProblem | None = None


class Kiln:
    """The kiln `name` in the folder `root`. Raises `IndexFailed`."""

    def __init__(self, name: str, root: Path, file: Path, hearer: Hearer, embedder: Callable[[], Embedder | None]) -> None:
        self.name = name
        self.root = os.path.realpath(root)
        self.hearer = hearer
        self.index = NoteIndex(name, file, self.root)
        self.lock = asyncio.Lock()
        self._embedder = embedder
        self._vectors: NoteVectors | None = None
        self._opening = threading.Lock()
        self._told: set[tuple[str, str]] = set()
        self._working: set[asyncio.Task[None]] = set()

    def tell_state(self) -> None:
        """Say whether an index that was there had to be thrown away."""
        if self.index.database.made_anew:
            self.report("", f"its index was made anew: {self.index.database.made_anew}")

    def path(self, path: str) -> str:
        """`path` as the index has it. Raises `NoteProblem` for one that no note can have."""
        try:
            return checked_path(path)
        except PathRefused as refused:
            raise self.problem(path, str(refused)) from None

    def problem(self, path: str, message: str) -> NoteProblem:
        """What is raised about a note: names kiln and path."""
        return NoteProblem(f"{self.name}: {path} {message}" if path else f"{self.name}: {message}")

    def report(self, path: str, message: str) -> None:
        """Tell a problem, once."""
        if (path, message) not in self._told:
            self._told.add((path, message))
            file = os.path.join(self.root, path) if path else self.root
            self.hearer.report(Problem(file, "", f"kiln {self.name}: {message}", level="warning"))

    def report_all(self, problems: dict[str, str]) -> None:
        """Tell problems, each once."""
        for path, message in problems.items():
            self.report(path, message)

    def tell_end(self, what: str, task: "asyncio.Task[None]") -> None:
        """Report that work which goes on as long as the kiln is open has ended by a failure."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self.report("", f"{what} has stopped: {type(error).__name__}: {error}")

    async def change(self, work: Callable[[], Change]) -> None:
        """Do `work` in a thread, after what was begun before, and tell its events. Whoever stops waiting does not stop it.

        Raises the work's `NoteProblem`, and one for an index that fails.
        """

        async def done() -> None:
            async with self.lock:
                try:
                    change = await asyncio.to_thread(work)
                except IndexFailed as failed:
                    raise self.problem("", str(failed)) from failed
                for event in change.events:
                    self.hearer.tell(event)
            if change.problem is not None:
                raise change.problem

        task = asyncio.ensure_future(done())
        self._working.add(task)
        task.add_done_callback(self._finished)
        await asyncio.shield(task)

    async def read(self, work: Callable[[], T]) -> T:
        """Do what only reads, in a thread. Raises `NoteProblem` for an index that fails."""
        try:
            return await asyncio.to_thread(work)
        except IndexFailed as failed:
            raise self.problem("", str(failed)) from failed

    def vectors(self) -> NoteVectors | None:
        """The vectors of the notes; None without an embedder. Blocks: the embedder is opened with the first use."""
        with self._opening:
            if self._vectors is None and (embedder := self._embedder()) is not None:
                self._vectors = NoteVectors(self.index.database, embedder)
            return self._vectors

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._working.discard(task)
        if not task.cancelled():
            # Whoever waited has it; where nobody waits any more, nobody is left to be told.
            task.exception()

    async def remake(self) -> None:
        """Throw the index away, where it is damaged, and begin a new one."""
        async with self.lock:
            await asyncio.to_thread(self.index.remake)
            self._vectors = None
        self.tell_state()

    async def close(self) -> None:
        """Wait for what has been begun, and let go of the index."""
        while self._working:
            await asyncio.wait(self._working)
        async with self.lock:
            self.index.close()
