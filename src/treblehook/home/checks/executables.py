"""Executables that could never be started: what the system would say of each when it is asked for the first time."""

import difflib
import os
import stat
from collections.abc import Iterator

from treblehook.contracts.vera.config import VeraConfig
from treblehook.contracts.vera.hook_entries import HookEntry
from treblehook.home.checks.shebang import Fault, script_fault
from treblehook.host.problems import Problem


def broken_executables(config: VeraConfig) -> Iterator[Problem]:
    """One error for each entry whose executable cannot be started, or one for all where their folder is missing."""
    if config.hooks and not os.path.isdir(config.hooks_dir):
        what = "is not a folder" if os.path.lexists(config.hooks_dir) else "does not exist"
        yield Problem(config.file, "hooks", f"the folder of the executables, {config.hooks_dir}, {what}", "create it and put them there")
        return
    for hook in config.hooks:
        fault = _fault(hook, config.hooks_dir)
        if fault is not None:
            yield Problem(config.file, f"{hook.place}.argv[0]", f"{hook.executable} {fault.message}", fault.remedy)


def _fault(hook: HookEntry, hooks_dir: str) -> Fault | None:
    path = hook.executable
    if os.path.islink(path) and not os.path.exists(path):
        return Fault(f"is a link to {os.readlink(path)}, which does not exist", "link to a file that is there")
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return Fault("does not exist", _nearest(path, hooks_dir))
    except OSError as error:
        return Fault(f"cannot be reached: {error.strerror}")
    if stat.S_ISDIR(mode):
        return Fault("is a directory", "name a file in it")
    if not stat.S_ISREG(mode):
        return Fault("is not a file", "name an executable")
    if not os.access(path, os.X_OK):
        return Fault("is not executable", f"chmod +x {path}")
    return _content_fault(path)


def _content_fault(path: str) -> Fault | None:
    try:
        with open(path, "rb") as file:
            head = file.read(4096)
    except PermissionError:
        # A program may be executable and not readable; what is in it cannot be told.
        return None
    except OSError as error:
        return Fault(f"cannot be read: {error.strerror}")
    return script_fault(head)


def _nearest(path: str, hooks_dir: str) -> str:
    there = [entry.name for entry in os.scandir(hooks_dir) if not entry.is_dir()]
    close = difflib.get_close_matches(os.path.basename(path), there, n=1)
    return f"did you mean {close[0]}?" if close else f"put it there, or name one of the files in {hooks_dir}"
