"""From a saved file to its `note:modified`, beside the bare watcher with the same debounce."""

import asyncio
import tempfile
from pathlib import Path

from benchmarks.row import Limit, Line
from benchmarks.rows._notes import kilns
from benchmarks.timing import fastest
from treblehook.kiln.kiln import Hearer
from treblehook.kiln.watching.notifier import Notifier
from treblehook.lifecycle.daemon_events import DaemonEvent, NoteModified

LIMIT = Limit(more=0.050)
ROUNDS = 40


def note_in(root: Path) -> Path:
    """A kiln with one note; answers the note's file."""
    root.mkdir()
    file = root / "note.md"
    file.write_text("0")
    return file


async def measure() -> list[Line]:
    loop = asyncio.get_running_loop()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name, "kiln")
        file = note_in(root)
        modified, noticed = asyncio.Event(), asyncio.Event()

        def tell(event: DaemonEvent) -> None:
            if isinstance(event, NoteModified):
                modified.set()

        def notice(paths: list[str]) -> None:
            loop.call_soon_threadsafe(noticed.set)

        bare = Notifier(str(root), notice, lambda: None)
        async with kilns(Path(name, "store"), root=root, hearer=Hearer(tell)) as notes:
            await notes.open()
            await notes.watching()
            number = 0

            async def saved(times: int, event: asyncio.Event) -> None:
                nonlocal number
                for _ in range(times):
                    event.clear()
                    number += 1
                    file.write_text(str(number))
                    await event.wait()

            best = await fastest({"ours": lambda times: saved(times, modified), "bare": lambda times: saved(times, noticed)}, rounds=ROUNDS)
        await asyncio.to_thread(bare.close)
    return [Line("a saved file to its note:modified", "the bare watcher", best["ours"], best["bare"], LIMIT)]
