"""Reading a request's body: never more than the limit, never for ever, and never too many big ones at once."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

from treblehook.daemon.http.answers import refused
from treblehook.daemon.http.callers import Headers, values

Receive = Callable[[], Awaitable[Any]]

LIMIT_BYTES: Final = 10 * 1024 * 1024
"""The largest body (crucible.md 8.2)."""

READ_SECONDS: Final = 60.0
"""A body that takes longer is not waited for."""

_DRAINED_BYTES: Final = 4 * LIMIT_BYTES
"""So much of a body that is too large is read and thrown away: a client that writes before it reads still gets its answer."""

_SMALL_BYTES: Final = 64 * 1024
_LARGE_ONES: Final = 16


class Disconnected(Exception):
    """The client has gone before its request was complete."""


class Bodies:
    """Reads bodies. `limit` is in bytes, `seconds` for one whole body; bodies over 64 KiB share room for sixteen."""

    def __init__(self, limit: int = LIMIT_BYTES, seconds: float = READ_SECONDS) -> None:
        self._limit = limit
        self._seconds = seconds
        self._room = asyncio.Semaphore(_LARGE_ONES)

    @asynccontextmanager
    async def read(self, headers: Headers, receive: Receive, *, keep: bool) -> AsyncIterator[bytes]:
        """The whole body, which has its room as long as this is entered; without `keep` it is only measured, and b"".

        Raises `ApiError` 413 for one that is too large and 408 for one that does not come, and `Disconnected`.
        """
        declared = _declared(headers)
        if declared is not None and declared > self._limit and values(headers, b"expect"):
            # The client waits to be told to send it.
            raise self._too_large(closes=True)
        kept = self._limit if keep and (declared is None or declared <= self._limit) else 0
        if not kept or (declared is not None and declared <= _SMALL_BYTES):
            yield await self._whole(receive, kept)
            return
        async with self._room:
            yield await self._whole(receive, kept)

    async def _whole(self, receive: Receive, kept: int) -> bytes:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._received(receive, kept)
        except TimeoutError:
            raise refused(408, "body_timeout", f"the body did not arrive within {self._seconds:g} s", connection="close") from None

    async def _received(self, receive: Receive, kept: int) -> bytes:
        """The body, of which not more than `kept` bytes are held."""
        body = bytearray()
        size = 0
        while (message := await receive())["type"] == "http.request":
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
        raise Disconnected

    def _too_large(self, *, closes: bool) -> Exception:
        message = f"the body is larger than {self._limit} bytes"
        return refused(413, "too_large", message, connection="close") if closes else refused(413, "too_large", message)


def _declared(headers: Headers) -> int | None:
    """What the request says its body has; None for one in chunks, and for what is no number."""
    if values(headers, b"transfer-encoding"):
        return None
    length = "".join(values(headers, b"content-length")) or "0"
    return int(length) if length.isascii() and length.isdigit() and len(length) < 20 else None
