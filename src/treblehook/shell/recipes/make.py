"""`make TARGET` (murmur.md 5.7)."""

import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from treblehook.shell.recipes.files import Files
from treblehook.shell.recipes.make_body import body_of
from treblehook.shell.recipes.make_lines import is_rule, lines_of, targets_of, with_conditions
from treblehook.shell.recipes.make_quick import NotSure, quick_body
from treblehook.shell.recipes.options import read_arguments

_APART: Final = {"-f": "file", "-C": "directory"}
_JOINED: Final = {"--file": "file", "--makefile": "file", "--directory": "directory"}


def make_recipe(argv: Sequence[str], files: Files) -> str | None:
    """The recipe of the one target that is named, not expanded. Raises `Unreadable`."""
    arguments = read_arguments(argv, _APART, _JOINED)
    folder = files.folder(arguments.options.get("directory", "."))
    makefile = _makefile(files, folder, arguments.options.get("file"))
    if makefile is None or "$" in arguments.name or "%" in arguments.name:
        return None
    try:
        return quick_body(files, folder, makefile, arguments.name)
    except NotSure:
        # Another look at the same files, which counts them anew.
        return careful_body(Files(Path(files.root)), folder, makefile, arguments.name)


def _makefile(files: Files, folder: str, name: str | None) -> str | None:
    if name is not None:
        return os.path.join(folder, name)
    paths = (os.path.join(folder, name) for name in ("GNUmakefile", "makefile", "Makefile"))
    return next((path for path in paths if files.exists(path)), None)


def careful_body(files: Files, folder: str, makefile: str, name: str) -> str | None:
    """The recipe of `name`, read line by line. Raises `Unreadable`."""
    lines = list(with_conditions(lines_of(files, folder, makefile, 1)))
    if any(line.text.startswith("\t") and line.text.strip() for line in itertools.takewhile(lambda line: not is_rule(line.text), lines)):
        # A recipe without a rule: make refuses the file.
        return None
    rules = [at for at, line in enumerate(lines) if name in targets_of(line.text)]
    return body_of(lines, rules[0]) if len(rules) == 1 else None
