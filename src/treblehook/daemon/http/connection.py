"""One TCP connection: how large what is no body may be, how long a request may take, and how one that is stuck is broken off."""

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from treblehook.daemon.http.answers import MEDIA_TYPE
from treblehook.daemon.http.one_write import OneWrite

HEAD_BYTES: Final = 64 * 1024
"""How large a head may be, and what stands between the pieces of a body that comes in chunks, and behind them."""

REQUEST_SECONDS: Final = 60.0
"""How long a request may take to come, from its first byte, or from the connection, to its last."""

_LAST_SECONDS: Final = 2.0

EXTENSION: Final = "treblehook.connection"
"""Where in a request's `extensions` its transport is found."""


class Connection(HttpToolsProtocol):
    """uvicorn's protocol with bounds that it does not have: a head that is too large is a 431, and a connection on which no request
    comes, or only a part of one, is broken off."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_bytes = 0
        self._in_head = True
        self._complete = True
        self._refused = False
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """A client has connected."""
        super().connection_made(OneWrite(transport, self.loop))
        self._start_timer(REQUEST_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client, or the connection, has gone."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """A part of a request, or of several."""
        if self._refused:
            return
        self._complete = False
        self._head_bytes += len(data)
        super().data_received(data)
        if self._complete:
            self._stop_timer()
        elif self._timer is None and not self.transport.is_closing():
            self._start_timer(REQUEST_SECONDS)
        # What is behind the head in the same part has been counted too, so only a head that is still open is judged.
        if self._head_bytes > HEAD_BYTES and not self.transport.is_closing():
            self._refuse_head() if self._in_head else self.transport.abort()

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._complete = False
        self.scope["extensions"] = {EXTENSION: {"transport": self.transport}}

    def on_header(self, name: bytes, value: bytes) -> None:
        """A line of the head. One behind the body is none of it: all that is decided by headers has been decided."""
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is there."""
        self._in_head = False
        self._head_bytes = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of the body."""
        self._head_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is there."""
        super().on_message_complete()
        self._in_head = self._complete = True
        self._head_bytes = 0

    def send_400_response(self, msg: str) -> None:
        """What came is no HTTP."""
        body = b'{"error":{"code":"no_http","message":"this is no HTTP request"}}\n'
        head = f"HTTP/1.1 400 Bad Request\r\ncontent-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self.transport.write(head.encode() + body)
        self.transport.close()

    def _start_timer(self, seconds: float) -> None:
        self._timer = self.loop.call_later(seconds, self.transport.abort)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse_head(self) -> None:
        body = b'{"error":{"code":"head_too_large","message":"the head of the request is larger than %d bytes"}}' % HEAD_BYTES
        head = f"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\n"
        self.transport.write(head.encode() + b"connection: close\r\n\r\n" + body)
        # A client that is still writing would lose the answer if the connection were closed at once.
        self._refused = True
        self.transport.write_eof()
        self._stop_timer()
        self._start_timer(_LAST_SECONDS)
