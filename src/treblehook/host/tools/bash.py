"""The tool `bash`: a command in the workspace."""

import os
import signal
import time
from typing import Annotated, Any

from msgspec import Meta, Struct

from treblehook.host.tool import ToolContext, ToolInputInvalid, ToolOutput, ToolSpec
from treblehook.host.tools.capture import Capture
from treblehook.host.tools.inputs import checked, schema_of
from treblehook.lifecycle import PreparedCall, ShellOutcome
from treblehook.runtimes.process import Finished, Limits, NotStarted, ProcessError, ProcessRuntime, TimedOut
from treblehook.shell import prepare_interpreter

DEFAULT_MS = 120_000
LONGEST_MS = 600_000

LINGER_SECONDS = 1.0
"""How long, after the shell has exited, its background processes may go on holding the output: enough for a last word of
`>(tee log)`, too short to make `server &` a wait."""

LIMITS = Limits(stdout_bytes=0, stderr_bytes=0, overflow="cut", linger_seconds=LINGER_SECONDS)


class BashInput(Struct, forbid_unknown_fields=True):
    """What `bash` takes."""

    command: Annotated[str, Meta(min_length=1, description="The command line, as bash reads it; several lines are one script.")]
    timeout_ms: Annotated[
        int, Meta(ge=1, le=LONGEST_MS, description="After how many milliseconds the command is ended, with all that it started.")
    ] = DEFAULT_MS


class Bash:
    """Runs a command in a process group of its own, with the host's environment and what hooks added to it."""

    spec = ToolSpec(
        name="bash",
        description=(
            "Runs a command with bash in the workspace folder and returns what it writes to standard output and standard error, "
            "and its exit status where that is not 0. Each call is a new shell: cd and variables do not outlive it. Standard "
            "input is empty, so a command that asks a question gets no answer. To leave a process running, start it with & and "
            "send its output to a file."
        ),
        parameters=schema_of(BashInput),
        main_argument="command",
        asks=True,
    )

    def __init__(self, runtime: ProcessRuntime) -> None:
        self._runtime = runtime

    def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Resolve the shell on the host's own PATH. Raises ToolInputInvalid."""
        command = checked(BashInput, arguments).command
        if not command.strip():
            raise ToolInputInvalid("`command` is blank; allowed: a command line.")
        if "\0" in command:
            raise ToolInputInvalid("`command` holds a NUL character, which no command line may.")
        return prepare_interpreter(command, tool=self.spec.name, search_path=os.environ.get("PATH", os.defpath))

    async def run_prepared(self, prepared: PreparedCall, arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Run it. A run that is cancelled, or takes longer than `timeout_ms`, ends the whole process group.

        Processes that the command left in the background live on after a normal end. Raises ToolInputInvalid.
        """
        timeout_ms = checked(BashInput, arguments).timeout_ms
        if not os.path.isabs(prepared.executable):
            return ToolOutput("The command was not run: there is neither bash nor sh on PATH.", is_error=True)
        capture = Capture(context.progress)
        began = time.monotonic()
        try:
            finished = await self._runtime.run(
                [_name(prepared.executable), *prepared.argv],
                b"",
                executable=prepared.executable,
                limits=LIMITS,
                timeout_seconds=timeout_ms / 1000,
                cwd=os.fspath(context.workspace),
                env={**os.environ, **context.environment},
                on_output=capture.take,
            )
        except NotStarted as error:
            return ToolOutput(f"The command was not run: {error.why}.", is_error=True)
        except TimedOut:
            remark = f"Not finished after {timeout_ms / 1000:g} s: the command and what it had started were ended."
            return _output(capture, 128 + signal.SIGTERM, began, [remark])
        except ProcessError as error:
            # Its exit status is not known: it was stopped with the runtime, or somebody else collected it.
            return ToolOutput(_text(capture, [str(error)]), is_error=True)
        status = finished.status if finished.status >= 0 else 128 - finished.status
        return _output(capture, status, began, _remarks(finished))


def _name(executable: str) -> str:
    """What the shell is called by: a file may hold many programs (busybox) and choose by this."""
    return "bash" if os.path.basename(executable).startswith("bash") else "sh"


def _remarks(finished: Finished) -> list[str]:
    remarks = []
    if finished.status > 0:
        remarks.append(f"exit status {finished.status}")
    if finished.status < 0:
        remarks.append(f"ended by signal {-finished.status}, {signal.strsignal(-finished.status)}")
    if finished.held:
        remarks.append("A background process still holds the output; what it writes from now on is lost. Send its output to a file.")
    return remarks


def _output(capture: Capture, status: int, began: float, remarks: list[str]) -> ToolOutput:
    shell = ShellOutcome(
        exit_code=status,
        stdout=capture.start("stdout"),
        stderr=capture.start("stderr"),
        duration_ms=round((time.monotonic() - began) * 1000),
    )
    return ToolOutput(_text(capture, remarks), is_error=status != 0, shell=shell)


def _text(capture: Capture, remarks: list[str]) -> str:
    text = capture.text()
    if not text and not remarks:
        return "[The command wrote nothing.]"
    notes = "\n".join(f"[{remark}]" for remark in remarks)
    gap = "\n" if text and notes and not text.endswith("\n") else ""
    return text + gap + notes
