"""The Node process: its start with the descriptors that its threads speak over, and its end."""

import os
import signal
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import msgspec

from treblehook.runtimes.node.channel import Channel
from treblehook.runtimes.node.errors import NodeError
from treblehook.runtimes.node.lines import BadLine, FromProcess, from_process
from treblehook.runtimes.node.module import Module
from treblehook.runtimes.node.values import HEAP_MB, LINE_BYTES, LOG_BYTES, REQUESTS
from treblehook.runtimes.process.child import Child
from treblehook.runtimes.process.exit import ExitWatch

_MAIN: Final = str(Path(__file__).parent / "host.cjs")
_LIMITS: Final = {"heapMb": HEAP_MB, "lineBytes": LINE_BYTES, "logBytes": LOG_BYTES, "requests": REQUESTS}


class CannotStart(NodeError):
    """The program could not be executed."""


class NodeProcess:
    """One started process and a worker in it for each of `modules`. `on_message` gets what its main thread says, `on_exit` is
    called once when the process has exited and its status was collected."""

    def __init__(
        self,
        program: str,
        modules: Sequence[Module],
        environ: Mapping[str, str],
        log: Path,
        on_message: Callable[[FromProcess], None],
        on_exit: Callable[[], None],
    ) -> None:
        self._on_message = on_message
        with ExitStack() as ours, ExitStack() as theirs:
            control, far_control = _pair(ours, theirs)
            ways = [_pair(ours, theirs) for _ in modules]
            self.child = _spawn(program, [far_control, *(far for _, far in ways)], environ, log)
            ours.pop_all()
        self._control = Channel(control, self._take, lambda why: None)
        self._watch = ExitWatch(self.child, on_exit)
        for module, (near, far) in zip(modules, ways, strict=True):
            self._open(module, far)
            module.attach(near)

    def end_worker(self, number: int) -> None:
        """End a worker, whatever it is doing."""
        self._say({"end": number})

    def hang_up(self) -> None:
        """Ask the process to exit."""
        self._control.close()

    def kill(self) -> None:
        """End the process and its group now."""
        self.child.kill()

    def fate(self) -> str:
        """How it ended, once it has."""
        status = self.child.status
        if status is None:
            return "ended"
        if status >= 0:
            return f"exited with status {status}"
        try:
            return f"was killed by {signal.Signals(-status).name}"
        except ValueError:
            return f"was killed by signal {-status}"

    def let_go(self) -> None:
        """Give back the descriptors, once it has exited."""
        self._control.close()
        self._watch.close()

    def _open(self, module: Module, far: int) -> None:
        spec = module.spec
        self._say({"open": module.number, "fd": far, "module": spec.file, "log": spec.log, "limits": _LIMITS})

    def _say(self, message: dict[str, Any]) -> None:
        self._control.send(msgspec.json.encode(message) + b"\n")

    def _take(self, line: bytes) -> None:
        try:
            message = from_process(line)
        except BadLine:
            # Somebody in there writes where only the main thread should: nothing that it says can be trusted any more.
            self.kill()
            return
        self._on_message(message)


def _pair(ours: ExitStack, theirs: ExitStack) -> tuple[socket.socket, int]:
    """A socket for us, and the number of the descriptor at the other end."""
    near, far = socket.socketpair()
    ours.callback(near.close)
    theirs.callback(far.close)
    return near, far.fileno()


def _spawn(program: str, descriptors: Sequence[int], environ: Mapping[str, str], log: Path) -> Child:
    try:
        # What is written to the process's own outputs (by native code, or by Node as it dies) goes to a file of its own.
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError:
        # A full or read-only disk is no reason to be without the extensions.
        output = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    try:
        process = subprocess.Popen(
            [program, _MAIN, str(descriptors[0])],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environ,
            pass_fds=descriptors,
            process_group=0,
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise CannotStart(f"cannot be started: {error}") from error
    finally:
        os.close(output)
    return Child(program, process)
