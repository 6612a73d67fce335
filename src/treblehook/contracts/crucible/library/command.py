"""What the functions that run a program have in common: program, arguments, folder, environment, and what is refused."""

import os
from collections.abc import Mapping
from typing import Final

from treblehook.contracts.crucible.library.arguments import Arguments, Options
from treblehook.contracts.crucible.library.kinds import ARGUMENT, PATH, SOME_SECONDS, list_of, map_of
from treblehook.contracts.crucible.library.library import Library

REFUSED: Final = ("rm", "sudo", "chmod", "chown")
OUTPUT_BYTES: Final = 4 * 1024 * 1024
"""What is kept of each output; `truncated` in a result says that there was more."""


class Command:
    """What `exec` and `spawn` have in common: the program, its arguments, folder and environment. Raises `LuaRaise`."""

    def __init__(self, library: Library, call: Arguments, *more: str) -> None:
        program = call.take("program", PATH)
        self.argv = [program, *call.take("args", list_of(ARGUMENT))]
        self.options: Options = call.options("cwd", "env", "timeout", *more)
        self.cwd = str(library.located(self.options.read("cwd", PATH, ".")))
        self.env: Mapping[str, str] = {**library.services.environ, **self.options.read("env", map_of(ARGUMENT), {})}
        self.timeout = self.options.read("timeout", SOME_SECONDS)
        if os.path.basename(program) in REFUSED:
            call.refuse(f"'{program}' is not run from a hook (nor are {', '.join(REFUSED)}); use cru.fs, or cru.tools.call(\"bash\", …)")
