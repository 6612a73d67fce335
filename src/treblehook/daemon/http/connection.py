"""One TCP connection: how long a request's head may be and take, and the way to break off one that is stuck."""

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from treblehook.daemon.http.answers import MEDIA_TYPE

HEAD_BYTES: Final = 64 * 1024
HEAD_SECONDS: Final = 30.0

_LAST_SECONDS: Final = 2.0

EXTENSION: Final = "treblehook.connection"
"""Where in a request's `extensions` its transport is found."""


class Connection(HttpToolsProtocol):
    """uvicorn's protocol with a bound on the head of a request, which it does not have: 431 for a larger one, and one that does
    not come, also on a connection that asks nothing at all, closes the connection."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_bytes = 0
        self._in_head = True
        self._refused = False
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """A client has connected."""
        super().connection_made(transport)
        self._head_timer = self.loop.call_later(HEAD_SECONDS, transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client, or the connection, has gone."""
        self._head_is_there()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """A part of a request, or of several."""
        if self._refused:
            return
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_timer is None:
                self._head_timer = self.loop.call_later(HEAD_SECONDS, self.transport.abort)
        super().data_received(data)
        # What is behind the head in the same part has been counted too, so only a head that is still open is judged.
        if self._in_head and self._head_bytes > HEAD_BYTES and not self.transport.is_closing():
            self._refuse_head()

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self.scope["extensions"] = {EXTENSION: {"transport": self.transport}}

    def on_headers_complete(self) -> None:
        """The head is there."""
        self._head_is_there()
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is there."""
        super().on_message_complete()
        self._in_head = True
        self._head_bytes = 0

    def _head_is_there(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _refuse_head(self) -> None:
        body = b'{"error":{"code":"head_too_large","message":"the head of the request is larger than %d bytes"}}' % HEAD_BYTES
        head = f"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\n"
        self.transport.write(head.encode() + b"connection: close\r\n\r\n" + body)
        # A client that is still writing would lose the answer if the connection were closed at once.
        self._refused = True
        self.transport.write_eof()
        self._head_is_there()
        self._head_timer = self.loop.call_later(_LAST_SECONDS, self.transport.abort)
