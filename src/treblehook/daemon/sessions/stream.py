"""`GET /api/sessions/{id}/events`: the records of a session as server-sent events."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Any, Final

from treblehook.daemon.http.answers import ApiError, Wrong
from treblehook.daemon.http.body import Receive
from treblehook.daemon.http.callers import text_of
from treblehook.daemon.http.connection import EXTENSION
from treblehook.daemon.http.edge import HEADERS, Send
from treblehook.daemon.sessions.feed import Feed
from treblehook.daemon.sessions.position import START, Position, position_of
from treblehook.daemon.sessions.stored import frame

HEARTBEAT_SECONDS = 15.0
STUCK_SECONDS = 60.0
"""A reader that takes nothing for so long is let go of."""

_HEAD: Final = {
    "type": "http.response.start",
    "status": 200,
    "headers": [
        (b"content-type", b"text/event-stream; charset=utf-8"),
        (b"cache-control", b"no-store"),
        (b"x-accel-buffering", b"no"),
    ],
}
_HEARTBEAT: Final = b": heartbeat\n\n"

Watch = Callable[[str], AbstractAsyncContextManager[Feed]]
"""The feed of a session, which is watched as long as this is entered. Raises `ApiError` 404."""


class EventStream:
    """An ASGI app for one path parameter, `id`."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Send what there is and what comes, until the session is closed or the client has gone. Raises `ApiError`."""
        async with self._watch(scope["path_params"]["id"]) as feed:
            start = _start(text_of(scope[HEADERS], b"last-event-id"), feed)
            await send(_HEAD)
            gone = asyncio.ensure_future(_gone(receive))
            try:
                async with aclosing(self._pieces(feed, start, gone)) as pieces:
                    async for piece in pieces:
                        async with asyncio.timeout(STUCK_SECONDS):
                            await send({"type": "http.response.body", "body": piece, "more_body": True})
                        if _is_closing(scope):
                            break
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            except TimeoutError:
                # What it has been sent and not taken is still on its way, so nothing can be said to it; it resumes where it was.
                _transport(scope).abort()
                await asyncio.sleep(0)
            finally:
                gone.cancel()

    async def _pieces(self, feed: Feed, position: Position, gone: "asyncio.Future[None]") -> AsyncGenerator[bytes, None]:
        # A browser tells its page that the stream is open once something has come.
        yield _HEARTBEAT
        while not gone.done():
            news = feed.news()
            before = position
            try:
                events, position = await feed.after(position)
            except OSError:
                # Its file has gone meanwhile.
                yield frame(None, "closed", {"type": "closed", "reason": feed.closed or "unreadable"})
                return
            for told in events:
                yield told
            if events or position != before:
                continue
            if feed.closed is not None:
                yield frame(None, "closed", {"type": "closed", "reason": feed.closed})
                return
            if not await self._something_new(news, gone):
                yield _HEARTBEAT

    async def _something_new(self, news: asyncio.Event, gone: "asyncio.Future[None]") -> bool:
        waiting = asyncio.ensure_future(news.wait())
        either: set[asyncio.Future[Any]] = {waiting, gone}
        try:
            done, _ = await asyncio.wait(either, timeout=HEARTBEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        return bool(done)


async def _gone(receive: Receive) -> None:
    """Wait until the client goes away."""
    while (await receive())["type"] != "http.disconnect":
        continue


def _start(last: str | None, feed: Feed) -> Position:
    """Where a client goes on. Raises `ApiError` 400 for an id that no event of this session has."""
    if not last:
        return START
    position = position_of(last.strip())
    if position is None or not feed.holds(position):
        raise ApiError(
            400, Wrong("last_event_id", "no event has this id", "Last-Event-ID", last[:80], "the id of an event of this session")
        )
    return position


def _transport(scope: Any) -> asyncio.Transport:
    found: asyncio.Transport = scope["extensions"][EXTENSION]["transport"]
    return found


def _is_closing(scope: Any) -> bool:
    """Whether the connection has ended; behind a request that was sent ahead of its time, no message says so."""
    return _transport(scope).is_closing()
