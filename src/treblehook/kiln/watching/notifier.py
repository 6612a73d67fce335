"""The system's own notices of changes below a folder, from threads that wait for them."""

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from treblehook.kiln.files.paths import is_left_out
from treblehook.kiln.watching.folders import Folders, plan_folders

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

DEBOUNCE_MS: Final = 50
STEP_MS: Final = 5
"""Changes are handed over once there was none for a step, and after the debounce at the latest."""

_WAIT_MS: Final = 1_000
_TRIES: Final = 3
"""Folders may go between being found and being watched."""


class CannotWatch(Exception):
    """The system does not tell of changes; the message says why, and what helps."""


class Notifier:
    """Tells of every path below `root` to which something happens, as a path relative to it ("" for itself).

    `changed` and `stale` are called from threads of its own. After `stale` another notifier is needed: changes may be missed from here
    on. Folders where no notes are kept are left out; `folders.unwatched` are those that the system does not let be watched.
    """

    def __init__(self, root: str, changed: Callable[[list[str]], None], stale: Callable[[], None]) -> None:
        """Begin to watch; blocks until every folder is. Raises `CannotWatch`, and `OSError` where `root` is not there."""
        self._root = root
        self._changed = changed
        self._stale = stale
        self._stop = threading.Event()
        self.folders, watchers = _watchers(root)
        self._threads = [threading.Thread(target=self._run, args=[one], name=f"watching {root}", daemon=True) for one in watchers]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Stop, and wait for the threads, which takes a step."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _run(self, notify: "RustNotify") -> None:
        try:
            while True:
                changes = notify.watch(DEBOUNCE_MS, STEP_MS, _WAIT_MS, self._stop)
                if changes == "stop" or changes == "signal":
                    return
                if changes != "timeout":
                    self._tell({path for _, path in changes})
        except RuntimeError:
            # A name that is no UTF-8 is the usual cause, and from then on the library tells nothing but that.
            self._stale()
        finally:
            notify.close()

    def _tell(self, paths: set[str]) -> None:
        relatives = sorted(os.path.relpath(path, self._root) for path in paths)
        wanted = ["" if relative == "." else relative for relative in relatives if _is_wanted(relative)]
        if wanted:
            self._changed(wanted)
        if any(self._is_new_folder(relative) for relative in wanted):
            self._stale()

    def _is_new_folder(self, relative: str) -> bool:
        """Whether this is a folder that nobody watches, in one that is watched by itself."""
        path = os.path.join(self._root, relative)
        if not relative or os.path.dirname(path) not in self.folders.single:
            return False
        if path in self.folders.single or path in self.folders.trees:
            return False
        return os.path.isdir(path) and not os.path.islink(path) and os.access(path, os.R_OK | os.X_OK)


def _watchers(root: str) -> tuple[Folders, list["RustNotify"]]:
    from watchfiles._rust_notify import RustNotify

    for tries_left in reversed(range(_TRIES)):
        folders = plan_folders(root)
        _leave_out_unwritable(folders)
        try:
            # With its flag that ignores missing rights, the library ignores the system's limits as well.
            trees = [RustNotify(sorted(folders.trees), False, False, 300, True, False)] if folders.trees else []
            single = [RustNotify(sorted(folders.single), False, False, 300, False, False)] if folders.single else []
        except (FileNotFoundError, PermissionError) as error:
            if not tries_left:
                raise CannotWatch(str(error)) from error
            continue
        except (OSError, RuntimeError) as error:
            raise CannotWatch(_explained(str(error))) from error
        return folders, trees + single
    raise AssertionError("the last try answers or raises")


def _leave_out_unwritable(folders: Folders) -> None:
    """The library takes names that are UTF-8 only."""
    for folder in [*folders.trees, *folders.single]:
        try:
            folder.encode()
        except UnicodeEncodeError:
            folders.unwatched[folder] = "its name is no UTF-8"
    folders.trees = [folder for folder in folders.trees if folder not in folders.unwatched]
    folders.single -= folders.unwatched.keys()


def _is_wanted(relative: str) -> bool:
    if relative == ".":
        return True
    return not any(is_left_out(part) for part in relative.split("/"))


def _explained(reason: str) -> str:
    lowered = reason.lower()
    if "watch limit" in lowered or "no space left" in lowered:
        return f"the system's limit on watched folders is reached ({reason}); raise it: sysctl fs.inotify.max_user_watches=524288"
    if "too many open files" in lowered:
        return f"the system's limit on watchers is reached ({reason}); raise it: sysctl fs.inotify.max_user_instances=1024, or ulimit -n"
    return reason
