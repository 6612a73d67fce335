"""The tool `edit`: one place of a text file."""

from pathlib import Path
from threading import Event
from typing import Annotated, Any

from msgspec import Meta, Struct

from treblehook.host.tool import ToolContext, ToolOutput, ToolSpec
from treblehook.host.tools.files import Refused, in_thread, located, regular_file, shown, write_file
from treblehook.host.tools.hints import nearest
from treblehook.host.tools.inputs import checked, schema_of
from treblehook.host.tools.text import SAMPLE, encoding_of

MAX_BYTES = 50_000_000
PLACES = 10
"""How many of several places are named."""


class EditInput(Struct, forbid_unknown_fields=True):
    """What `edit` takes."""

    path: Annotated[str, Meta(min_length=1, description="The file. Relative paths start at the workspace; ~ is the home folder.")]
    old: Annotated[
        str,
        Meta(
            min_length=1,
            description="The text to replace, exactly as it is in the file, with its indentation and without the line numbers "
            "that read shows. It must occur exactly once: take in as much of the lines around it as that needs.",
        ),
    ]
    new: Annotated[str, Meta(description="What stands there instead; empty removes the text.")]


class Edit:
    """Replaces a text that occurs once. Encoding and line endings stay; bytes that are no valid text stay as they are."""

    spec = ToolSpec(
        name="edit",
        description=(
            "Replaces one piece of text in a file. The piece must occur exactly once; otherwise nothing is changed and the "
            "result says where it occurs, or what comes nearest to it."
        ),
        parameters=schema_of(EditInput),
        main_argument="path",
        asks=True,
    )

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Edit. Raises ToolInputInvalid."""
        wanted = checked(EditInput, arguments)

        def work(given_up: Event) -> str:
            path = located(wanted.path, context.workspace)
            name = shown(path, context.workspace)
            content = _content(path, name)
            encoding = encoding_of(content[:SAMPLE])
            if encoding is None:
                raise Refused(f"{name} is a binary file; it cannot be edited as text.")
            # Only UTF-8 has room for stray bytes.
            errors = "surrogateescape" if encoding == "utf-8" else "strict"
            try:
                text = content.decode(encoding, errors)
            except UnicodeDecodeError as error:
                raise Refused(f"{name} begins as {encoding} text but is not: {error.reason} at byte {error.start}.") from None
            edited, line = _edited(text, wanted, name)
            write_file(path, name, edited.encode(encoding, errors))
            return f"Replaced the text in line {line} of {name}."

        return await in_thread(f"Cannot edit {wanted.path}", work)


def _content(path: Path, name: str) -> bytes:
    with open(regular_file(path, name), "rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise Refused(f"{name} is longer than {MAX_BYTES} bytes; edit it with a command.")
    return content


def _edited(text: str, wanted: EditInput, name: str) -> tuple[str, int]:
    """The text after the replacement, and the line where it begins. Raises Refused."""
    old, new = wanted.old, wanted.new
    if old == new:
        raise Refused("`old` and `new` are the same; nothing was changed.")
    if text.count("\r\n") * 2 > text.count("\n"):
        # Models write plain line feeds, whatever ends the lines of the file.
        new = _with_returns(new)
        old = old if old in text else _with_returns(old)
    at = text.find(old)
    if at < 0:
        raise Refused(f"`old` does not occur in {name}; nothing was changed.{nearest(old, text)}")
    # One character on, so that occurrences that overlap are seen too.
    if text.find(old, at + 1) >= 0:
        raise Refused(_several(text, old, name))
    return text[:at] + new + text[at + len(old) :], text.count("\n", 0, at) + 1


def _with_returns(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _several(text: str, old: str, name: str) -> str:
    lines: list[int] = []
    count = 0
    at = text.find(old)
    line, seen = 1, 0
    while at >= 0:
        count += 1
        if count <= PLACES:
            line += text.count("\n", seen, at)
            seen = at
            lines.append(line)
        at = text.find(old, at + 1)
    places = ", ".join(map(str, lines)) + (", …" if count > PLACES else "")
    return (
        f"`old` occurs {count} times in {name} (lines {places}); nothing was changed. "
        "Take more of the lines around the right one into `old`, so that it occurs once."
    )
