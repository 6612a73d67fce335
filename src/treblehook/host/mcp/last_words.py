"""The end of what a server process writes to standard error: its reason, should it not start."""

import asyncio
import os

KEPT = 4096


class LastWords:
    """A pipe that keeps the last 4 KiB of what is written to it, for one event loop. `file` is the end to write to."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._descriptor, writing = os.pipe()
        os.set_blocking(self._descriptor, False)
        self.file = os.fdopen(writing, "w")
        self._kept = b""
        self._loop.add_reader(self._descriptor, self._read)

    def text(self) -> str:
        """The last line that says something, or an empty text; also after `close`."""
        if not self.file.closed:
            self._read()
        lines = self._kept.decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def close(self) -> None:
        """Give both ends back. A process that still writes gets a broken pipe."""
        self._loop.remove_reader(self._descriptor)
        os.close(self._descriptor)
        self.file.close()

    def _read(self) -> None:
        try:
            chunk = os.read(self._descriptor, 65_536)
        except BlockingIOError:
            return
        self._kept = (self._kept + chunk)[-KEPT:]
