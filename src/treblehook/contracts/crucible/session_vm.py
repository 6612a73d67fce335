"""The Lua of one session, and how files are evaluated that must not stop anything else (crucible.md 1, 2.9)."""

from collections.abc import Callable
from pathlib import Path

from treblehook.contracts.crucible.caller import USER, WORKSPACE
from treblehook.contracts.crucible.vm import CrucibleVM
from treblehook.runtimes.lua import LuaFailed


def evaluate_unowned(vm: CrucibleVM, file: Path, name: str) -> bool:
    """Run the user's or the workspace's file; what fails is told to the log, and what was registered before that stays.

    The machine of the plugins gets the user's file this way too, after the plugins.
    """
    try:
        vm.evaluate(file, owner=None, name=name)
    except LuaFailed as error:
        vm.log("error", name, f"did not load: {error.message}", error.file or str(file), error.line or None)
        return False
    except OSError as error:
        vm.log("error", name, f"cannot be read: {error.strerror or error}", str(file), None)
        return False
    return True


class SessionLua:
    """The machine of one session: made by `make` when it is first needed, never twice, and not at all where no file is there.

    `user` is the user's init.lua, `workspace` that of the workspace, given only where it is trusted.
    """

    def __init__(self, make: Callable[[], CrucibleVM], *, user: Path | None, workspace: Path | None) -> None:
        self._make = make
        self._files = [(file, name) for file, name in ((user, USER), (workspace, WORKSPACE)) if file is not None]
        self._opened = False
        self.vm: CrucibleVM | None = None

    def open(self) -> CrucibleVM | None:
        """The machine, its files evaluated in order. A file that is not there is none."""
        if not self._opened:
            # Nothing here waits, so a second turn that starts meanwhile finds it made.
            self._opened = True
            if files := [(file, name) for file, name in self._files if file.exists()]:
                self.vm = vm = self._make()
                for file, name in files:
                    evaluate_unowned(vm, file, name)
        return self.vm

    def close(self) -> None:
        """Let the machine go, with everything that it has registered."""
        self._opened = True
        if self.vm is not None:
            self.vm.close()
            self.vm = None
