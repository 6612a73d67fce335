"""The tool `grep`: lines of files by a regular expression."""

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct

from treblehook.host.tool import ToolContext, ToolInputInvalid, ToolOutput, ToolSpec
from treblehook.host.tools.capture import Capture
from treblehook.host.tools.files import joined
from treblehook.host.tools.inputs import checked, schema_of
from treblehook.host.tools.walk import SKIPPED
from treblehook.runtimes.process import Limits, ProcessError, ProcessRuntime, Stream, TimedOut

MATCHES = 500
CHARACTERS = 300
SECONDS = 30.0
LIMITS = Limits(stdin_bytes=1_000_000, stdout_bytes=0, overflow="cut")
WORKER = Path(__file__).with_name("grep_worker.py")


class GrepInput(Struct, forbid_unknown_fields=True):
    """What `grep` takes."""

    pattern: Annotated[
        str,
        Meta(min_length=1, max_length=10_000, description="A Python regular expression, looked for in every line; (?i) ignores case."),
    ]
    path: Annotated[str, Meta(min_length=1, description="The folder or file to search; the workspace when left out.")] = "."


class Grep:
    """Searches in a process of its own: a regular expression can take for ever, and only a process can be ended then.

    With `within` only files that lie, all links followed, in that folder."""

    spec = ToolSpec(
        name="grep",
        description=(
            "Searches the text files of a folder, with all folders below it, for lines that match a regular expression, and shows "
            f"them as path:line: text. Binary files, .git and symbolic links to folders are left out. At most {MATCHES} lines."
        ),
        parameters=schema_of(GrepInput),
        main_argument="pattern",
    )

    def __init__(self, runtime: ProcessRuntime, seconds: float = SECONDS, within: Path | None = None) -> None:
        self._runtime = runtime
        self._within = within
        self._seconds = seconds

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Search. Raises ToolInputInvalid."""
        wanted = checked(GrepInput, arguments)

        request = _request(wanted, context.workspace, self._within)
        found = Capture(context.progress)

        def collect(stream: Stream, chunk: bytes) -> None:
            if stream == "stdout":
                found.take(stream, chunk)

        # Isolated and without site-packages: it starts in 20 ms, and nothing of the workspace is imported.
        argv = [sys.executable, "-ISB", str(WORKER)]
        try:
            finished = await self._runtime.run(
                argv, request, limits=LIMITS, timeout_seconds=self._seconds, cwd=os.fspath(context.workspace), on_output=collect
            )
        except TimedOut:
            remark = f"Stopped after {self._seconds:g} s: too much to search, or the pattern takes too long (nested repetitions?)."
            return ToolOutput(_report(found, remark), is_error=True)
        except ProcessError as error:
            return ToolOutput(f"The search failed: {error}", is_error=True)
        remarks = finished.stderr.decode("utf-8", "replace").strip()
        if finished.status == 2:
            raise ToolInputInvalid(f"`pattern` is no regular expression: {remarks}.")
        if finished.status != 0:
            return ToolOutput(
                f"Cannot search {wanted.path}: {remarks or f'the search ended with status {finished.status}'}.", is_error=True
            )
        return ToolOutput(_report(found, *remarks.splitlines()))


def _request(wanted: GrepInput, workspace: Path, within: Path | None) -> bytes:
    request = {
        "pattern": wanted.pattern,
        "root": os.path.normpath(joined(wanted.path, workspace)),
        "base": os.fspath(workspace),
        "skipped": list(SKIPPED),
        "matches": MATCHES,
        "characters": CHARACTERS,
        "within": None if within is None else os.fspath(within),
    }
    # The standard library's encoder escapes half surrogates, which stand for bytes of a path that are no UTF-8.
    return json.dumps(request).encode()


def _report(found: Capture, *remarks: str) -> str:
    lines = found.text().rstrip("\n")
    return "\n".join([lines or "[No line matches.]", *(f"[{remark}]" for remark in remarks)])
