"""Reading a request's body: never more than the limit, and never too many big ones at once.

How long a request may take altogether is the connection's business.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, Final

from treblehook.daemon.http.answers import ApiError, refused
from treblehook.daemon.http.callers import Headers

Receive = Callable[[], Awaitable[Any]]

LIMIT_BYTES: Final = 10 * 1024 * 1024
"""The largest body (crucible.md 8.2)."""

_DRAINED_BYTES: Final = 4 * LIMIT_BYTES
"""So much of a body that is too large is read and thrown away: a client that writes before it reads still gets its answer."""

_SMALL_BYTES: Final = 64 * 1024
_LARGE_ONES: Final = 16
_NO_ROOM: Final = nullcontext()


class Disconnected(Exception):
    """The client has gone before its request was complete."""


class Bodies:
    """Reads bodies of `limit` bytes at most; those over 64 KiB share room for sixteen."""

    def __init__(self, limit: int = LIMIT_BYTES) -> None:
        self._limit = limit
        self._room = asyncio.Semaphore(_LARGE_ONES)

    def room(self, declared: int | None) -> AbstractAsyncContextManager[None]:
        """What is to be entered for as long as a body of so many bytes is kept; None stands for one in chunks."""
        return _NO_ROOM if declared is not None and declared <= _SMALL_BYTES else self._room

    async def read(self, declared: int | None, receive: Receive, *, keep: bool, expected: bool = False) -> bytes:
        """The whole body; without `keep` it is only measured, and b"". With `expected` the client waits to be told to send it.

        Raises `ApiError` 413, and `Disconnected`.
        """
        if expected and declared is not None and declared > self._limit:
            raise self._too_large(closes=True)
        kept = self._limit if keep and (declared is None or declared <= self._limit) else 0
        message = await receive()
        if message["type"] == "http.request" and not message.get("more_body") and len(message["body"]) <= kept:
            whole: bytes = message["body"]
            return whole
        return await self._rest(message, receive, kept)

    async def _rest(self, message: Any, receive: Receive, kept: int) -> bytes:
        """The body that begins with `message`, of which not more than `kept` bytes are held."""
        body = bytearray()
        size = 0
        while message["type"] == "http.request":
            chunk = message.get("body", b"")
            size += len(chunk)
            if size <= kept:
                body += chunk
            else:
                body.clear()
            if size > _DRAINED_BYTES:
                raise self._too_large(closes=True)
            if not message.get("more_body"):
                if size > self._limit:
                    raise self._too_large(closes=False)
                return bytes(body)
            message = await receive()
        raise Disconnected

    def _too_large(self, *, closes: bool) -> ApiError:
        message = f"the body is larger than {self._limit} bytes"
        return refused(413, "too_large", message, connection="close") if closes else refused(413, "too_large", message)


def declared_length(headers: Headers) -> int | None:
    """What the request says its body has; None for one in chunks, and for what is no number."""
    length = headers.get(b"content-length", b"0")
    return int(length) if b"transfer-encoding" not in headers and length.isdigit() and len(length) < 20 else None
