"""`cru.permissions.on_request` (crucible.md 6.1): asked about a call that would otherwise prompt, it may allow or deny."""

from typing import Any, Final

from treblehook.contracts.crucible.author import Author
from treblehook.contracts.crucible.caller import Caller
from treblehook.contracts.crucible.chunk import Chunk
from treblehook.contracts.crucible.plain import is_true, what
from treblehook.contracts.crucible.problems import hook_problem
from treblehook.engine.handler import Ask
from treblehook.lifecycle import Allow, Decision, Deny, PermissionRequest
from treblehook.runtimes.lua import LuaFailed, LuaFunction, LuaVM

SECONDS: Final = 1.0
"""How long a hook may compute; it cannot wait (crucible.md D15)."""


class PermissionHooks:
    """Asks the permission hooks of one machine."""

    def __init__(self, lua: LuaVM) -> None:
        self._lua = lua
        self._call = Chunk(lua, "opinion.lua")

    def asking(self, function: LuaFunction, author: Author) -> Ask:
        """How `function` is asked. A hook that fails has no opinion, so the user is asked: it never allows."""

        async def ask(event: PermissionRequest) -> Decision | None:
            about = Caller(event.session or None, author.code, author.event, author.name)
            try:
                returned = self._lua.run_now(self._call.function(), function, request_of(event), about=about, cpu_seconds=SECONDS)
            except LuaFailed as error:
                raise hook_problem(error, author, SECONDS) from error
            return _opinion(returned[0] if returned else None, event.call.name, author)

        return ask


def request_of(event: PermissionRequest) -> dict[str, Any]:
    """The request as the hook sees it, after all rewrites. `is_safe` is false: a call that is safe is not asked about."""
    given = event.call.input
    path = next((value for key in ("path", "file") if isinstance(value := given.get(key), str)), None)
    return {"tool_name": event.call.name, "args": given, "file_path": path, "mode": "normal", "is_safe": False}


def _opinion(value: object, tool: str, author: Author) -> Decision | None:
    if not isinstance(value, dict):
        if value is not None:
            author.warn(f"returned {what(value)}, which is no opinion; {{ allow = true }} or {{ deny = true }} is one")
        return None
    allow, deny = (is_true(value.get(key)) for key in ("allow", "deny"))
    if allow and deny:
        author.warn("returned both `allow` and `deny`; the call is denied")
    if deny:
        given = value["deny"] if isinstance(value["deny"], str) else value.get("reason")
        denial = f"The Lua permission hook denied `{tool}`."
        return Deny(f"{denial} {given}" if isinstance(given, str) and given else denial)
    return Allow() if allow else None
