"""From the system's notices of changes to the index, and to what is announced."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Final, NoReturn, Self

from treblehook.host.notes import NoteProblem
from treblehook.kiln.files.root import Root
from treblehook.kiln.files.walk import Found
from treblehook.kiln.index.errors import IndexDamaged
from treblehook.kiln.indexing.absorb import Absorbed, absorb, absorb_again, file_event
from treblehook.kiln.kiln import Change, Kiln
from treblehook.kiln.watching.notifier import Notifier
from treblehook.kiln.watching.settling import Settling
from treblehook.kiln.watching.sight import Seen, Sight

_TICK_SECONDS: Final = 1.0
"""How often the folder itself is looked at, since nothing tells that a disk was taken away."""

_AGAIN_SECONDS: Final = 0.25
"""A new folder is looked at once more: what was put into it before the system began to watch it was not told."""

_OWED_SECONDS: Final = 5.0
"""When what the index could not take is tried again."""

_STEP: Final = 256
BURST: Final = 2_000
"""Where so many paths change at once, the system's queue may have overflowed, of which nobody is told. A second later everything is
compared."""


class Listening:
    """Entering it begins to collect what happens in the kiln's folder; `listen` then deals with it. Raises `CannotWatch`."""

    def __init__(self, kiln: Kiln, changed: Callable[[], None]) -> None:
        self._kiln = kiln
        self._changed = changed
        self._loop = asyncio.get_running_loop()
        self._settling = Settling()
        self._new_folders = Settling(_AGAIN_SECONDS, _AGAIN_SECONDS)
        self._wake = asyncio.Event()
        self._notifier: Notifier | None = None
        self._stale = False
        self._compare_at = float("inf")
        self._look_at = 0.0
        self._owed: dict[str, None] = {}
        self._owed_at = float("inf")

    async def __aenter__(self) -> Self:
        await self._start()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._stop()

    async def listen(self, folder: Root, found: Mapping[str, Found]) -> NoReturn:
        """Deal with changes until the kiln is lost; `found` is what a pass has just found in `folder`.

        Raises `KilnLost`, and `NoteProblem` for a damaged index.
        """
        sight = Sight(self._kiln.root, folder, found)
        while True:
            await self._wait()
            if self._stale:
                await self._stop()
                await self._start()
                self._compare_at = self._loop.time()
            now = self._loop.time()
            if now >= self._look_at:
                await asyncio.to_thread(sight.check)
                self._look_at = now + _TICK_SECONDS
            if now >= self._compare_at:
                self._compare_at = float("inf")
                self._settling.touch(await asyncio.to_thread(sight.everything), now)
            if now >= self._owed_at:
                await self._pay()
            again = self._new_folders.due(now)
            folders = await self._deal_with(sight, self._settling.due(now) + again)
            self._new_folders.touch([folder for folder in folders if folder not in again], self._loop.time())

    async def _deal_with(self, sight: Sight, paths: list[str]) -> list[str]:
        """Look at paths and announce what has become of them; answers the folders among them."""
        if not paths:
            return []
        seen, folders = await asyncio.to_thread(sight.look, paths)
        for start in range(0, len(seen), _STEP):
            await self._index(seen[start : start + _STEP])
        if seen:
            self._changed()
        return folders

    async def _index(self, seen: Sequence[Seen]) -> None:
        kiln = self._kiln
        done = Absorbed()

        def work() -> Change:
            nonlocal done
            done = absorb(kiln.index, kiln.root, seen)
            return Change(done.events)

        try:
            await kiln.change(work)
        except NoteProblem as problem:
            if isinstance(problem.__cause__, IndexDamaged):
                # It will never take anything; a full pass makes it anew.
                raise
            # The files have changed all the same; the notes follow once the index takes them.
            kiln.report("", str(problem))
            for one in seen:
                kiln.hearer.tell(file_event(kiln.root, one))
                self._owed |= dict.fromkeys([one.source] if one.source else []) | {one.relative: None}
            self._owed_at = self._loop.time() + _OWED_SECONDS
        kiln.report_all(done.problems)

    async def _pay(self) -> None:
        owed, self._owed, self._owed_at = list(self._owed), {}, float("inf")
        try:
            await self._kiln.change(lambda: Change(absorb_again(self._kiln.index, self._kiln.root, owed).events))
        except NoteProblem as problem:
            if isinstance(problem.__cause__, IndexDamaged):
                raise
            self._owed = dict.fromkeys(owed) | self._owed
            self._owed_at = self._loop.time() + _OWED_SECONDS

    async def _wait(self) -> None:
        """Wait until there is something to do."""
        until = min(self._look_at, self._compare_at, self._owed_at, self._settling.next_at(), self._new_folders.next_at())
        seconds = until - self._loop.time()
        if seconds > 0:
            try:
                # Not wait_for, which forgets in Python 3.11 that it was cancelled when its event comes at the same moment.
                async with asyncio.timeout(seconds):
                    await self._wake.wait()
            except TimeoutError:
                return
        self._wake.clear()

    async def _start(self) -> None:
        self._stale = False
        call = self._loop.call_soon_threadsafe

        def changed(paths: list[str]) -> None:
            call(self._touched, paths)

        def stale() -> None:
            call(self._is_stale)

        def begun() -> Notifier:
            return Notifier(self._kiln.root, changed, stale)

        starting = asyncio.ensure_future(asyncio.to_thread(begun))
        try:
            self._notifier = await asyncio.shield(starting)
        except asyncio.CancelledError:
            # The thread goes on, and what it begins has to end.
            (await starting).close()
            raise
        self._kiln.report_all({folder: f"what changes in this folder is noticed late: {why}" for folder, why in self._unwatched()})

    def _unwatched(self) -> list[tuple[str, str]]:
        folders = {} if self._notifier is None else self._notifier.folders.unwatched
        return [(os.path.relpath(folder, self._kiln.root), why) for folder, why in folders.items()]

    async def _stop(self) -> None:
        if self._notifier is not None:
            await asyncio.to_thread(self._notifier.close)
            self._notifier = None

    def _touched(self, paths: list[str]) -> None:
        now = self._loop.time()
        self._settling.touch(paths, now)
        if len(paths) >= BURST:
            self._compare_at = now + _TICK_SECONDS
        if "" in paths:
            self._look_at = now
        self._wake.set()

    def _is_stale(self) -> None:
        self._stale = True
        self._wake.set()
