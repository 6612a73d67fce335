"""The system's own notices of changes below a folder, from a thread that waits for them."""

import os
import threading
from collections.abc import Callable
from typing import Final

from treblehook.kiln.files.paths import is_left_out

DEBOUNCE_MS: Final = 50
STEP_MS: Final = 5
"""Changes are handed over once there was none for a step, and after the debounce at the latest."""

_WAIT_MS: Final = 1_000


class CannotWatch(Exception):
    """The system does not tell of changes; the message says why, and what helps."""


class Notifier:
    """Tells of every path below `root` to which something happens, as a path relative to it ("" for itself).

    `changed` and `failed` are called from a thread of its own. After `failed` nothing more comes, and changes may have been missed.
    Folders where no notes are kept are left out.
    """

    def __init__(self, root: str, changed: Callable[[list[str]], None], failed: Callable[[], None]) -> None:
        """Begin to watch; blocks until every folder is. Raises `CannotWatch`."""
        from watchfiles._rust_notify import RustNotify

        self._root = root
        self._changed = changed
        self._failed = failed
        self._stop = threading.Event()
        try:
            self._notify = RustNotify([root], False, False, 300, True, True)
        except (OSError, RuntimeError) as error:
            raise CannotWatch(_explained(str(error))) from error
        self._thread = threading.Thread(target=self._run, name=f"watching {root}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop, and wait for the thread, which takes a step."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while True:
                changes = self._notify.watch(DEBOUNCE_MS, STEP_MS, _WAIT_MS, self._stop)
                if changes == "stop" or changes == "signal":
                    return
                if changes != "timeout":
                    self._tell({path for _, path in changes})
        except RuntimeError:
            # A name that is no UTF-8 is the usual cause, and from then on the library tells nothing but that.
            self._failed()
        finally:
            self._notify.close()

    def _tell(self, paths: set[str]) -> None:
        relatives = sorted(os.path.relpath(path, self._root) for path in paths)
        wanted = ["" if relative == "." else relative for relative in relatives if _is_wanted(relative)]
        if wanted:
            self._changed(wanted)


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
