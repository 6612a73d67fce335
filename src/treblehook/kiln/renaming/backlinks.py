"""The notes that link to a note."""

from treblehook.host.notes import NoteId, NoteProblem
from treblehook.kiln.editing import read_text
from treblehook.kiln.kiln import Kiln
from treblehook.kiln.parsing import link_key, links_of
from treblehook.kiln.renaming.meaning import Meaning


def backlinks(kiln: Kiln, path: str) -> list[NoteId]:
    """The notes whose links mean the note at `path`, by path; itself too, where it links to itself. Blocks."""
    key = link_key(path)
    meaning = Meaning({key: kiln.index.named_like(path)})
    return [NoteId(kiln.name, source) for source in kiln.index.linking([key]) if _links(kiln, source, path, meaning)]


def _links(kiln: Kiln, source: str, path: str, meaning: Meaning) -> bool:
    try:
        text = read_text(kiln, source)
    except NoteProblem:
        # It has gone, or cannot be read any more.
        return False
    canvas = source.lower().endswith(".canvas")
    return any(meaning.of(link, source) == path for link in links_of(text, canvas=canvas))
