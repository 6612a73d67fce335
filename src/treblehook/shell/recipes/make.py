"""`make TARGET` (murmur.md 5.7)."""

import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from treblehook.shell.recipes.files import Files
from treblehook.shell.recipes.make_body import body_of
from treblehook.shell.recipes.make_lines import STRANGE, Line, is_rule, lines_of, prerequisites_of, targets_of, uncommented, with_conditions
from treblehook.shell.recipes.make_quick import NotSure, quick_body
from treblehook.shell.recipes.make_remade import check_stems, check_targets, names_of_makefiles
from treblehook.shell.recipes.options import read_arguments

_APART: Final = {"-f": "file", "-C": "directory"}
_JOINED: Final = {"--file": "file", "--makefile": "file", "--directory": "directory"}


def make_recipe(argv: Sequence[str], files: Files) -> str | None:
    """The recipe of the one target that is named, not expanded. Raises `Unreadable`."""
    arguments = read_arguments(argv, _APART, _JOINED)
    folder = files.folder(arguments.options.get("directory", "."))
    makefile = _makefile(files, folder, arguments.options.get("file"))
    if makefile is None or arguments.name.startswith("./") or any(character in arguments.name for character in f"%{STRANGE}"):
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
    targets = [targets_of(line.text) for line in lines]
    check_targets(files, {target for some in targets for target in some}, names_of_makefiles(files, folder), folder)
    rules = [at for at, some in enumerate(targets) if name in some]
    if len(rules) != 1:
        return None
    wanted = set(prerequisites_of(lines[rules[0]].text))
    if any(wanted.intersection(some) and _makes_something(lines, at) for at, some in enumerate(targets)):
        # make runs their recipes too, and half of what runs is worse than nothing (murmur.md ).
        return None
    check_targets(files, {target for some in targets for target in some if "%" in target or target.startswith(".")}, wanted, folder)
    check_stems(files, wanted, folder)
    return body_of(lines, rules[0])


def _makes_something(lines: list[Line], at: int) -> bool:
    """Whether the rule at `at` has a recipe, or prerequisites that may have one."""
    behind = uncommented(lines[at].text).partition(":")[2].strip(" \t:")
    following = next((line.text for line in lines[at + 1 :] if line.text.strip()), "")
    return bool(behind) or following.startswith("\t")
