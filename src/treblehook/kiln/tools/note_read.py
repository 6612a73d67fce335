"""The tool `note_read`."""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct

from treblehook.host.notes import NoteId, Notes
from treblehook.host.tool import ToolContext, ToolOutput, ToolSpec
from treblehook.host.tools.inputs import checked, schema_of
from treblehook.kiln.tools.target import kiln_of, told


class NoteReadInput(Struct, forbid_unknown_fields=True):
    """What `note_read` takes."""

    path: Annotated[str, Meta(min_length=1, description="The note's path inside its kiln, as note_search answers it.")]
    kiln: Annotated[str, Meta(description="The note's kiln; need not be given where the session has only one.")] = ""


class NoteRead:
    """Answers the whole text of a note."""

    def __init__(self, notes: Notes, kilns: Sequence[str]) -> None:
        self._notes = notes
        self._kilns = tuple(kilns)
        self.spec = ToolSpec(
            name="note_read",
            description=f"Reads one of the user's notes (kilns: {', '.join(kilns)}): its whole text, and nothing else.",
            parameters=schema_of(NoteReadInput),
            main_argument="path",
        )

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Read. Raises ToolInputInvalid."""
        wanted = checked(NoteReadInput, arguments)
        note = NoteId(kiln_of(wanted.kiln, self._kilns), wanted.path)

        async def work() -> str:
            return await self._notes.read(note) or f"[{note.path} is empty.]"

        return await told(work())
