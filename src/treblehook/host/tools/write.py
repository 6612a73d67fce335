"""The tool `write`: a whole file."""

from threading import Event
from typing import Annotated, Any

from msgspec import Meta, Struct

from treblehook.host.tool import ToolContext, ToolOutput, ToolSpec
from treblehook.host.tools.files import in_thread, located, shown, write_file
from treblehook.host.tools.inputs import checked, schema_of


class WriteInput(Struct, forbid_unknown_fields=True):
    """What `write` takes."""

    path: Annotated[str, Meta(min_length=1, description="The file. Relative paths start at the workspace; ~ is the home folder.")]
    content: Annotated[str, Meta(description="The whole content of the file, written as UTF-8, exactly as it is.")]


class Write:
    """Creates or replaces a file at one stroke, with the folders that it needs."""

    spec = ToolSpec(
        name="write",
        description=(
            "Writes a whole file: creates it, with its folders, or replaces what it held. To change a part of a file use edit, "
            "which needs only that part."
        ),
        parameters=schema_of(WriteInput),
        main_argument="path",
        asks=True,
    )

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Write. Raises ToolInputInvalid."""
        wanted = checked(WriteInput, arguments)
        data = wanted.content.encode()

        def work(given_up: Event) -> str:
            path = located(wanted.path, context.workspace)
            name = shown(path, context.workspace)
            replaced = write_file(path, name, data)
            return f"{'Replaced' if replaced else 'Created'} {name}: {len(data)} bytes."

        return await in_thread(f"Cannot write {wanted.path}", work)
