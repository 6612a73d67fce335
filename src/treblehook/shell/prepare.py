"""A command of a shell tool, resolved once: what is approved is what is run (murmur.md 3.5, 5.6)."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from treblehook.lifecycle import PreparedCall
from treblehook.shell.recipes import recipe_of
from treblehook.shell.resolve import resolve_executable
from treblehook.shell.words import split_words

INTERPRETERS: Final = frozenset(("bash", "sh", "zsh", "fish", "dash", "ksh"))


def prepare_command(command: str, *, tool: str, cwd: Path, environ: Mapping[str, str]) -> PreparedCall:
    """`command` as the tool `tool`, a program on PATH, gets it; blanks at both ends do not count.

    An interpreter gets it as the script of `-c`, any other program as words, with the recipe that make, just or npm would run in
    `cwd`. `executable` is canonical, or the bare name where nothing was found: such a call cannot run.
    """
    text = command.strip()
    found = resolve_executable(tool, environ.get("PATH", os.defpath), cwd)
    executable = tool if found is None else str(found)
    if tool in INTERPRETERS:
        return PreparedCall(tool=tool, command=text, executable=executable, argv=("-c", text), script=text)
    argv = tuple(split_words(text))
    return PreparedCall(tool=tool, command=text, executable=executable, argv=argv, recipe=recipe_of(tool, argv, cwd, environ))
