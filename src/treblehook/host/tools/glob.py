"""The tool `glob`: files and folders by the pattern of their path."""

import heapq
import os
import re
from pathlib import Path
from threading import Event
from typing import Annotated, Any

from msgspec import Meta, Struct

from treblehook.host.tool import ToolContext, ToolInputInvalid, ToolOutput, ToolSpec
from treblehook.host.tools.files import Refused, in_thread, located, shown
from treblehook.host.tools.inputs import checked, schema_of
from treblehook.host.tools.walk import alternatives, is_folder, matches

SHOWN = 1000
COLLECTED = 100_000
PATTERNS = 100
"""How many patterns the braces of one may stand for."""


class GlobInput(Struct, forbid_unknown_fields=True):
    """What `glob` takes."""

    pattern: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=4096,
            description="For example *.py, src/**/*.{ts,tsx} or **/test_*. * and ? match inside one name, ** any number of folders.",
        ),
    ]
    path: Annotated[str, Meta(min_length=1, description="The folder where the pattern starts; the workspace when left out.")] = "."


class Glob:
    """Lists what matches, newest first, so that what a limit cuts off is the oldest; with `within` only what lies, all links followed,
    in that folder."""

    spec = ToolSpec(
        name="glob",
        description=(
            "Finds files and folders by a pattern of their path, newest first; the names of folders end in a slash. Names that begin "
            f"with a dot are found too, .git only if the pattern begins with it. At most {SHOWN} are shown. The pattern * lists a folder."
        ),
        parameters=schema_of(GlobInput),
        main_argument="pattern",
    )

    def __init__(self, within: Path | None = None) -> None:
        self._within = within

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Search. Raises ToolInputInvalid."""
        wanted = checked(GlobInput, arguments)
        patterns = alternatives(wanted.pattern, PATTERNS)
        if patterns is None:
            raise ToolInputInvalid(f"`pattern`: its braces stand for more than {PATTERNS} patterns.")

        def work(given_up: Event) -> str:
            base = located(wanted.path, context.workspace)
            if not base.is_dir():
                raise Refused(f"{shown(base, context.workspace)} is no folder.")
            found: dict[str, int] = {}
            for pattern in patterns:
                _collect(base, pattern, found, given_up, self._within)
            return _listing(found, context.workspace)

        return await in_thread(f"Cannot search {wanted.path}", work)


def _collect(base: Path, pattern: str, found: dict[str, int], given_up: Event, within: Path | None) -> None:
    """Add what matches, with its time of change in ns; a folder's path ends in a slash."""
    start, rest = _fixed_start(pattern)
    for entry in matches(os.path.join(base, start), rest, given_up):
        if len(found) >= COLLECTED:
            return
        if within is not None and not Path(os.path.realpath(entry.path)).is_relative_to(within):
            continue
        try:
            changed = entry.stat(follow_symlinks=False).st_mtime_ns
        except FileNotFoundError:
            # Gone since the folder was read.
            continue
        found[entry.path + "/" if is_folder(entry) else entry.path] = changed


def _fixed_start(pattern: str) -> tuple[str, str]:
    """The folders before the first wildcard, which need no search (they may be `..`, `~` or absolute), and the rest."""
    names = pattern.split("/")
    fixed = next((at for at, name in enumerate(names) if re.search(r"[*?\[]", name)), len(names) - 1)
    start = "/".join(names[:fixed]) or ("/" if fixed else "")
    return os.path.expanduser(start), "/".join(names[fixed:])


def _listing(found: dict[str, int], workspace: Path) -> str:
    if not found:
        return "[Nothing matches.]"
    # Of equal age, in the order of the alphabet.
    newest = heapq.nsmallest(SHOWN, found, key=lambda path: (-found[path], path))
    rows = [shown(os.path.normpath(path) + ("/" if path.endswith("/") else ""), workspace) for path in newest]
    if len(found) > SHOWN:
        count = f"more than {COLLECTED}" if len(found) == COLLECTED else len(found)
        rows.append(f"[These are the newest {SHOWN} of {count}; a narrower pattern or path shows the others.]")
    return "\n".join(rows)
