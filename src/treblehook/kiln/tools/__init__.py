"""The tools with which a model reaches notes live here, one file each; what a note is, and who may call a tool, is decided elsewhere.

`target.py` is how they find the note that is meant.
"""

from collections.abc import Sequence

from treblehook.host.notes import Notes
from treblehook.host.tool import Tool
from treblehook.kiln.tools.note_read import NoteRead
from treblehook.kiln.tools.note_rename import NoteRename
from treblehook.kiln.tools.note_search import NoteSearch
from treblehook.kiln.tools.note_write import NoteWrite

__all__ = ["NoteRead", "NoteRename", "NoteSearch", "NoteWrite", "builtin_note_tools"]


def builtin_note_tools(notes: Notes, kilns: Sequence[str]) -> list[Tool]:
    """The tools of a session that has these kilns; none without a kiln. Other kilns are out of their reach."""
    if not kilns:
        return []
    return [NoteSearch(notes, kilns), NoteRead(notes, kilns), NoteWrite(notes, kilns), NoteRename(notes, kilns)]
