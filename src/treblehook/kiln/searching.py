"""Search by words and by meaning together."""

from typing import Final

from treblehook.host.notes import FoundNote, NoteId, NoteProblem
from treblehook.kiln.editing import read_text
from treblehook.kiln.index.search import Hit, by_number, by_words
from treblehook.kiln.kiln import Kiln

SNIPPET_CHARACTERS: Final = 500
"""What precognition shows of a note (crucible.md 9.3)."""

_K: Final = 10
"""How little the places on a list differ: the second counts 10/11 of the first."""

_MEANING: Final = 0.75
"""What the list by meaning counts, beside 1 for words."""

_NEAR: Final = 0.25
"""The cosine from which a note has something to do with a query that shares no word with it."""


def search(kiln: Kiln, text: str, limit: int) -> list[FoundNote]:
    """The best notes, best first: what is high on both lists, by words and by meaning, comes before what is on one. Blocks."""
    words = by_words(kiln.index.database, text, limit)
    near = [hit for hit, cosine in _nearest(kiln, text, limit) if cosine >= _NEAR]
    hits = {hit.note: hit for hit in near} | {hit.note: hit for hit in words}
    scores: dict[int, float] = {}
    for ranked, weight in ((words, 1.0), (near, _MEANING)):
        for place, hit in enumerate(ranked):
            scores[hit.note] = scores.get(hit.note, 0.0) + weight * _K / (_K + place)
    most = (1.0 if words else 0.0) + (_MEANING if near else 0.0)
    return best([_found(kiln, hits[note], score / most) for note, score in scores.items()], limit)


def retrieve(kiln: Kiln, message: str, limit: int) -> list[FoundNote]:
    """The notes that are nearest in meaning, with the head of their text; by words where nothing can tell meanings. Blocks."""
    if kiln.vectors() is None:
        found = search(kiln, message, limit)
    else:
        found = [_found(kiln, hit, min(1.0, max(0.0, cosine))) for hit, cosine in _nearest(kiln, message, limit)]
    return [_with_head(kiln, note) for note in best(found, limit)]


def best(found: list[FoundNote], limit: int) -> list[FoundNote]:
    """The best of what was found, best first; those that are equally good by path."""
    return sorted(found, key=lambda note: (-note.score, note.id.path, note.id.kiln))[:limit]


def _nearest(kiln: Kiln, text: str, limit: int) -> list[tuple[Hit, float]]:
    vectors = kiln.vectors()
    if vectors is None or not text.strip():
        return []
    near = vectors.nearest(text, limit)
    with kiln.index.database.read() as connection:
        return [(hit, cosine) for number, cosine in near if (hit := by_number(connection, number)) is not None]


def _with_head(kiln: Kiln, note: FoundNote) -> FoundNote:
    try:
        head = read_text(kiln, note.id.path)[:SNIPPET_CHARACTERS]
    except NoteProblem:
        head = " ".join([note.title, *(f"#{tag}" for tag in note.tags)])
    return FoundNote(note.id, note.title, note.score, head, note.tags)


def _found(kiln: Kiln, hit: Hit, score: float) -> FoundNote:
    return FoundNote(NoteId(kiln.name, hit.path), hit.title, score, hit.snippet, hit.tags)
