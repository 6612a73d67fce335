"""One Lua machine with `cru.on` and its sisters: that of a session, or the one that all plugins of a home share."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Final, Literal

from treblehook.contracts.crucible.author import Author
from treblehook.contracts.crucible.caller import USER, Caller, Loading
from treblehook.contracts.crucible.log import Log
from treblehook.contracts.crucible.names import EVENT_NAMES
from treblehook.contracts.crucible.registering import Registering
from treblehook.contracts.crucible.registrations import Registrations
from treblehook.engine import Mode, Registry
from treblehook.runtimes.lua import LuaVM

Kind = Literal["session", "plugin"]

LOAD_SECONDS: Final = 1.0
"""How long one file may compute while it is loaded."""

_HANDLED: Final = frozenset((*EVENT_NAMES, "on_session_start", "on_session_end"))
"""What handlers are asked about; other runs, of tools say, end as those who started them want."""


class CrucibleVM:
    """A Lua machine whose code registers handlers in `registry`, live: the next dispatch sees them.

    `session` is that of a session's machine. `modes` is by the name of the hook: a plugin's, `init.lua`, `workspace init.lua`. What is odd
    or fails is told to `log`. A machine runs on one thread; what waits in it lets others run.
    """

    def __init__(
        self,
        kind: Kind,
        lua: LuaVM,
        registry: Registry,
        log: Log,
        *,
        session: str | None = None,
        modes: Mapping[str, Mode] = MappingProxyType({}),
    ) -> None:
        self.kind: Final = kind
        self.lua: Final = lua
        self.log: Final = log
        self.session: Final = session
        self.registrations: Final = Registrations(registry)
        self._loading: list[Loading] = []
        self._on_clear: list[Callable[[str], None]] = []
        self._on_close: list[Callable[[], None]] = []
        Registering(kind, lua, self.registrations, self.author, modes).provide()

    @property
    def caller(self) -> Caller:
        """Whose code is running, and what for."""
        about = self.lua.about
        if isinstance(about, Caller):
            return about
        if not self._loading:
            return Caller(self.session)
        loading = self._loading[-1]
        return Caller(self.session, loading.owner, "load", loading.name, loading)

    def author(self, event: str) -> Author:
        """Who registers something for `event` right now: what is being loaded owns it, what runs later does not (crucible.md 2.8)."""
        caller = self.caller
        loading = caller.loading
        file, line = self.lua.caller()
        owner = loading.owner if loading is not None and loading.active else None
        return Author(event, caller.hook or USER, caller.owner, owner, file, line, self.log)

    @contextmanager
    def owned_by(self, owner: str | None, name: str | None = None) -> Iterator[Caller]:
        """Registrations made inside belong to `owner`. Runs that may wait must be `about` the caller that this gives: while they do, other
        code runs too, and owns nothing."""
        loading = Loading(owner, name or owner or USER)
        self._loading.append(loading)
        try:
            yield Caller(self.session, owner, "load", loading.name, loading)
        finally:
            loading.active = False
            self._loading.remove(loading)

    def on_clear(self, told: Callable[[str], None]) -> None:
        """Have `told` called with the owner whenever what a plugin has registered is taken out."""
        self._on_clear.append(told)

    def on_close(self, told: Callable[[], None]) -> None:
        """Have `told` called right before the machine goes."""
        self._on_close.append(told)

    def clear(self, owner: str) -> None:
        """Take out the handlers and lifecycle hooks of `owner`, and whatever else listens to that. A handler that waits does so no
        longer: nothing that it answers would be obeyed."""
        self.registrations.clear(owner)
        for told in self._on_clear:
            told(owner)
        self.lua.cut(lambda about: isinstance(about, Caller) and about.owner == owner and about.event in _HANDLED)

    def close(self) -> None:
        """Take everything out, and let the machine go; once."""
        if self.lua.closed:
            return
        self.registrations.close()
        for told in self._on_close:
            told()
        self.lua.close()
