"""The tool `note_search`."""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct

from treblehook.host.notes import FoundNote, Notes
from treblehook.host.tool import ToolContext, ToolOutput, ToolSpec
from treblehook.host.tools.inputs import checked, schema_of
from treblehook.kiln.tools.target import kiln_of, told


class NoteSearchInput(Struct, forbid_unknown_fields=True):
    """What `note_search` takes."""

    query: Annotated[str, Meta(min_length=1, description='What to look for: words, "a phrase", or a question.')]
    kiln: Annotated[str, Meta(description="The kiln to look in; all of the session's when left out.")] = ""
    limit: Annotated[int, Meta(ge=1, le=50, description="How many notes to answer at most.")] = 10


class NoteSearch:
    """Finds notes by words and by meaning."""

    def __init__(self, notes: Notes, kilns: Sequence[str]) -> None:
        self._notes = notes
        self._kilns = tuple(kilns)
        self.spec = ToolSpec(
            name="note_search",
            description=(
                f"Searches the user's notes (kilns: {', '.join(kilns)}), by words and by meaning. Answers the best ones, each with its "
                "kiln, path, title, tags and a piece of its text; note_read shows a whole note."
            ),
            parameters=schema_of(NoteSearchInput),
            main_argument="query",
        )

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Search. Raises ToolInputInvalid."""
        wanted = checked(NoteSearchInput, arguments)
        kilns = (kiln_of(wanted.kiln, self._kilns),) if wanted.kiln else self._kilns

        async def work() -> str:
            found = await self._notes.search(wanted.query, kilns=kilns, limit=wanted.limit)
            return "\n\n".join(map(_shown, found)) or "No note was found."

        return await told(work())


def _shown(note: FoundNote) -> str:
    tags = f"  {' '.join(f'#{tag}' for tag in note.tags)}" if note.tags else ""
    return f"{note.id.kiln}: {note.id.path}\n{note.title}{tags}\n{' '.join(note.snippet.split())}".rstrip()
