"""JSON lines over one end of a socket pair, bounded in both directions."""

import asyncio
import socket
from collections.abc import Callable

from treblehook.runtimes.node.values import BACKLOG_BYTES, LINE_BYTES

_CHUNK = 65_536


class Channel:
    """Sends lines and hands over those that arrive, without their line ends.

    `on_closed` is called once when the other side is gone (with None) or sends a line over the limit (with a text that says so);
    never after `close`.
    A wake of the event loop reads one chunk at most, so that a flood here leaves time for everybody else.
    """

    def __init__(self, end: socket.socket, on_line: Callable[[bytes], None], on_closed: Callable[[str | None], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._socket: socket.socket | None = end
        self._on_line = on_line
        self._on_closed = on_closed
        self._begun: list[bytes] = []
        self._begun_bytes = 0
        self._unsent = bytearray()
        end.setblocking(False)
        self._loop.add_reader(end, self._read)

    def send(self, line: bytes) -> bool:
        """Send a line, which has its line end; false where too much is waiting already, or the channel is closed."""
        if self._socket is None or len(self._unsent) + len(line) > BACKLOG_BYTES:
            return False
        if self._unsent:
            self._unsent += line
            return True
        sent = self._send_some(line)
        if sent < len(line) and self._socket is not None:
            self._unsent += line[sent:]
            self._loop.add_writer(self._socket, self._write)
        return True

    def close(self) -> None:
        """Let go of the socket; what was not sent is dropped. Closing twice is fine."""
        if self._socket is None:
            return
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)
        self._socket.close()
        self._socket = None
        self._unsent.clear()

    def _send_some(self, data: bytes | bytearray) -> int:
        assert self._socket is not None, "only an open channel sends"
        try:
            return self._socket.send(data)
        except BlockingIOError:
            return 0
        except OSError:
            # Nobody reads any more; the reader meets the end too, and tells of it.
            return len(data)

    def _write(self) -> None:
        if self._socket is None:
            return
        sent = self._send_some(self._unsent)
        del self._unsent[:sent]
        if not self._unsent:
            self._loop.remove_writer(self._socket)

    def _read(self) -> None:
        if self._socket is None:
            return
        try:
            data = self._socket.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._end(None)
            return
        *whole, rest = data.split(b"\n")
        for line in whole:
            self._begun.append(line)
            complete = b"".join(self._begun)
            self._begun.clear()
            self._begun_bytes = 0
            self._on_line(complete)
            if self._socket is None:
                return
        if rest:
            self._begun.append(rest)
            self._begun_bytes += len(rest)
        if self._begun_bytes > LINE_BYTES:
            self._end(f"it sent a line of more than {LINE_BYTES} bytes")

    def _end(self, why: str | None) -> None:
        self.close()
        self._on_closed(why)
