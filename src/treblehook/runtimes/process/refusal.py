"""Why the system refused to start a program, in words that tell a person what to repair."""

import errno
import os
import re
import shutil
from collections.abc import Mapping


def explain(error: Exception, program: str, cwd: str | None, env: Mapping[str, str] | None) -> str:
    """One clause about `error`, which a spawn of `program` raised."""
    if not isinstance(error, OSError):
        return str(error)
    if cwd is not None and error.filename == cwd:
        return f"the working directory {cwd!r} cannot be entered: {error.strerror}"
    path = _locate(program, cwd, env)
    if error.errno == errno.ENOENT:
        return _explain_missing(path)
    if error.errno == errno.EACCES:
        return _explain_denied(path)
    if error.errno == errno.ENOEXEC:
        return "it is neither a program for this machine nor a script that begins with #!"
    if error.errno == errno.E2BIG:
        return "its arguments and environment are longer than the system allows"
    return os.strerror(error.errno) if error.errno else str(error)


def _locate(program: str, cwd: str | None, env: Mapping[str, str] | None) -> str | None:
    if os.path.dirname(program):
        return os.path.join(cwd or "", program)
    return shutil.which(program, path=os.pathsep.join(os.get_exec_path(env)))


def _explain_missing(path: str | None) -> str:
    if path is None:
        return "no such program on PATH"
    if not os.path.exists(path):
        return "no such file"
    interpreter = _interpreter(path)
    if interpreter is None:
        return "the loader it needs does not exist"
    return f"its interpreter {interpreter!r} does not exist"


def _explain_denied(path: str | None) -> str:
    if path is None:
        return "no program of that name on PATH may be executed"
    if os.path.isdir(path):
        return "it is a directory"
    if os.path.exists(path) and not os.access(path, os.X_OK):
        return "it is not executable (chmod +x)"
    return "permission denied for the file, its interpreter or a directory on the way"


def _interpreter(path: str) -> str | None:
    """The first word after #!, with a stray carriage return left in: that is what the system looked for."""
    try:
        with open(path, "rb") as file:
            line = file.readline(256)
    except OSError:
        # Executable but not readable: nothing more can be said.
        return None
    found = re.match(rb"#![ \t]*([^ \t\n]+)", line)
    return os.fsdecode(found[1]) if found else None
