"""A client of server-sent events that is no browser (WHATWG HTML, 9.2)."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx2


class Event(NamedTuple):
    """One event, as it was dispatched; `id` is the last one that was seen."""

    id: str
    type: str
    data: str

    @property
    def record(self) -> dict[str, Any]:
        """The data as JSON."""
        found: dict[str, Any] = json.loads(self.data)
        return found


class Events:
    """An open stream. `comments` are the lines that are none of an event."""

    def __init__(self, response: httpx2.Response) -> None:
        self.response = response
        self.comments: list[str] = []
        self.last_id = ""
        self._events = self._read()

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._events

    async def take(self, count: int) -> list[Event]:
        """The next events."""
        return [await anext(self._events) for _ in range(count)]

    async def until(self, type: str) -> list[Event]:
        """The next events up to one of this type."""
        found = []
        async for event in self._events:
            found.append(event)
            if event.type == type:
                return found
        raise AssertionError(f"no {type}, but {[event.type for event in found]}")

    async def rest(self) -> list[Event]:
        """What comes until the stream ends."""
        return [event async for event in self._events]

    async def _read(self) -> AsyncIterator[Event]:
        kind = ""
        data: list[str] = []
        async for line in self.response.aiter_lines():
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if not line:
                if data:
                    yield Event(self.last_id, kind or "message", "\n".join(data))
                kind, data = "", []
            elif not field:
                self.comments.append(value)
            elif field == "event":
                kind = value
            elif field == "data":
                data.append(value)
            elif field == "id" and "\0" not in value:
                self.last_id = value


@asynccontextmanager
async def watching(client: httpx2.AsyncClient, session: str, after: str = "") -> AsyncIterator[Events]:
    """The stream of a session, from the event with the id `after` on."""
    headers = {"last-event-id": after} if after else {}
    async with client.stream("GET", f"/api/sessions/{session}/events", headers=headers, timeout=None) as response:
        assert response.status_code == 200, (response.status_code, await response.aread())
        yield Events(response)
