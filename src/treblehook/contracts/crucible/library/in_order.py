"""A Lua function that is told one thing after the other, in the background and never twice at once."""

import asyncio
from collections import deque
from typing import Any, Final

from treblehook.contracts.crucible.caller import Caller
from treblehook.contracts.crucible.library.library import Library
from treblehook.runtimes.lua import LuaClosed, LuaFailed, LuaFunction

WAITING: Final = 1_000
"""How much may wait for a slow function; what comes then is dropped, which is logged."""


class InOrder:
    """Calls `function` with each value, in the name of who asked for it. Errors are logged, and it goes on."""

    def __init__(self, library: Library, function: LuaFunction, name: str) -> None:
        self._library = library
        self._function = function
        self._name = name
        self._caller: Caller = library.caller
        self._waiting: deque[dict[str, Any]] = deque()
        self._working: asyncio.Task[Any] | None = None
        self._dropped = 0
        self._closed = False

    def tell(self, value: dict[str, Any]) -> None:
        """Never waits."""
        if self._closed:
            return
        if len(self._waiting) >= WAITING:
            self._dropped += 1
            return
        self._waiting.append(value)
        if self._working is None or self._working.done():
            self._working = self._library.owned.run(self._caller.owner, self._work())

    def close(self) -> None:
        """Nothing more is told; a call that is under way comes to its end."""
        self._closed = True
        self._waiting.clear()

    async def _work(self) -> None:
        while self._waiting:
            value = self._waiting.popleft()
            try:
                await self._library.lua.run(self._function, value, about=self._caller)
            except LuaClosed:
                return
            except LuaFailed as failure:
                self._library.log("error", f"{self._name}: {failure.message}", self._caller)
            if self._dropped:
                self._library.log("warn", f"{self._name}: the function is too slow, {self._dropped} were dropped", self._caller)
                self._dropped = 0
