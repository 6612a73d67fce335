"""What went wrong in a module, in one clause."""

import traceback
from pathlib import Path

_LONGEST = 2000


def told(error: BaseException, folder: str) -> str:
    """The error's class and message, and where in `folder` it was raised. An error may run code of the module to show itself."""
    try:
        return _what(error)[:_LONGEST] + _place(error, folder) + _hint(error, folder)
    except BaseException:
        return f"{type(error).__name__}: something that cannot be shown"


def _what(error: BaseException) -> str:
    return f"it called sys.exit({error.code!r})" if isinstance(error, SystemExit) else f"{type(error).__name__}: {error}"


def _place(error: BaseException, folder: str) -> str:
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f" ({error.filename}:{error.lineno})"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(f"{folder}/")]
    return f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""


def _hint(error: BaseException, folder: str) -> str:
    """The folder is not on `sys.path`, which is easily forgotten."""
    if not isinstance(error, ModuleNotFoundError) or error.name is None or "." in error.name:
        return ""
    beside = Path(folder, error.name)
    return f"; write: from . import {error.name}" if beside.is_dir() or beside.with_suffix(".py").is_file() else ""
