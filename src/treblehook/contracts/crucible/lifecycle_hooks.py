"""`cru.on_session_start` and `cru.on_session_end` (crucible.md 6.2, 6.3): a hook is asked once, when a session begins or ends."""

from collections.abc import Callable, Coroutine
from typing import Any, Final

from treblehook.contracts.crucible.author import Author
from treblehook.contracts.crucible.caller import Caller
from treblehook.contracts.crucible.chunk import Chunk
from treblehook.contracts.crucible.problems import hook_problem
from treblehook.lifecycle import SessionEnd, SessionStart
from treblehook.runtimes.lua import LuaFailed, LuaFunction, LuaVM

SECONDS: Final = 120.0
"""How long a hook on the plugin machine may wait (crucible.md D15)."""

LifecycleAsk = Callable[[Any], Coroutine[Any, Any, None]]


class LifecycleHooks:
    """Asks the lifecycle hooks of one machine. The one of a session runs them at once, so that they cannot wait."""

    def __init__(self, lua: LuaVM, *, waits: bool) -> None:
        self._lua = lua
        self._waits = waits
        self._call = Chunk(lua, "session_object.lua")

    def asking(self, function: LuaFunction, author: Author) -> LifecycleAsk:
        """How `function` is asked about `SessionStart` and `SessionEnd`."""

        async def ask(event: SessionStart | SessionEnd) -> None:
            about = Caller(event.session, author.code, author.event, author.name)
            which = "end" if isinstance(event, SessionEnd) else "start"
            try:
                if self._waits:
                    await self._lua.run(self._call.function(), function, _fields(event), which, about=about, seconds=SECONDS)
                else:
                    self._lua.run_now(self._call.function(), function, _fields(event), which, about=about)
            except LuaFailed as error:
                raise hook_problem(error, author, SECONDS) from error

        return ask


def _fields(event: SessionStart | SessionEnd) -> dict[str, Any]:
    fields: dict[str, Any] = {"id": event.session, "workspace": event.workspace or None}
    return {**fields, "end_reason": event.reason} if isinstance(event, SessionEnd) else fields


def begins(event: SessionStart) -> bool:
    """Whether a session begins: what is compacted has begun long ago."""
    return event.reason != "compacted"
