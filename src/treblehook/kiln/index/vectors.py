"""Search by meaning: the vectors of a kiln's notes, on disk and in memory."""

import threading
from typing import TYPE_CHECKING, Final

from treblehook.kiln.index.database import Database
from treblehook.kiln.semantic import Embedder, Vectors, nearest

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

_AT_ONCE: Final = 128
_TEXT: Final = """
SELECT notes.id, notes.digest, notes.title, substr(words.body, 1, 4000) FROM notes JOIN words ON words.rowid = notes.id
WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.note = notes.id) LIMIT ?
"""


class NoteVectors:
    """The vectors that `embedder` makes. Those of another one are thrown away."""

    def __init__(self, database: Database, embedder: Embedder) -> None:
        self._database = database
        self._embedder = embedder
        self._lock = threading.Lock()
        self._state: tuple[int, int] | None = None
        self._matrix: Vectors | None = None
        self._ids: NDArray[numpy.int64] | None = None
        self._notes: NDArray[numpy.int64] | None = None
        with database.write() as connection:
            row = connection.execute("SELECT value FROM facts WHERE name = 'embedder'").fetchone()
            if row is None or row[0] != embedder.name:
                connection.execute("DELETE FROM vectors")
                connection.execute("INSERT OR REPLACE INTO facts VALUES ('embedder', ?)", (embedder.name,))

    def left(self) -> int:
        """How many notes have no vector."""
        with self._database.read() as connection:
            (left,) = connection.execute("SELECT (SELECT count(*) FROM notes) - (SELECT count(*) FROM vectors)").fetchone()
        return int(left)

    def embed_some(self) -> int:
        """Make the vectors of some notes that have none; answers how many. 0 says that every note has its own."""
        with self._database.read() as connection:
            rows = connection.execute(_TEXT, (_AT_ONCE,)).fetchall()
        if not rows:
            return 0
        vectors = self._embedder.embed([f"{title}\n{body}" for _, _, title, body in rows])
        with self._database.write() as connection:
            connection.executemany(
                # A note that was changed meanwhile waits for the next time.
                "INSERT OR REPLACE INTO vectors (note, vector) SELECT id, ? FROM notes WHERE id = ? AND digest = ?",
                [(vector.tobytes(), number, digest) for vector, (number, digest, _, _) in zip(vectors, rows, strict=True)],
            )
        return len(rows)

    def nearest(self, text: str, limit: int) -> list[tuple[int, float]]:
        """The numbers of the notes nearest to `text`, each with its cosine, nearest first."""
        query = self._embedder.embed([text])
        with self._lock:
            self._refresh()
            assert self._matrix is not None
            assert self._notes is not None
            found = nearest(self._matrix, query, limit)
            return [(int(self._notes[row]), cosine) for row, cosine in found]

    def _refresh(self) -> None:
        """Bring the matrix up to what is on disk: only what is new is read."""
        import numpy

        with self._database.read() as connection:
            # Numbers only grow and are never given again, so that these two tell whether anything came or went.
            state = connection.execute("SELECT count(*), ifnull(max(id), 0) FROM vectors").fetchone()
            if state == self._state:
                return
            there = numpy.array([number for (number,) in connection.execute("SELECT id FROM vectors ORDER BY id")], dtype=numpy.int64)
            last = int(self._ids[-1]) if self._ids is not None and len(self._ids) else 0
            rows = connection.execute("SELECT id, note, vector FROM vectors WHERE id > ? ORDER BY id", (last,)).fetchall()
        self._state = state
        width = self._embedder.dimensions
        fresh = numpy.frombuffer(b"".join(row[2] for row in rows), dtype=numpy.float32).reshape(-1, width)
        ids, notes = numpy.array([row[:2] for row in rows], dtype=numpy.int64).reshape(-1, 2).T
        if self._ids is None or self._matrix is None or self._notes is None:
            self._matrix, self._ids, self._notes = fresh, ids, notes
            return
        kept = numpy.isin(self._ids, there)
        self._matrix = numpy.concatenate([self._matrix[kept], fresh])
        self._ids = numpy.concatenate([self._ids[kept], ids])
        self._notes = numpy.concatenate([self._notes[kept], notes])
