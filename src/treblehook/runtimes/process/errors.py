"""The ways in which a run ends without an exit status."""

from treblehook.runtimes.process.values import Stream


class ProcessError(Exception):
    """A run that left no exit status. `program` is `argv[0]`."""

    def __init__(self, program: str, what: str) -> None:
        super().__init__(f"{program}: {what}")
        self.program = program


class NotStarted(ProcessError):
    """The program never ran. `why` says it for people; `errno` is the system's number, if the system refused."""

    def __init__(self, program: str, why: str, errno: int | None = None) -> None:
        super().__init__(program, f"not started: {why}")
        self.why = why
        self.errno = errno


class TooMuchInput(NotStarted):
    """The input is longer than `limit` bytes, so the program was not started; `found` is the input's length in bytes."""

    def __init__(self, program: str, limit: int, found: int) -> None:
        super().__init__(program, f"its input has {found} bytes, and {limit} are allowed")
        self.limit = limit
        self.found = found


class TimedOut(ProcessError):
    """The process had not exited, or something still held its outputs open, `seconds` after its start."""

    def __init__(self, program: str, seconds: float) -> None:
        super().__init__(program, f"not finished after {seconds:g} s")
        self.seconds = seconds


class TooMuchOutput(ProcessError):
    """The process wrote more than `limit` bytes to `stream`."""

    def __init__(self, program: str, stream: Stream, limit: int) -> None:
        super().__init__(program, f"wrote more than {limit} bytes to {stream}")
        self.stream = stream
        self.limit = limit


class StatusLost(ProcessError):
    """The process ended, but its exit status was collected by other code of this program, or SIGCHLD is ignored."""

    def __init__(self, program: str) -> None:
        super().__init__(program, "its exit status was taken by somebody else (SIGCHLD ignored, or a stray waitpid)")


class Stopped(ProcessError):
    """The runtime was closed while the process ran."""

    def __init__(self, program: str) -> None:
        super().__init__(program, "stopped, because the process runtime was closed")
