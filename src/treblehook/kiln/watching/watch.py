"""The watch over one kiln, as long as the process lives: disks come and go, and so do other processes that watch."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from treblehook.host.notes import NoteProblem
from treblehook.kiln.files.root import Root
from treblehook.kiln.files.walk import Found
from treblehook.kiln.indexing.run import index_kiln
from treblehook.kiln.kiln import Kiln
from treblehook.kiln.watching.listening import Listening
from treblehook.kiln.watching.notifier import CannotWatch
from treblehook.kiln.watching.ownership import Ownership
from treblehook.kiln.watching.sight import KilnLost

_TICK_SECONDS: Final = 1.0
_RETRY_SECONDS: Final = 30.0


class Watch:
    """Looks after `kiln` while this process owns `lock`; waits for that where another one does.

    `indexed` is set once the first full pass has been tried, or another process has it to do; `watching` while changes are noticed.
    `changed` is called whenever the index may have changed.
    """

    def __init__(self, kiln: Kiln, lock: Path, changed: Callable[[], None]) -> None:
        self.indexed = asyncio.Event()
        self.watching = asyncio.Event()
        self._kiln = kiln
        self._lock = lock
        self._changed = changed
        self._task = asyncio.ensure_future(self._run())
        self._task.add_done_callback(lambda task: self.indexed.set())
        self._task.add_done_callback(partial(kiln.tell_end, "the watch"))

    async def close(self) -> None:
        """Stop watching; what was begun is finished."""
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _run(self) -> None:
        ownership = await self._owned()
        try:
            while True:
                seconds = await self._watched()
                # Nothing tells that a disk is back.
                await asyncio.sleep(seconds)
        finally:
            if ownership is not None:
                ownership.release()

    async def _owned(self) -> Ownership | None:
        """Wait until no other process looks after the kiln; None where the file system knows no locks."""
        try:
            while (ownership := Ownership.take(self._lock)) is None:
                self.indexed.set()
                await asyncio.sleep(_TICK_SECONDS)
        except OSError as error:
            self._kiln.report("", f"the lock {self._lock} cannot be taken: {error.strerror}; another process may watch as well")
            return None
        return ownership

    async def _watched(self) -> float:
        """Watch until that is not possible any more; answers after how many seconds to try again."""
        try:
            try:
                folder = await asyncio.to_thread(Root.at, self._kiln.root)
                async with Listening(self._kiln, self._changed) as listening:
                    found = await self._passed()
                    self.watching.set()
                    await listening.listen(folder, found)
            except (OSError, KilnLost):
                self._kiln.report("", f"its folder {self._kiln.root} is not there; what the index knows of its notes is kept")
                if not self.indexed.is_set():
                    await self._passed()
                return _TICK_SECONDS
            except CannotWatch as problem:
                self._kiln.report("", f"its changes cannot be watched: {problem}")
                await self._passed()
                return _RETRY_SECONDS
        except NoteProblem as problem:
            self._kiln.report("", str(problem))
            return _RETRY_SECONDS
        finally:
            self.watching.clear()
            self.indexed.set()

    async def _passed(self) -> Mapping[str, Found]:
        """Do a full pass; answers the notes that it found. Raises `NoteProblem`."""
        full = await index_kiln(self._kiln)
        self.indexed.set()
        self._changed()
        return full.found.notes
