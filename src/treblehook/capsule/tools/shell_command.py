"""A shell tool: one program that the manifest allows, called with a command (murmur.md 5.6)."""

import asyncio
import os
import signal
import time
from typing import Any, Final

from treblehook.capsule.tools.background import BackgroundCommands
from treblehook.host.tool import ToolContext, ToolInputInvalid, ToolOutput, ToolSpec
from treblehook.host.tools.capture import Capture
from treblehook.lifecycle import PreparedCall, ShellOutcome
from treblehook.runtimes.process import Finished, Limits, NotStarted, ProcessError, ProcessRuntime, TimedOut
from treblehook.shell import prepare_command

LONGEST_SECONDS: Final = 600.0
"""What a command may take where the manifest says nothing (murmur.md 2.8)."""

LIMITS: Final = Limits(stdout_bytes=0, stderr_bytes=0, overflow="cut", linger_seconds=1.0)


PARAMETERS: Final = {
    "type": "object",
    "properties": {
        "command": {
            "type": "string",
            "description": "The arguments, separated by blanks and quoted as in a shell; for a shell itself, the script.",
        }
    },
    "required": ["command"],
}


class ShellCommand:
    """Runs `name` in the workdir. A command that is not over after `grace` seconds goes on in the background, and the agent goes on too."""

    def __init__(self, name: str, description: str, runtime: ProcessRuntime, background: BackgroundCommands, *, seconds: float) -> None:
        self.spec = ToolSpec(name, description, PARAMETERS, main_argument="command")
        self._runtime = runtime
        self._background = background
        self._seconds = seconds

    def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Resolve the command once. Raises `ToolInputInvalid`."""
        command = arguments.get("command")
        if not isinstance(command, str) or not command.strip():
            raise ToolInputInvalid(f"`command`: found {command!r}; allowed: a text that is not blank. Nothing was run.")
        if "\0" in command:
            raise ToolInputInvalid("`command` holds a NUL character, which no command line may. Nothing was run.")
        # The program is looked for where the runtime looks; what it reads may depend on what hooks have added.
        environ = {**os.environ, **context.environment, "PATH": os.environ.get("PATH", os.defpath)}
        prepared = prepare_command(command, tool=self.spec.name, cwd=context.workspace, environ=environ)
        if not os.path.isabs(prepared.executable):
            raise ToolInputInvalid(f"Nothing was run: there is no program {self.spec.name} on PATH.")
        return prepared

    async def run_prepared(self, prepared: PreparedCall, arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Run the very program and arguments that were prepared."""
        capture = Capture(context.progress)
        began = time.monotonic()
        running = asyncio.ensure_future(self._run(prepared, context, capture))
        try:
            done, _ = await asyncio.wait({running}, timeout=self._background.grace)
        except asyncio.CancelledError:
            running.cancel()
            raise
        if not done:
            return self._background.take(running, prepared, capture)
        try:
            finished = running.result()
        except NotStarted as error:
            return ToolOutput(f"The command was not run: {error.why}.", is_error=True)
        except TimedOut:
            remark = f"Not finished after {self._seconds:g} s: the command and what it had started were ended."
            return _output(capture, 128 + signal.SIGTERM, began, remark)
        except ProcessError as error:
            return ToolOutput(_text(capture, str(error)), is_error=True)
        status, remark = _ended(finished)
        return _output(capture, status, began, remark)

    async def _run(self, prepared: PreparedCall, context: ToolContext, capture: Capture) -> Finished:
        return await self._runtime.run(
            [self.spec.name, *prepared.argv],
            b"",
            executable=prepared.executable,
            limits=LIMITS,
            timeout_seconds=self._seconds,
            cwd=os.fspath(context.workspace),
            env={**os.environ, **context.environment},
            on_output=capture.take,
        )


def _ended(finished: Finished) -> tuple[int, str]:
    """The exit code, 128 + signal for a death by one, and what is said of it."""
    if finished.status < 0:
        return 128 - finished.status, f"ended by signal {-finished.status}, {signal.strsignal(-finished.status)}"
    return finished.status, f"exit status {finished.status}" if finished.status else ""


def _output(capture: Capture, status: int, began: float, remark: str) -> ToolOutput:
    shell = ShellOutcome(
        exit_code=status,
        stdout=capture.start("stdout"),
        stderr=capture.start("stderr"),
        duration_ms=round((time.monotonic() - began) * 1000),
    )
    return ToolOutput(_text(capture, remark), is_error=status != 0, shell=shell)


def _text(capture: Capture, remark: str) -> str:
    """What the model is shown: each stream as it is captured for hooks too, at most 16 KiB."""
    out, err = capture.start("stdout"), capture.start("stderr")
    parts = [out, f"[standard error]\n{err}" if out and err else err, f"[{remark}]" if remark else ""]
    return "\n".join(part.removesuffix("\n") for part in parts if part) or "[The command wrote nothing.]"
