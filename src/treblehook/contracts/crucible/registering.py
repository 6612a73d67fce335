"""The functions with which Lua code registers itself: `cru.on`, the lifecycle hooks, the permission hook (crucible.md 2 and 6).

Everything is checked before anything is kept: a registration that raises leaves no trace.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from treblehook.contracts.crucible.asking import SECONDS, asking
from treblehook.contracts.crucible.author import Author
from treblehook.contracts.crucible.caller import USER
from treblehook.contracts.crucible.events import EVENTS, HookEvent
from treblehook.contracts.crucible.lifecycle_hooks import SECONDS as LIFECYCLE_SECONDS
from treblehook.contracts.crucible.lifecycle_hooks import LifecycleHooks, begins
from treblehook.contracts.crucible.names import unknown_event
from treblehook.contracts.crucible.options import Options, read_options, unknown_option
from treblehook.contracts.crucible.permission_hooks import SECONDS as PERMISSION_SECONDS
from treblehook.contracts.crucible.permission_hooks import PermissionHooks
from treblehook.contracts.crucible.plain import is_true, what
from treblehook.contracts.crucible.registrations import Registrations
from treblehook.engine import Handler, Lane, Mode, OnFailure, Origin, Tier
from treblehook.engine.handler import Ask
from treblehook.lifecycle import Event, PermissionRequest, SessionEnd, SessionStart
from treblehook.runtimes.lua import LuaFunction, LuaRaise, LuaTable, LuaVM

LANE: Final = Lane("crucible")
_FORMS: Final = "cru.on(event, handler) or cru.on(event, options, handler)"


class Registering:
    """Provides the functions to one machine. `author` says who is calling, for an event."""

    def __init__(
        self,
        kind: Literal["session", "plugin"],
        lua: LuaVM,
        registrations: Registrations,
        author: Callable[[str], Author],
        modes: Mapping[str, Mode],
    ) -> None:
        self._kind = kind
        self._lua = lua
        self._registrations = registrations
        self._author = author
        self._modes = modes
        self._lifecycle = LifecycleHooks(lua, waits=kind == "plugin")
        self._permissions = PermissionHooks(lua)

    def provide(self) -> None:
        """Put them into the machine. Plugins have no permission hooks: they cancel a call instead."""
        self._lua.provide("cru.on", self._on, tables="raw")
        self._lua.provide("cru.on_session_start", self._on_session_start, tables="raw")
        self._lua.provide("cru.on_session_end", self._on_session_end)
        if self._kind == "session":
            self._lua.provide("cru.permissions.on_request", self._on_request, tables="raw")

    def _on(self, *given: object) -> None:
        hook, function, raw = _read(given)
        author = self._author(hook.name)
        options = read_options("cru.on", raw, author.warn) if raw is not None else Options()
        if options.pattern is not None and not hook.identifier:
            author.warn(f"has no identifier, so the pattern `{options.pattern}` never matches and the handler never runs")
        if hook.of_daemon and self._only_here(author):
            author.warn("belongs to no session, so a handler that is registered in one never runs; register it in a plugin")
        ask = asking(self._lua, hook, function, author)
        self._bind(hook.event, ask, author, options, seconds=SECONDS, on_failure=hook.on_failure, when=hook.when)

    def _on_session_start(self, *given: object) -> None:
        function = _function("cru.on_session_start", given)
        author = self._author("on_session_start")
        required = self._required(given[1] if len(given) > 1 else None, author)
        policy = OnFailure.CLOSED if required else OnFailure.OPEN
        ask = self._lifecycle.asking(function, author)
        self._bind(SessionStart, ask, author, Options(), seconds=LIFECYCLE_SECONDS, on_failure=policy, when=begins)

    def _required(self, given: object, author: Author) -> bool:
        """Whether the session is refused where the hook raises: never by one of the session's own machine (crucible.md 6.2)."""
        if given is None:
            return False
        if not isinstance(given, LuaTable):
            raise LuaRaise(f"cru.on_session_start: the options are {what(given)}; a table is needed")
        for key in given.keys:
            if key != "required":
                author.warn(unknown_option("cru.on_session_start", key, ("required",)))
        required = is_true(given.keys.get("required")) or "required" in given.invalid
        if required and self._only_here(author):
            author.warn("`required` has no effect in a session's own machine; only a plugin can refuse a session")
        return required and self._kind == "plugin"

    def _on_session_end(self, *given: object) -> None:
        author = self._author("on_session_end")
        ask = self._lifecycle.asking(_function("cru.on_session_end", given), author)
        self._bind(SessionEnd, ask, author, Options(), seconds=LIFECYCLE_SECONDS)

    def _on_request(self, *given: object) -> None:
        function = _function("cru.permissions.on_request", given)
        author = self._author("permissions.on_request")
        raw = given[1] if len(given) > 1 else None
        if raw is not None and not isinstance(raw, LuaTable):
            raise LuaRaise(f"cru.permissions.on_request: the options are {what(raw)}; a table is needed")
        options = read_options("cru.permissions.on_request", raw, author.warn) if raw is not None else Options()
        ask = self._permissions.asking(function, author)
        self._bind(PermissionRequest, ask, author, options, seconds=PERMISSION_SECONDS)

    def _bind(
        self,
        event: type[Event],
        ask: Ask,
        author: Author,
        options: Options,
        *,
        seconds: float,
        on_failure: OnFailure = OnFailure.OPEN,
        when: Callable[[Any], bool] | None = None,
    ) -> None:
        handler = Handler(
            event,
            ask,
            name=author.name,
            origin=Origin("crucible", author.event, author.file, author.line),
            tier=Tier.SESSION if self._kind == "session" else Tier.PLUGIN,
            priority=options.priority,
            pattern=options.pattern,
            timeout=seconds,
            keeps_time=True,
            lane=LANE,
            on_failure=on_failure,
            mode=self._modes.get(author.name, Mode.ON),
            when=when,
        )
        if handler.pattern is not None and handler.pattern.malformed:
            author.warn(f"the pattern `{options.pattern}` is malformed, so it never matches and the handler never runs")
        self._registrations.add(handler, author.owner)

    def _only_here(self, author: Author) -> bool:
        """Whether the code runs in a session's machine alone; the user's own file is evaluated in both (crucible.md 2.9)."""
        return self._kind == "session" and author.name != USER


def _read(given: tuple[object, ...]) -> tuple[HookEvent, LuaFunction, LuaTable | None]:
    """The event, the function and the options of a call of `cru.on`, checked in the order of crucible.md 2.2."""
    if len(given) < 2:
        raise LuaRaise(f"cru.on: an event and a handler are needed: {_FORMS}")
    name, second = given[:2]
    if not isinstance(name, str):
        raise LuaRaise(f"cru.on: the event type is {what(name)}; it must be a string")
    if name not in EVENTS:
        raise LuaRaise(f"cru.on: {unknown_event(name)}")
    third = given[2] if len(given) > 2 else None
    if isinstance(second, LuaFunction):
        if isinstance(third, LuaTable):
            raise LuaRaise(f"cru.on: the options come before the handler: {_FORMS}")
        return EVENTS[name], second, None
    if not isinstance(second, LuaTable):
        raise LuaRaise(f"cru.on: the second argument is {what(second)}; it must be a function or a table of options: {_FORMS}")
    if third is None:
        raise LuaRaise(f"cru.on: the handler must be the third argument, behind the options: {_FORMS}")
    return EVENTS[name], _handler(third), second


def _handler(value: object) -> LuaFunction:
    if isinstance(value, LuaFunction):
        return value
    raise LuaRaise(f"cru.on: the handler is {what(value)}; it must be a function")


def _function(name: str, given: tuple[object, ...]) -> LuaFunction:
    """The first argument of `name`."""
    if given and isinstance(given[0], LuaFunction):
        return given[0]
    raise LuaRaise(f"{name}: the first argument is {what(given[0] if given else None)}; it must be a function")
