"""A tool artifact whose payload is an executable."""

import os
from pathlib import Path
from typing import Any, Final

import msgspec

from treblehook.host.tool import ToolContext, ToolOutput, ToolSpec
from treblehook.runtimes.process import Limits, ProcessError, ProcessRuntime

LIMITS: Final = Limits(stdin_bytes=16_000_000, stdout_bytes=1_000_000, stderr_bytes=16_384, overflow="cut", linger_seconds=1.0)
_ENVELOPE: Final = ("status", "summary")


class NativeTool:
    """Runs the executable with the model's input as JSON on standard input; what it prints is the result. A JSON object with `status`
    and `summary` is read as such, where any status but `passed` and `ok` is an error."""

    def __init__(self, spec: ToolSpec, program: Path, runtime: ProcessRuntime, *, seconds: float) -> None:
        self.spec = spec
        self._program = program
        self._runtime = runtime
        self._seconds = seconds

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Run it in the workdir."""
        try:
            finished = await self._runtime.run(
                [str(self._program)],
                msgspec.json.encode(arguments),
                limits=LIMITS,
                timeout_seconds=self._seconds,
                cwd=os.fspath(context.workspace),
                env={**os.environ, **context.environment},
            )
        except ProcessError as error:
            return ToolOutput(f"The tool {self.spec.name} failed: {error}", is_error=True)
        said = finished.stdout.decode("utf-8", "replace")
        if finished.status != 0:
            why = finished.stderr.decode("utf-8", "replace").strip()
            parts = [said.strip(), why, f"[exit status {finished.status}]"]
            return ToolOutput("\n".join(part for part in parts if part), is_error=True)
        return _read(said)


def _read(said: str) -> ToolOutput:
    try:
        value = msgspec.json.decode(said)
    except (msgspec.DecodeError, RecursionError):
        return ToolOutput(said)
    if not (isinstance(value, dict) and all(isinstance(value.get(key), str) for key in _ENVELOPE)):
        return ToolOutput(said)
    data = value.get("data")
    text = value["summary"] + (f"\n{data}" if isinstance(data, str) and data else "")
    return ToolOutput(text, is_error=value["status"] not in ("passed", "ok"))
