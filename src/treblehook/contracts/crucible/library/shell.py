"""`cru.shell`: run programs, without a shell (crucible.md 10.2).

- A status other than 0 is no error; `exit_code` is -1 for a program that a signal ended. What cannot be started, is refused by name or
  outlives `timeout` raises, and the last one's whole process group is ended; so it is when the handler itself is out of time.
- There is no deadline but that of the handler.
- `rm`, `sudo`, `chmod` and `chown` are refused by name, as they always were: `cru.fs` does what the first is for, and the `bash` tool
  through `cru.tools.call` asks the user's rules. It keeps accidents away and is no wall: `sh -c` is not looked into.
"""

import os
import shutil
from typing import Any, Final

from treblehook.contracts.crucible.library import spawn
from treblehook.contracts.crucible.library.arguments import Arguments
from treblehook.contracts.crucible.library.command import OUTPUT_BYTES, Command
from treblehook.contracts.crucible.library.kinds import OCTETS, WORD
from treblehook.contracts.crucible.library.library import Library
from treblehook.runtimes.lua import LuaRaise
from treblehook.runtimes.process import Finished, Limits, ProcessError

INPUT_BYTES: Final = 16 * 1024 * 1024
LINGER_SECONDS: Final = 1.0
"""How long, after the program has exited, its background processes may go on holding an output."""
_LIMITS: Final = Limits(
    stdin_bytes=INPUT_BYTES, stdout_bytes=OUTPUT_BYTES, stderr_bytes=OUTPUT_BYTES, overflow="cut", linger_seconds=LINGER_SECONDS
)


def install(library: Library) -> None:
    library.lua.provide_async("cru.shell.exec", lambda *given: _exec(library, given))
    library.lua.provide("cru.shell.which", lambda *given: _which(library, given))
    spawn.install(library)


async def _exec(library: Library, given: tuple[object, ...]) -> dict[str, Any]:
    call = Arguments("cru.shell.exec", given)
    command = Command(library, call, "stdin")
    try:
        finished = await library.services.processes.run(
            command.argv,
            command.options.read("stdin", OCTETS, b""),
            limits=_LIMITS,
            timeout_seconds=command.timeout,
            cwd=command.cwd,
            env=command.env,
        )
    except ProcessError as error:
        raise LuaRaise(f"cru.shell.exec: {error}") from error
    return _result(finished)


def _result(finished: Finished) -> dict[str, Any]:
    return {
        "success": finished.status == 0,
        "exit_code": max(finished.status, -1),
        "stdout": finished.stdout,
        "stderr": finished.stderr,
        "truncated": finished.stdout_cut or finished.stderr_cut,
    }


def _which(library: Library, given: tuple[object, ...]) -> str | None:
    """The absolute path of a program on PATH, nil where there is none."""
    name = Arguments("cru.shell.which", given).take("program", WORD)
    found = shutil.which(name, path=library.services.environ.get("PATH", os.defpath))
    return None if found is None else os.path.abspath(found)
