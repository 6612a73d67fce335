"""`just RECIPE` (murmur.md 5.7)."""

import os
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from treblehook.shell.recipes.files import DEEPEST, Files, Unreadable
from treblehook.shell.recipes.options import read_arguments

_APART: Final = {"-f": "file", "--justfile": "file", "-d": "directory", "--working-directory": "directory"}
_NAMES: Final = ("justfile", ".justfile", "Justfile", "JUSTFILE")
_IMPORT: Final = re.compile(r"""import(?P<optional>\?)?\s+(?P<quote>['"])(?P<path>.*?)(?P=quote)\s*(?:#.*)?""")
_SYSTEMS: Final = re.compile(r"\[[^\]]*\b(linux|macos|unix|windows|openbsd|freebsd|netbsd|dragonfly|android)\b[^\]]*\]")


def just_recipe(argv: Sequence[str], files: Files) -> str | None:
    """The body of the one recipe that is named, without its common indentation and not expanded. Raises `Unreadable`."""
    arguments = read_arguments(argv, _APART, {})
    if "::" in arguments.name:
        return None
    justfile = _justfile(files, arguments.options.get("directory"), arguments.options.get("file"))
    lines = list(_lines(files, justfile, 1))
    _check_top(lines)
    headers = [at for at, line in enumerate(lines) if _name(lines, at, line) == arguments.name]
    if len(headers) != 1 or (headers[0] and _for_a_system(lines, headers[0])):
        return None
    return _body(lines, headers[0])


def _justfile(files: Files, directory: str | None, name: str | None) -> str:
    folder = files.folder(directory or ".")
    if name is not None:
        if directory is not None and os.path.realpath(os.path.join(folder, name)) != os.path.realpath(os.path.join(files.root, name)):
            # just takes -f from where it was started, whatever -d says.
            raise Unreadable("-f and -d name different files")
        return os.path.join(folder, name)
    found = [path for name in _NAMES if files.exists(path := os.path.join(folder, name))]
    if len(found) != 1:
        # Of several, just chooses none.
        raise Unreadable("there is not exactly one justfile")
    return found[0]


def _lines(files: Files, path: str, depth: int, *, optional: bool = False) -> Iterator[str]:
    if depth > DEEPEST + 1:
        raise Unreadable(f"imports are nested more than {DEEPEST} deep")
    text = files.text(path)
    if text is None:
        if optional:
            return
        raise Unreadable(f"{path} is not there")
    for line in text.split("\n"):
        line = line.removesuffix("\r")
        found = _IMPORT.fullmatch(line.strip())
        if found is None:
            yield line
        elif line[:1].isspace():
            raise Unreadable("what looks like an import stands in a recipe")
        else:
            yield from _lines(files, os.path.join(os.path.dirname(path), found["path"]), depth + 1, optional=bool(found["optional"]))
            # An imported recipe ends with its file.
            yield "# end of an imported file"


def _check_top(lines: list[str]) -> None:
    """Raises `Unreadable` where a text outside recipes runs over several lines: what it holds may look like recipes."""
    for line in lines:
        if line[:1].isspace() or not line or line.startswith("#"):
            continue
        bare = re.sub(r"'''.*?'''|\"\"\".*?\"\"\"|```.*?```|'[^']*'|\"(?:\\.|[^\"\\])*\"|`[^`]*`|#.*", "", line)
        if any(quote in bare for quote in "'\"`"):
            raise Unreadable("a text runs over several lines")


def _name(lines: list[str], at: int, line: str) -> str | None:
    """The name in the header of a recipe; None for any other line."""
    if not line or line[0] in " \t#[" or line.endswith("\\") or (at and lines[at - 1].endswith("\\") and not lines[at - 1][:1].isspace()):
        return None
    before, colon, after = line.partition(":")
    if not colon or after.startswith("=") or not before.split():
        return None
    return before.split()[0].removeprefix("@")


def _for_a_system(lines: list[str], header: int) -> bool:
    """Whether an attribute above the header binds it to an operating system."""
    for line in reversed(lines[:header]):
        if not line.startswith(("[", "#")):
            return False
        if _SYSTEMS.search(line):
            return True
    return False


def _body(lines: list[str], header: int) -> str | None:
    body: list[str] = []
    for line in lines[header + 1 :]:
        if line.strip() and not line[0].isspace():
            break
        body.append(line if line.strip() else "")
    while body and not body[-1]:
        body.pop()
    return textwrap.dedent("\n".join(body)) if body else None
