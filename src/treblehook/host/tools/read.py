"""The tool `read`: a part of a text file, with line numbers."""

import io
import os
from collections.abc import Iterator
from threading import Event
from typing import Annotated, Any

from msgspec import Meta, Struct

from treblehook.host.tool import ToolContext, ToolOutput, ToolSpec
from treblehook.host.tools.files import Refused, in_thread, located, regular_file, shown
from treblehook.host.tools.inputs import checked, schema_of
from treblehook.host.tools.text import MARK, SAMPLE, encoding_of

LINES = 2000
LINE_CHARACTERS = 2000
TOTAL_CHARACTERS = 25_000
"""Below the length at which a result is spilled to a file, which would be the file over again."""

CHUNK = 65_536


class ReadInput(Struct, forbid_unknown_fields=True):
    """What `read` takes."""

    path: Annotated[str, Meta(min_length=1, description="The file. Relative paths start at the workspace; ~ is the home folder.")]
    offset: Annotated[int, Meta(ge=1, description="The first line to show; 1 is the first line of the file.")] = 1
    limit: Annotated[int, Meta(ge=1, description="How many lines to show at most.")] = LINES


class Read:
    """Shows lines as `cat -n` does: number, tab, text. Long lines and long parts are cut, and the result says so."""

    spec = ToolSpec(
        name="read",
        description=(
            "Reads a text file. Every line comes with its number and a tab before it, which are not part of the file. "
            f"At most {LINES} lines and {TOTAL_CHARACTERS} characters at a time; where there is more, the result says with which "
            f"offset to go on. Lines longer than {LINE_CHARACTERS} characters are cut. For folders use glob."
        ),
        parameters=schema_of(ReadInput),
        main_argument="path",
    )

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Read. Raises ToolInputInvalid."""
        wanted = checked(ReadInput, arguments)

        def work(given_up: Event) -> str:
            path = located(wanted.path, context.workspace)
            name = shown(path, context.workspace)
            with open(regular_file(path, name), "rb") as file:
                encoding = encoding_of(file.read(SAMPLE))
                if encoding is None:
                    raise Refused(f"{name} is a binary file of {os.fstat(file.fileno()).st_size} bytes; it cannot be shown as text.")
                file.seek(0)
                text = io.TextIOWrapper(file, encoding, errors="replace", newline="\n")
                return _part(text, name, wanted, given_up)

        return await in_thread(f"Cannot read {wanted.path}", work)


def _part(text: io.TextIOWrapper, name: str, wanted: ReadInput, given_up: Event) -> str:
    rows: list[str] = []
    room = TOTAL_CHARACTERS
    number = 0
    for number, (line, left_out) in enumerate(_lines(text, given_up), start=1):
        if number < wanted.offset:
            continue
        row = f"{number:>6}\t{line}" + (f" [{left_out} more characters in this line]" if left_out else "")
        room -= len(row) + 1
        if len(rows) == wanted.limit or (rows and room < 0):
            rows.append(f"[There is more: go on with offset {number}.]")
            break
        rows.append(row)
    if rows:
        return "\n".join(rows)
    if number == 0 and wanted.offset == 1:
        return f"[{name} is empty.]"
    raise Refused(f"{name} has {number} lines; offset {wanted.offset} is past its end.")


def _lines(text: io.TextIOWrapper, given_up: Event) -> Iterator[tuple[str, int]]:
    """Every line without its end, cut, with the number of characters left out. A line of any length takes little memory."""
    first = True
    while (piece := text.readline(CHUNK)) and not given_up.is_set():
        if first:
            piece = piece.removeprefix(MARK)
            first = False
        line = piece.rstrip("\r\n")
        length = len(line)
        while not piece.endswith("\n") and (piece := text.readline(CHUNK)):
            length += len(piece.rstrip("\r\n"))
        yield line[:LINE_CHARACTERS], max(0, length - LINE_CHARACTERS)
