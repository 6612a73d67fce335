"""The first line of a script, as the system reads it."""

import os
import shlex
import shutil
from typing import Final

from msgspec import Struct

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class Fault(Struct, frozen=True):
    """What is wrong with an executable, and what to do."""

    message: str
    remedy: str = ""


def script_fault(head: bytes) -> Fault | None:
    """Why a file that begins with `head` is no script that could be started; None for a script and for a compiled program."""
    if not head:
        return Fault("is empty", "write the hook into it")
    if head.startswith(_BYTE_ORDER_MARK):
        return Fault("begins with a byte order mark, so its first line is not seen", "save it as UTF-8 without one")
    if head.startswith(b"#!"):
        return _line_fault(head[2:].partition(b"\n")[0])
    if b"\0" in head:
        return None
    return Fault("does not begin with #! and an interpreter", "begin it with a line such as #!/usr/bin/env python3")


def _line_fault(line: bytes) -> Fault | None:
    if line.endswith(b"\r"):
        return Fault("has a carriage return in its #! line, which the system takes for a part of the name", "save it with LF line ends")
    interpreter, _, argument = os.fsdecode(line).strip(" \t").replace("\t", " ").partition(" ")
    if not interpreter:
        return Fault("names no interpreter after #!", "begin it with a line such as #!/usr/bin/env python3")
    if not os.path.exists(interpreter):
        return Fault(f"has the interpreter {interpreter}, which does not exist", "install it, or name another in the #! line")
    if os.path.isdir(interpreter) or not os.access(interpreter, os.X_OK):
        return Fault(f"has the interpreter {interpreter}, which cannot be executed", "name another in the #! line")
    return _env_fault(argument.strip()) if os.path.basename(interpreter) == "env" else None


def _env_fault(argument: str) -> Fault | None:
    """`env` looks its argument up on PATH; with -S it splits it first."""
    words = argument.removeprefix("--split-string=").removeprefix("-S")
    split = [argument] if argument and words == argument else _split(words)
    program = next((word for word in split if not word.startswith("-") and "=" not in word), None)
    if program is None:
        return Fault("names no interpreter after env", "name one, such as #!/usr/bin/env python3")
    if shutil.which(program) is not None:
        return None
    hint = "with several words write env -S" if " " in program else "install it, or name another in the #! line"
    return Fault(f"has the interpreter {program}, which is not on PATH", hint)


def _split(words: str) -> list[str]:
    try:
        return shlex.split(words)
    except ValueError:
        return words.split()
