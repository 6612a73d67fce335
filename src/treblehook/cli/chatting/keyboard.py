"""The keyboard of a terminal, read key by key while everything else goes on."""

import asyncio
import os
import termios
from collections.abc import Callable
from typing import Any, Final

from treblehook.cli.chatting.keys import KeyReader, Pressed, Typed

_ESCAPE_SECONDS: Final = 0.05
"""How long the rest of a key's sequence may take; a lone Esc is certain after that."""
_PASTE_ON: Final = b"\x1b[?2004h"
_PASTE_OFF: Final = b"\x1b[?2004l"


class Keyboard:
    """Hands over keys while it is `open`. Ctrl-C stays a signal. `hung_up` is called when the terminal has gone."""

    def __init__(self, terminal: int, on_key: Callable[[Typed | Pressed], None], hung_up: Callable[[], None]) -> None:
        self._terminal = terminal
        self._on_key = on_key
        self._hung_up = hung_up
        self._reader = KeyReader()
        self._before: list[Any] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def open(self) -> None:
        """No echo and no line editing of the terminal's own."""
        if self._before is not None:
            return
        self._before = termios.tcgetattr(self._terminal)
        self.apply()
        asyncio.get_running_loop().add_reader(self._terminal, self._ready)

    def apply(self) -> None:
        """Set the terminal's modes, anew where the process was stopped and goes on."""
        modes = termios.tcgetattr(self._terminal)
        modes[3] &= ~(termios.ICANON | termios.ECHO)
        termios.tcsetattr(self._terminal, termios.TCSANOW, modes)
        os.write(self._terminal, _PASTE_ON)

    def close(self) -> None:
        """Give the terminal back as it was."""
        if self._before is None:
            return
        asyncio.get_running_loop().remove_reader(self._terminal)
        if self._timer is not None:
            self._timer.cancel()
        self.restore()

    def restore(self) -> None:
        """The terminal's part of `close`, from a signal handler too."""
        if self._before is None:
            return
        before, self._before = self._before, None
        try:
            os.write(self._terminal, _PASTE_OFF)
            termios.tcsetattr(self._terminal, termios.TCSANOW, before)
        except (OSError, termios.error):
            # It has hung up; there is nothing to give back.
            return

    def _ready(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        try:
            data = os.read(self._terminal, 4096)
        except OSError:
            data = b""
        if not data:
            self.close()
            self._hung_up()
            return
        self._tell(self._reader.feed(data))
        if self._reader.unsure:
            self._timer = asyncio.get_running_loop().call_later(_ESCAPE_SECONDS, lambda: self._tell(self._reader.settle()))

    def _tell(self, keys: list[Typed | Pressed]) -> None:
        for key in keys:
            self._on_key(key)
