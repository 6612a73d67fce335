"""Whose Lua code is running, and what for."""

from msgspec import Struct

USER = "init.lua"
WORKSPACE = "workspace init.lua"
"""The names of the two files that belong to no plugin, in logs, in the journal and in `[hooks."NAME"]`."""


class Loading:
    """A file or a `setup` that is being loaded; over once `active` is false, on whatever path."""

    __slots__ = ("active", "name", "owner")

    def __init__(self, owner: str | None, name: str) -> None:
        self.owner = owner
        self.name = name
        self.active = True


class Caller(Struct, frozen=True):
    """What a run of a crucible machine is `about`. Coroutines that it starts inherit it, and may outlive it.

    `session` is None where the event belongs to none, `owner` is the plugin whose code it is (None for the user's and the workspace's),
    `event` the crucible name of what is going on, `hook` the name in logs and the journal. `loading` says what was being loaded
    when the run began.
    """

    session: str | None = None
    owner: str | None = None
    event: str = ""
    hook: str = ""
    loading: Loading | None = None
