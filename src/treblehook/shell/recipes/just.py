"""`just RECIPE` (murmur.md 5.7)."""

import os
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from treblehook.shell.recipes.files import DEEPEST, Files, Unreadable
from treblehook.shell.recipes.options import read_arguments

_APART: Final = {"-f": "file", "--justfile": "file", "-d": "directory", "--working-directory": "directory"}
_BLANKS: Final = " \t"
_QUOTES: Final = "'\"`"
_NAMES: Final = ("justfile", ".justfile", "Justfile", "JUSTFILE")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_IMPORT: Final = re.compile(r"""import(?P<optional>\?)?[ \t]+(?P<quote>['"])(?P<path>[^'"\\]+)(?P=quote)[ \t]*(?:#.*)?""")
_SYSTEMS: Final = re.compile(r"\b(linux|macos|unix|windows|openbsd|freebsd|netbsd|dragonfly|android)\b")
_TEXTS: Final = re.compile(r"""'{3}.*?'{3}|"{3}.*?"{3}|`{3}.*?`{3}|'[^']*'|"(?:\\.|[^"\\])*"|`[^`]*`|#.*""")
_INTERPOLATION: Final = re.compile(r"""\{\{(?:'[^']*'|"(?:\\.|[^"\\])*"|`[^`]*`|[^'"`])*?\}\}""")
_HEADER: Final = re.compile(rf"@?[ \t]*(?P<name>{_NAME.pattern})(?![ \t]*:=|[ \t]+{_NAME.pattern}[ \t]*:=).*?:")


def just_recipe(argv: Sequence[str], files: Files) -> str | None:
    """The body of the one recipe that is named, without its common indentation and not expanded. Raises `Unreadable`."""
    arguments = read_arguments(argv, _APART, {})
    if not _NAME.fullmatch(arguments.name):
        # `a::b` is in a module, `a/b` in another folder.
        return None
    justfile = _justfile(files, arguments.options.get("directory"), arguments.options.get("file"))
    lines = list(_lines(files, justfile, 1))
    for line in lines:
        _check(line)
    headers = [at for at, line in enumerate(lines) if (found := _HEADER.match(line)) and found["name"] == arguments.name]
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
    found = [name for name in files.names(folder) if name.lower() in ("justfile", ".justfile")]
    if len(found) != 1 or found[0] not in _NAMES:
        # Of several, just chooses none, and it does not tell upper from lower case.
        raise Unreadable("there is not exactly one justfile")
    return os.path.join(folder, found[0])


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
        found = _IMPORT.fullmatch(line.strip(_BLANKS))
        if found is None:
            if re.match("import\\b(?!.*:)", line):
                raise Unreadable("an import is written in an unusual way")
            yield line
        elif line[:1] in _BLANKS:
            raise Unreadable("what looks like an import stands in a recipe")
        else:
            yield from _lines(files, os.path.join(os.path.dirname(path), found["path"]), depth + 1, optional=bool(found["optional"]))
            # An imported recipe ends with its file.
            yield "# end of an imported file"


def _check(line: str) -> None:
    """Raises `Unreadable` where something runs over several lines, whose text may look like recipes, or where a recipe may be another's."""
    if "allow-duplicate-recipes" in line:
        raise Unreadable("recipes may be there twice")
    if line[:1] in (" ", "\t"):
        rest = _INTERPOLATION.sub("", line.replace("{{{{", ""))
        if "{{" in rest or ("{{" in line and any(mark * 3 in line for mark in _QUOTES)):
            raise Unreadable("an interpolation may run over several lines")
        return
    if line.startswith("#"):
        return
    bare = _TEXTS.sub("", line)
    if any(quote in bare for quote in _QUOTES) or any(bare.count(left) != bare.count(right) for left, right in ("()", "[]", "{}")):
        raise Unreadable("a text or a bracket runs over several lines")
    if bare.endswith("\\") or (bare.startswith("[") and not bare.rstrip(_BLANKS).endswith("]")):
        raise Unreadable("a line outside recipes goes on")


def _for_a_system(lines: list[str], header: int) -> bool:
    """Whether an attribute above the header binds it to an operating system."""
    for line in reversed(lines[:header]):
        if not line.startswith(("[", "#")):
            return False
        if line.startswith("[") and _SYSTEMS.search(line):
            return True
    return False


def _body(lines: list[str], header: int) -> str | None:
    body: list[str] = []
    for line in lines[header + 1 :]:
        blank = not line.strip(_BLANKS)
        if not blank and line[0] not in _BLANKS:
            break
        body.append("" if blank else line)
    while body and not body[-1]:
        body.pop()
    return textwrap.dedent("\n".join(body)) if body and not body[-1].endswith("\\") else None
