"""What can go wrong with Lua code, each with the facts of its place."""


class LuaFailed(Exception):
    """A run of Lua code ended with an error.

    `message` is the text of the error object, whatever it was, with `file:line:` in front where Lua put it; `file` and `line` (1-based;
    "" and 0 where unknown) are where the error arose.
    """

    def __init__(self, message: str, file: str = "", line: int = 0, traceback: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.traceback = traceback


class LuaTimedOut(LuaFailed):
    """A run computed longer than its CPU budget without waiting, or waited longer than it may."""


class LuaMemoryFull(LuaFailed):
    """A run needed more memory than its VM may have."""


class LuaValueInvalid(LuaFailed):
    """A value cannot cross; `path` says where in it (`args.x.y`, "" for itself), `what` what was found there."""

    def __init__(self, path: str, what: str) -> None:
        super().__init__(f"{path or 'the value'} is {what}, which cannot be passed")
        self.path = path
        self.what = what


class LuaClosed(LuaFailed):
    """The VM was closed, before the run or during it."""


class LuaEntered(Exception):
    """A VM was entered from one thread while another thread was in it."""

    def __init__(self, vm: str) -> None:
        super().__init__(f"{vm}: the VM is in use by another thread")
        self.vm = vm


class LuaRaise(Exception):
    """Raised by a function of the host: becomes a Lua error with the caller's file and line in front."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
