"""One child process in a process group of its own: its start, its signals, the collection of its exit status."""

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress

from treblehook.runtimes.process.errors import NotStarted
from treblehook.runtimes.process.refusal import explain


class Child:
    """A started process and our ends of its three pipes (-1 where it has none), which are non-blocking and belong to whoever asked.

    Its process id names its group too. The id stays reserved until `ended` has collected the exit status, so up to then a
    signal to the group cannot hit a stranger; afterwards the signals here do nothing.
    """

    def __init__(self, program: str, process: subprocess.Popen[bytes], stdin: int = -1, stdout: int = -1, stderr: int = -1) -> None:
        self.program = program
        self.pid = process.pid
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr
        self.collected = False
        self.status: int | None = None
        """Known once `collected`; None then means that somebody else took it."""
        self._process = process

    def ended(self) -> bool:
        """Whether the process has exited; the first time that it has, this collects its exit status."""
        if self.collected:
            return True
        try:
            pid, wait_status = os.waitpid(self.pid, os.WNOHANG)
        except ChildProcessError:
            pid = self.pid
        else:
            if pid == 0:
                return False
            self.status = os.waitstatus_to_exitcode(wait_status)
        self.collected = True
        # Popen would otherwise wait for the process itself, and report a lost status as success.
        self._process.returncode = 255 if self.status is None else self.status
        return True

    def terminate(self) -> None:
        """SIGTERM to the whole group."""
        self._send(os.killpg, signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL to the whole group, and to the process itself if it has moved to another group."""
        self._send(os.killpg, signal.SIGKILL)
        self._send(os.kill, signal.SIGKILL)

    def _send(self, send: Callable[[int, int], None], number: signal.Signals) -> None:
        if self.collected:
            return
        # Lookup: everybody has left the group. Permission: what is left runs as another user, or (macOS) is a zombie.
        with suppress(ProcessLookupError, PermissionError):
            send(self.pid, number)


def spawn(argv: Sequence[str], executable: str | None, cwd: str | None, env: Mapping[str, str] | None) -> Child:
    """Start `argv`, which has at least one word, without a shell. Raises NotStarted; then no descriptor or process is left.

    `executable` is the file to run where that is not the first word.
    """
    with ExitStack() as theirs, ExitStack() as ours:
        try:
            child_stdin, stdin = _pipe(theirs, ours)
            stdout, child_stdout = _pipe(ours, theirs)
            stderr, child_stderr = _pipe(ours, theirs)
            process = subprocess.Popen(
                argv,
                executable=executable,
                stdin=child_stdin,
                stdout=child_stdout,
                stderr=child_stderr,
                cwd=cwd,
                env=env,
                process_group=0,
            )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            why = explain(error, executable or argv[0], cwd, env)
            raise NotStarted(argv[0], why, getattr(error, "errno", None)) from error
        for end in (stdin, stdout, stderr):
            os.set_blocking(end, False)
        ours.pop_all()
    return Child(argv[0], process, stdin, stdout, stderr)


def _pipe(reading: ExitStack, writing: ExitStack) -> tuple[int, int]:
    """A new pipe whose ends are closed with the given stacks. Pipes of our own, because Popen leaks some when descriptors run out."""
    read_end, write_end = os.pipe()
    reading.callback(os.close, read_end)
    writing.callback(os.close, write_end)
    return read_end, write_end
