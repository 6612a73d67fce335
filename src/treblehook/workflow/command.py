"""An executable as a step hook, with process rules of its own (vera.md 7.2)."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from treblehook.contracts.vera.json_text import NotJson, encoded, parsed
from treblehook.contracts.vera.limits import ARGV_BYTES, LONGEST_TIMEOUT_MS, MOST_ARGUMENTS
from treblehook.runtimes.process import Finished, Limits, ProcessError, ProcessRuntime
from treblehook.workflow.errors import WorkflowError

_LIMITS: Final = Limits(stderr_bytes=0, grace_seconds=0.0)
"""What it says on stderr is thrown away, and at its timeout it gets SIGKILL at once."""


class CommandHook:
    """Runs `argv` without a shell: the payload on stdin, the answer on stdout, both one JSON value.

    A first word without a slash is looked up on PATH. Raises ValueError for an `argv` that is not 1 to 16 texts of at most 8 KiB
    as JSON, and for a `timeout_ms` that is no whole number from 1 to 30000.
    """

    def __init__(self, argv: Sequence[str], *, timeout_ms: int = 1000) -> None:
        words = isinstance(argv, list | tuple) and all(isinstance(word, str) and word for word in argv)
        if not words or not 1 <= len(argv) <= MOST_ARGUMENTS:
            raise ValueError(f"argv is {argv!r}; it must be a list of 1 to {MOST_ARGUMENTS} texts that are not empty")
        if (size := len(encoded(list(argv)))) > ARGV_BYTES:
            raise ValueError(f"argv has {size} bytes as JSON; {ARGV_BYTES} are allowed")
        if type(timeout_ms) is not int or not 1 <= timeout_ms <= LONGEST_TIMEOUT_MS:
            raise ValueError(f"timeout_ms is {timeout_ms!r}; it must be a whole number from 1 to {LONGEST_TIMEOUT_MS}")
        self.argv = tuple(argv)
        self.timeout_ms = timeout_ms
        self.__name__ = self.argv[0].rpartition("/")[2] or self.argv[0]

    def __call__(self, payload: dict[str, Any]) -> Any:
        """What the executable answers. Raises `WorkflowError` of kind `hook`, and RuntimeError inside a running event loop."""
        return asyncio.run(self.answer(payload))

    async def answer(self, payload: dict[str, Any]) -> Any:
        """What the executable answers. Raises `WorkflowError` of kind `hook`."""
        try:
            async with ProcessRuntime() as runtime:
                finished = await runtime.run(self.argv, encoded(payload), limits=_LIMITS, timeout_seconds=self.timeout_ms / 1000)
        except ProcessError as error:
            raise WorkflowError("hook", str(error)) from error
        except NotJson as error:
            raise WorkflowError("hook", f"{self.argv[0]}: not started: the payload is not JSON: {error}") from error
        return self._read(finished)

    def _read(self, finished: Finished) -> Any:
        try:
            if finished.status:
                raise WorkflowError("hook", f"{self.argv[0]}: ended with status {finished.status}")
            return parsed(finished.stdout.decode())
        except (UnicodeDecodeError, NotJson) as error:
            raise WorkflowError("hook", f"{self.argv[0]}: did not print one JSON value: {error}") from error
