"""One conversation with one child: input in, outputs out, until it has exited and both outputs are closed, or waited for long enough."""

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
        self._last_call: asyncio.TimerHandle | None = None
        self._closed = False

    def start(self) -> None:
        self._stdout.start()
        self._stderr.start()
        self._feed.start()
        if self._limits.linger_seconds is not None:
            self._exit = ExitWatch(self.child, self._exited)

    def fail(self, error: Exception) -> None:
        """End the exchange and the process with `error`, unless it has ended already."""
        if not self.ended.done():
            self.ended.set_exception(error)
        self.close()

    def close(self) -> None:
        """Stop listening and, if the child has not been collected, have its group ended. Closing twice is fine."""
        if self._closed:
            return
        self._closed = True
        if self._exit is not None:
            self._exit.close()
        if self._last_call is not None:
            self._last_call.cancel()
        if self.child.collected:
            self._release()
        else:
            self._stdout.pause()
            self._stderr.pause()
            # A process that says something about its end, as a shell does, would die of a broken pipe before it has cleaned up.
            self._reaper.end(self.child, self._limits.grace_seconds, self._release)
        self._feed.close()

    def finished(self, status: int, seconds: float) -> Finished:
        """What the exchange brought, as a value."""
        held = self._open_outputs > 0
        return Finished(status, self._stdout.kept(), self._stderr.kept(), self._stdout.cut, self._stderr.cut, seconds, held)

    def _release(self) -> None:
        self._stdout.close()
        self._stderr.close()

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
        elif self._exit is None:
            self._exit = ExitWatch(self.child, self._exited)

    def _exited(self) -> None:
        if self.child.status is None:
            self.fail(StatusLost(self.child.program))
        elif not self._open_outputs:
            self._finish(self.child.status)
        elif self._limits.linger_seconds is not None:
            self._last_call = asyncio.get_running_loop().call_later(self._limits.linger_seconds, self._finish, self.child.status)

    def _finish(self, status: int) -> None:
        if not self.ended.done():
            self.ended.set_result(status)
