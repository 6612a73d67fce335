"""Files that any user of the machine could change: whoever writes a hook acts with the agent's rights."""

import os
import stat
from collections.abc import Iterator

from treblehook.contracts.vera.config import VeraConfig
from treblehook.host.problems import Problem


def open_to_everybody(config: VeraConfig) -> Iterator[Problem]:
    """A warning for the hooks folder, every folder below it that leads to an executable, and every executable."""
    if not config.hooks:
        return
    if _writable_by_all(config.hooks_dir):
        yield _problem(config.hooks_dir, "folder")
    told = {config.hooks_dir}
    for hook in config.hooks:
        for path in (*_folders(hook.executable, config.hooks_dir), hook.executable):
            if path not in told and _writable_by_all(path):
                yield _problem(path, "folder" if os.path.isdir(path) else "hook")
            told.add(path)


def _folders(executable: str, hooks_dir: str) -> list[str]:
    """The folders between the two, outermost first."""
    found = []
    folder = os.path.dirname(executable)
    while folder != hooks_dir:
        found.append(folder)
        folder = os.path.dirname(folder)
    return found[::-1]


def _writable_by_all(path: str) -> bool:
    try:
        return bool(os.stat(path).st_mode & stat.S_IWOTH)
    except OSError:
        # That it cannot be reached is told by another check.
        return False


def _problem(path: str, what: str) -> Problem:
    message = f"every user of this machine may write to this {what}, and so decide what runs with your rights"
    return Problem(path, "", message, f"chmod o-w {path}", "warning")
