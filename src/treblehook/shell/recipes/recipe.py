"""Which reader a tool has."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from treblehook.shell.recipes.files import Files, Unreadable
from treblehook.shell.recipes.just import just_recipe
from treblehook.shell.recipes.make import make_recipe
from treblehook.shell.recipes.npm import npm_recipe

BODY_BYTES: Final = 65_536

_READERS: Final[dict[str, Callable[[Sequence[str], Files], str | None]]] = {
    "make": make_recipe,
    "just": just_recipe,
    "npm": npm_recipe,
}
_ELSEWHERE: Final = {
    "make": re.compile("MAKEFILES|MAKEFLAGS|GNUMAKEFLAGS"),
    "just": re.compile("JUST_JUSTFILE|JUST_JUSTFILE_NAME|JUST_WORKING_DIRECTORY"),
    "npm": re.compile("npm_config_.*(workspace|prefix|config).*", re.IGNORECASE),
}
"""Variables that make the tool read other files than those that are read here, or more."""
_HARMLESS: Final = re.compile(r"(?: *-{0,2}(?:[iksSw]+|j\d*|jobserver-(?:auth|fds)=[\w:,/.-]+|no-print-directory))* *")
"""What a make that this process runs in leaves in MAKEFLAGS."""


def recipe_of(tool: str, argv: Sequence[str], root: Path, environ: Mapping[str, str]) -> str | None:
    """The body of the recipe that `tool` would run with the arguments `argv` in the folder `root`, or None.

    It is known by the name of the tool alone, and reads files inside `root` only. A body of more than 64 KiB is none.
    """
    reader = _READERS.get(tool)
    if reader is None or any(_leads_elsewhere(tool, name, value) for name, value in environ.items()):
        return None
    try:
        body = reader(argv, Files(root))
    except Unreadable:
        return None
    return None if body is None or len(body.encode()) > BODY_BYTES else body


def _leads_elsewhere(tool: str, name: str, value: str) -> bool:
    return _ELSEWHERE[tool].fullmatch(name) is not None and not (value == "" or (name == "MAKEFLAGS" and _HARMLESS.fullmatch(value)))
