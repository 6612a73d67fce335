"""Reading a request's body: never more than the limit, and never more of all of them than there is room for.

How long a request may take altogether is the connection's business.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from types import TracebackType
from typing import Any, Final, Self

from treblehook.daemon.http.answers import ApiError, refused
from treblehook.daemon.http.callers import Headers

Receive = Callable[[], Awaitable[Any]]

LIMIT_BYTES: Final = 10 * 1024 * 1024
"""The largest body (crucible.md 8.2)."""

_DRAINED_BYTES: Final = 4 * LIMIT_BYTES
"""So much of a body that is too large is read and thrown away: a client that writes before it reads still gets its answer."""

ROOM_BYTES: Final = 16 * LIMIT_BYTES
"""So much of large bodies is held at once."""

_SMALL_BYTES: Final = 64 * 1024
_NO_SHARE: Final = nullcontext()


class Disconnected(Exception):
    """The client has gone before its request was complete."""


class Share:
    """What one body takes of the room, for as long as it is entered: what has come of it, and not what it says it will have.

    A sender that is slow therefore takes none from others. Of the bodies that are still coming the oldest grows even where the room
    is full, so that one always gets to its end.
    """

    def __init__(self, room: "Bodies") -> None:
        self._room = room
        self._bytes = 0

    async def grow(self, more: int) -> None:
        """Wait until `more` bytes may be held."""
        room = self._room
        while room.held + more > room.most and next(iter(room.coming)) is not self:
            await room.freed.wait()
        self._bytes += more
        room.held += more

    def complete(self) -> None:
        """The body is there."""
        self._room.coming.pop(self, None)
        self._room.wake()

    async def __aenter__(self) -> Self:
        self._room.coming[self] = None
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._room.held -= self._bytes
        self.complete()


class Bodies:
    """Reads bodies of `limit` bytes at most; those over 64 KiB share `most` bytes of room."""

    def __init__(self, limit: int = LIMIT_BYTES, most: int = ROOM_BYTES) -> None:
        self._limit = limit
        self.most = most
        self.held = 0
        self.coming: dict[Share, None] = {}
        """those whose bodies are not complete, the oldest first"""
        self.freed = asyncio.Event()
        """set once there may be more room"""

    def share(self, declared: int | None) -> AbstractAsyncContextManager[Share | None]:
        """What is to be entered for as long as a body of so many bytes is kept; None stands for one in chunks."""
        return _NO_SHARE if declared is not None and declared <= _SMALL_BYTES else Share(self)

    def wake(self) -> None:
        """Let those who wait for room look again."""
        self.freed.set()
        self.freed = asyncio.Event()

    async def read(self, declared: int | None, receive: Receive, share: Share | None, *, keep: bool, expected: bool = False) -> bytes:
        """The whole body; without `keep` it is only measured, and b"". With `expected` the client waits to be told to send it.

        Raises `ApiError` 413, and `Disconnected`.
        """
        if expected and declared is not None and declared > self._limit:
            raise self._too_large(closes=True)
        kept = self._limit if keep and (declared is None or declared <= self._limit) else 0
        message = await receive()
        if message["type"] == "http.request" and not message.get("more_body") and len(message["body"]) <= kept:
            whole: bytes = message["body"]
            if share is not None:
                await share.grow(len(whole))
        else:
            whole = await self._rest(message, receive, share, kept)
        if share is not None:
            share.complete()
        return whole

    async def _rest(self, message: Any, receive: Receive, share: Share | None, kept: int) -> bytes:
        """The body that begins with `message`, of which not more than `kept` bytes are held."""
        body = bytearray()
        size = 0
        while message["type"] == "http.request":
            chunk = message.get("body", b"")
            size += len(chunk)
            if size <= kept:
                if share is not None:
                    await share.grow(len(chunk))
                body += chunk
            else:
                body.clear()
            if size > max(self._limit, _DRAINED_BYTES):
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
