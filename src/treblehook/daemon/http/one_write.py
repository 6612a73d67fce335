"""An answer's head and its body, which uvicorn writes one after the other, sent as one."""

import asyncio
from typing import Any


class OneWrite(asyncio.Transport):
    """Holds a write until the next one, or until the event loop has gone on: each system call costs as much as all else that is
    done for a small answer."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._transport = transport
        self._loop = loop
        self._held = b""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send soon."""
        if self._held:
            held, self._held = self._held, b""
            self._transport.write(held + data)
        elif data:
            self._held = bytes(data)
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        if self._held:
            held, self._held = self._held, b""
            self._transport.write(held)

    def write_eof(self) -> None:
        """Send what is held; nothing follows."""
        self._flush()
        self._transport.write_eof()

    def close(self) -> None:
        """Send what is held, then close."""
        self._flush()
        self._transport.close()

    def abort(self) -> None:
        """Break the connection off."""
        self._transport.abort()

    def is_closing(self) -> bool:
        """Whether it is being closed, or has been."""
        return self._transport.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """As the connection's own."""
        return self._transport.get_extra_info(name, default)

    def pause_reading(self) -> None:
        """As the connection's own."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """As the connection's own."""
        self._transport.resume_reading()
