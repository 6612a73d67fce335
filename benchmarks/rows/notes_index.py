"""Indexing ten thousand notes, beside parsing and inserting the same rows; and indexing them again, beside that."""

import asyncio
import sqlite3
import tempfile
from pathlib import Path

from benchmarks.row import Limit, Line
from benchmarks.rows._notes import COUNT, NAME, folder, kilns
from benchmarks.timing import fastest
from treblehook.kiln.files.paths import stem_of
from treblehook.kiln.parsing import parse

LIMIT = Limit(at_most=2.0)
AGAIN = Limit(at_most=0.05)
ROUNDS = 3
"""Batches of each; one pass is a batch."""


def texts() -> list[tuple[str, str]]:
    """Every note's path and text, read before."""
    root = folder() / NAME
    return [(str(file.relative_to(root)), file.read_bytes().decode("utf-8", "replace")) for file in root.rglob("*") if file.is_file()]


def insert_all(notes: list[tuple[str, str]], file: Path) -> None:
    """Parse and insert, and nothing else."""
    parsed = (parse(text, stem_of(path), canvas=path.endswith(".canvas")) for path, text in notes)
    rows = ((note.title, " ".join(note.tags), "\n".join(note.headings), note.front, note.body) for note in parsed)
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA journal_mode = WAL")
    columns = "title, tags, headings, front, body, tokenize = 'unicode61 remove_diacritics 2'"
    connection.execute(f"CREATE VIRTUAL TABLE words USING fts5 ({columns})")
    with connection:
        connection.executemany("INSERT INTO words VALUES (?, ?, ?, ?, ?)", rows)
    connection.close()


async def measure() -> list[Line]:
    notes = await asyncio.to_thread(texts)

    async def indexed(times: int) -> None:
        for _ in range(times):
            with tempfile.TemporaryDirectory() as store:
                async with kilns(Path(store)) as fresh:
                    await fresh.open(watch=False)
                    complete = await fresh.index(NAME)
                    assert complete.processed == COUNT, complete

    async def inserted(times: int) -> None:
        for _ in range(times):
            with tempfile.TemporaryDirectory() as store:
                await asyncio.to_thread(insert_all, notes, Path(store, "words.sqlite3"))

    with tempfile.TemporaryDirectory() as store:
        async with kilns(Path(store)) as known:
            await known.open(watch=False)
            await known.index(NAME)

            async def again(times: int) -> None:
                for _ in range(times):
                    complete = await known.index(NAME)
                    assert complete.skipped == COUNT, complete

            best = await fastest({"indexed": indexed, "inserted": inserted, "again": again}, rounds=ROUNDS)
    return [
        Line(f"indexing {COUNT:,} notes", "parsing and inserting the same rows into FTS5", best["indexed"], best["inserted"], LIMIT),
        Line(f"indexing {COUNT:,} unchanged notes again", "the first time", best["again"], best["indexed"], AGAIN),
    ]
