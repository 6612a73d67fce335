"""A search over ten thousand notes by words and by meaning, beside the bound that it must keep, and beside FTS5 alone."""

import sqlite3
import tempfile
import time
from pathlib import Path

from benchmarks.row import Limit, Line
from benchmarks.rows._notes import COUNT, NAME, kilns
from benchmarks.timing import fastest

BOUND_SECONDS = 0.020
QUERIES = ("treasure map", "mutiny", '"the reef"', "uberfahrt harbor", "where is the lantern", "nothing at all like this")
FTS5 = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT 10"
ROUNDS = 40


async def measure() -> list[Line]:
    with tempfile.TemporaryDirectory() as store:
        async with kilns(Path(store)) as notes:
            await notes.open(watch=False)
            began = time.perf_counter()
            await notes.index(NAME)
            indexed = time.perf_counter()
            await notes.embed(NAME)
            embedding, indexing = time.perf_counter() - indexed, indexed - began
            connection = sqlite3.connect(Path(store, f"{NAME}.sqlite3"))

            async def searched(times: int) -> None:
                for _ in range(times):
                    for query in QUERIES:
                        await notes.search(query)

            async def matched(times: int) -> None:
                for _ in range(times):
                    for query in QUERIES:
                        connection.execute(FTS5, (query,)).fetchall()

            best = await fastest({"ours": searched, "fts5": matched}, rounds=ROUNDS)
            connection.close()
    ours, fts5 = best["ours"] / len(QUERIES), best["fts5"] / len(QUERIES)
    what = f"a search over {COUNT:,} notes"
    return [
        Line(what, "the bound", ours, BOUND_SECONDS, Limit(at_most=1)),
        Line(what, "FTS5 alone, by words", ours, fts5),
        Line(f"the vectors of {COUNT:,} notes, made in the background", "indexing them", embedding, indexing),
    ]
