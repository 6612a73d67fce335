"""One conversation with one child: input in, outputs out, until it has exited and both outputs are closed."""

import asyncio
from collections.abc import Callable

from treblehook.runtimes.process.child import Child
from treblehook.runtimes.process.errors import StatusLost, TooMuchOutput
from treblehook.runtimes.process.exit import ExitWatch
from treblehook.runtimes.process.pipes import Feed, Intake
from treblehook.runtimes.process.reaper import Reaper
from treblehook.runtimes.process.values import Finished, Limits, Stream

OnOutput = Callable[[Stream, bytes], None]


class Exchange:
    """Owns a child and its pipes from `start` to `close`. `ended` becomes the exit status, or the error that ended the exchange."""

    def __init__(self, child: Child, stdin: bytes, limits: Limits, on_output: OnOutput | None, reaper: Reaper) -> None:
        self.child = child
        self.ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._limits = limits
        self._on_output = on_output
        self._reaper = reaper
        self._feed = Feed(child.stdin, stdin)
        self._stdout = Intake("stdout", child.stdout, limits.stdout_bytes, self._took, self._output_closed)
        self._stderr = Intake("stderr", child.stderr, limits.stderr_bytes, self._took, self._output_closed)
        self._open_outputs = 2
        self._exit: ExitWatch | None = None
        self._closed = False

    def start(self) -> None:
        self._stdout.start()
        self._stderr.start()
        self._feed.start()

    def fail(self, error: Exception) -> None:
        """End the exchange and the process with `error`, unless it has ended already."""
        if not self.ended.done():
            self.ended.set_exception(error)
        self.close()

    def close(self) -> None:
        """Let go of the pipes and, if the child has not been collected, have its group ended. Closing twice is fine."""
        if self._closed:
            return
        self._closed = True
        if not self.child.collected:
            # Before the pipes go: a process should meet SIGTERM, not a broken pipe.
            self._reaper.end(self.child, self._limits.grace_seconds)
        if self._exit is not None:
            self._exit.close()
        for pipe in (self._feed, self._stdout, self._stderr):
            pipe.close()

    def finished(self, status: int, seconds: float) -> Finished:
        """What the exchange brought, as a value."""
        return Finished(status, self._stdout.kept(), self._stderr.kept(), self._stdout.cut, self._stderr.cut, seconds)

    def _took(self, intake: Intake, chunk: bytes) -> None:
        if intake.cut and intake.stream == "stdout" and self._limits.overflow == "fail":
            self.fail(TooMuchOutput(self.child.program, "stdout", self._limits.stdout_bytes))
        elif self._on_output is not None:
            try:
                self._on_output(intake.stream, chunk)
            except Exception as error:
                # Nobody is above us in a callback of the loop: whoever awaits the run gets it.
                self.fail(error)

    def _output_closed(self) -> None:
        self._open_outputs -= 1
        if self._open_outputs:
            return
        # A program mostly closes its outputs by exiting, so asking at once spares watching.
        if self.child.ended():
            self._exited()
        else:
            self._exit = ExitWatch(self.child, self._exited)

    def _exited(self) -> None:
        if self.child.status is None:
            self.fail(StatusLost(self.child.program))
        elif not self.ended.done():
            self.ended.set_result(self.child.status)
