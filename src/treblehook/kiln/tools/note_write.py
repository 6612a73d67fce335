"""The tool `note_write`."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from treblehook.host.notes import NoteId, Notes
from treblehook.host.tool import ToolContext, ToolOutput, ToolSpec
from treblehook.host.tools.inputs import checked, schema_of
from treblehook.kiln.tools.target import kiln_of, told

_SAID: Final = {"created": "Created", "modified": "Replaced", "unchanged": "Nothing to do, this is the text already:"}


class NoteWriteInput(Struct, forbid_unknown_fields=True):
    """What `note_write` takes."""

    path: Annotated[str, Meta(min_length=1, description="The note's path inside its kiln, with its suffix: Projects/Island.md.")]
    content: Annotated[str, Meta(description="The whole text of the note, front matter included.")]
    kiln: Annotated[str, Meta(description="The note's kiln; need not be given where the session has only one.")] = ""


class NoteWrite:
    """Creates or replaces a note at one stroke."""

    def __init__(self, notes: Notes, kilns: Sequence[str]) -> None:
        self._notes = notes
        self._kilns = tuple(kilns)
        self.spec = ToolSpec(
            name="note_write",
            description=(
                f"Writes one of the user's notes whole (kilns: {', '.join(kilns)}): creates it, with its folders, or replaces it. Notes "
                "link to each other by [[name of the note]]."
            ),
            parameters=schema_of(NoteWriteInput),
            main_argument="path",
            asks=True,
        )

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Write. Raises ToolInputInvalid."""
        wanted = checked(NoteWriteInput, arguments)
        note = NoteId(kiln_of(wanted.kiln, self._kilns), wanted.path)

        async def work() -> str:
            return f"{_SAID[await self._notes.write(note, wanted.content)]} {note.path}."

        return await told(work())
