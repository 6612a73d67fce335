"""A terminal with a person at it: the real command on a pseudo-terminal that it controls."""

import fcntl
import os
import pty
import re
import struct
import termios
from pathlib import Path

_SEQUENCE = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]")


class Terminal:
    """Runs `argv` on a terminal of its own; `shows` waits for text, `types` sends keys."""

    def __init__(self, argv: list[str], folder: Path, environment: dict[str, str]) -> None:
        self.process, self._end = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execve(argv[0], argv, {**environment, "TERM": "xterm-256color"})
        fcntl.ioctl(self._end, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        self._raw = b""
        self._seen = 0

    @property
    def text(self) -> str:
        """All that was written so far, without what moves the cursor or sets colours."""
        return _SEQUENCE.sub(b"", self._raw).decode(errors="replace").replace("\r", "")

    def shows(self, text: str) -> None:
        """Wait until `text` is written behind what was waited for before."""
        while (at := self.text.find(text, self._seen)) < 0:
            assert self._read(), f"{text!r} is not in {self.text[self._seen :]!r}"
        self._seen = at + len(text)

    def types(self, keys: str) -> None:
        """Press keys."""
        os.write(self._end, keys.encode())

    @property
    def echoes(self) -> bool:
        """Whether the terminal shows what is typed by itself."""
        return bool(termios.tcgetattr(self._end)[3] & termios.ECHO)

    def ended(self) -> int:
        """Wait for the end of the command; answers its exit status, negative for a signal."""
        while self._read():
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])

    def close(self) -> None:
        """Hang up."""
        os.close(self._end)

    def _read(self) -> bool:
        try:
            data = os.read(self._end, 65536)
        except OSError:
            # Nobody has the other end open any more.
            return False
        self._raw += data
        return bool(data)
