"""What a model reads of the notes that were found for it."""

import re
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from treblehook.lifecycle import Message, Note

NOTES_TAG: Final = "precognition"
"""Marks the message, so that hooks and the context know it."""

_TAG: Final = re.compile(r"<(?=\s*/?\s*system\b)", re.IGNORECASE)


def capped(notes: Sequence[Note], budget: int) -> tuple[Note, ...]:
    """The notes with texts of at most `budget` characters in all: where they have more, each is cut to the same share of it."""
    if sum(len(note.snippet) for note in notes) <= budget:
        return tuple(notes)
    share = budget // len(notes)
    return tuple(replace(note, snippet=note.snippet[:share]) for note in notes)


def rendered(notes: Sequence[Note], *, kilns: int) -> str:
    """The built-in text; which kiln a note is from is said where `kilns`, those that were searched, are several.

    What a note says stays inside the block: a tag in it that would end the block, or begin another, is no tag any more.
    """
    found = "1 note that may be relevant" if len(notes) == 1 else f"{len(notes)} notes that may be relevant"
    parts = [f"{found} to the user's message:", *(_section(note, named=kilns > 1) for note in notes)]
    return "<system>\n" + "\n\n".join(parts) + "\n</system>"


def _section(note: Note, *, named: bool) -> str:
    kiln = f" [{note.kiln}]" if named and note.kiln else ""
    # A file's name may have line breaks.
    title = " ".join(note.title.splitlines())
    return _TAG.sub("&lt;", f"## {title}{kiln}\n\nSimilarity: {note.score:.2f}\n\n{note.snippet}".rstrip())


def block(text: str) -> Message | None:
    """The message for the head of the context; none for a blank text."""
    return Message("system", text, source=NOTES_TAG, tags=(NOTES_TAG,)) if text.strip() else None
