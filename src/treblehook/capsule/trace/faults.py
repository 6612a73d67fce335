"""What hooks did wrong: a line in the hook's log at once, a line of the trace when its turn has come (murmur.md 4.4, 4.5)."""

from treblehook.capsule.trace.file import TraceFile
from treblehook.capsule.workdir import Workdir, append_private
from treblehook.contracts.murmur.faults import FaultSink


class Faults(FaultSink):
    """The faults of one launch."""

    def __init__(self, workdir: Workdir) -> None:
        self._workdir = workdir
        self._waiting: list[tuple[str, str, str]] = []

    def log(self, hook: str, message: str) -> None:
        """Exactly `message` and a newline. A log that cannot be written holds nothing up."""
        try:
            append_private(self._workdir.logs / f"hook-{hook}.log", f"{message}\n")
        except OSError:
            return

    def fault(self, hook: str, event: str, arm: str) -> None:
        """Keep a fault for the trace."""
        self._waiting.append((hook, event, arm))

    def forget(self) -> None:
        """Those of staging are not traced (murmur.md 4.3)."""
        self._waiting.clear()

    def flush(self, trace: TraceFile) -> None:
        """Write those that wait."""
        waiting, self._waiting = self._waiting, []
        for hook, event, arm in waiting:
            problem = trace.try_write("hook_dispatch_error", trace.session, hook_name=hook, event=event, arm=arm)
            if problem:
                self._workdir.bootstrap(f"a fault of {hook} could not be traced: {problem}")
