"""The tool `note_rename`."""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct

from treblehook.host.notes import NoteId, Notes
from treblehook.host.tool import ToolContext, ToolOutput, ToolSpec
from treblehook.host.tools.inputs import checked, schema_of
from treblehook.kiln.tools.target import kiln_of, told


class NoteRenameInput(Struct, forbid_unknown_fields=True):
    """What `note_rename` takes."""

    path: Annotated[str, Meta(min_length=1, description="The note's path inside its kiln.")]
    destination: Annotated[str, Meta(min_length=1, description="Its new path inside the same kiln, with its suffix.")]
    kiln: Annotated[str, Meta(description="The note's kiln; need not be given where the session has only one.")] = ""


class NoteRename:
    """Moves a note and repoints the links that lead to it."""

    def __init__(self, notes: Notes, kilns: Sequence[str]) -> None:
        self._notes = notes
        self._kilns = tuple(kilns)
        self.spec = ToolSpec(
            name="note_rename",
            description=(
                f"Renames or moves one of the user's notes (kilns: {', '.join(kilns)}) and repoints the links of other notes to it. "
                "Answers which notes were changed. Nothing is overwritten."
            ),
            parameters=schema_of(NoteRenameInput),
            main_argument="path",
            asks=True,
        )

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Rename. Raises ToolInputInvalid."""
        wanted = checked(NoteRenameInput, arguments)
        note = NoteId(kiln_of(wanted.kiln, self._kilns), wanted.path)

        async def work() -> str:
            rewritten = await self._notes.rename(note, wanted.destination)
            changed = (
                f" Links were repointed in: {', '.join(one.path for one in rewritten)}." if rewritten else " No other note links to it."
            )
            return f"{note.path} is now {wanted.destination}.{changed}"

        return await told(work())
