"""A stream of text whose reader may go away, or whose disk may be full."""

import errno
import os
from collections.abc import Callable
from typing import TextIO


class Stream:
    """Writes at once. When that fails, `on_lost` is called one time, and whatever comes later is dropped.

    `fault` then says why, unless it is just that the reader has gone.
    """

    def __init__(self, file: TextIO) -> None:
        self.lost = False
        self.fault = ""
        self.on_lost: Callable[[], None] = _nobody_minds
        self._file = file

    @property
    def terminal(self) -> bool:
        """Whether a person looks at it, on a terminal that can move its cursor."""
        return self._file.isatty() and os.environ.get("TERM") != "dumb"

    def write(self, text: str) -> None:
        """Write `text` and flush."""
        if self.lost:
            return
        try:
            self._file.write(text)
            self._file.flush()
        except OSError as error:
            self.lost = True
            if error.errno != errno.EPIPE:
                self.fault = error.strerror or str(error)
            let_go(self._file)
            self.on_lost()


def let_go(file: TextIO) -> None:
    """Nothing more reaches `file`: what it still holds is written when the interpreter exits, and would fail there again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, file.fileno())
    os.close(nowhere)


def _nobody_minds() -> None:
    """Nothing has been asked for."""
