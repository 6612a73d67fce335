"""What a module prints goes to a file of its own: standard output belongs to the program that runs it."""

import builtins
import os
import threading
from pathlib import Path
from typing import Any, Final

LOG_BYTES: Final = 4 * 1024 * 1024
"""What is kept of one run of a module."""


class PrintLog:
    """Adds to `file`, which is made with mode 0600 by the first text; None drops everything."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._written = 0
        self._lock = threading.Lock()

    def print(self, *values: object, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False) -> None:
        """The `print` of a module: as the built-in one, but without a `file` to the log."""
        builtins.print(*values, sep=sep, end=end, file=self if file is None else file, flush=flush)

    def write(self, text: str) -> int:
        """Add a text, as long as there is room."""
        data = text.encode("utf-8", "backslashreplace")
        with self._lock:
            if self._file is not None and self._written <= LOG_BYTES:
                self._written += len(data)
                if self._written > LOG_BYTES:
                    data = b"[more than %d bytes: the rest is not kept]\n" % LOG_BYTES
                self._add(self._file, data)
        return len(text)

    def flush(self) -> None:
        """Nothing waits to be written."""

    def _add(self, file: Path, data: bytes) -> None:
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600), "ab", buffering=0) as log:
                log.write(data)
        except OSError:
            # A full disk is no reason to fail whoever prints; nothing more is tried.
            self._file = None
