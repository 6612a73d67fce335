"""Modules: what `require` finds, for each plugin by itself (crucible.md 10.1)."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from treblehook.contracts.crucible.plugins.host_function import host_function
from treblehook.contracts.crucible.plugins.source import SourceUnreadable, checked_source, read_source
from treblehook.contracts.crucible.vm import CrucibleVM
from treblehook.runtimes.lua import LuaFailed, LuaFunction

_PATTERNS: Final = ("lua/{}.lua", "lua/{}/init.lua", "{}.lua", "{}/init.lua")
_NAME: Final = re.compile(r"[\w-]+(?:[./][\w-]+)*")


class ModulePlace(Struct, frozen=True):
    """Where an owner's modules are: `read` gives the bytes of a file by its path in `folder`, None where there is none.

    It raises `SourceUnreadable` for a file that is there and cannot be used.
    """

    folder: Path
    read: Callable[[str], bytes | None]


def on_disk(folder: Path) -> ModulePlace:
    """Modules that are read when they are asked for."""

    def read(relative: str) -> bytes | None:
        path = folder / relative
        return read_source(path) if os.path.isfile(path) or os.path.islink(path) else None

    return ModulePlace(folder, read)


def in_memory(folder: Path, contents: Mapping[str, bytes]) -> ModulePlace:
    """Modules that have been read already, and are not read again."""

    def read(relative: str) -> bytes | None:
        content = contents.get(relative)
        return None if content is None else checked_source(folder / relative, content)

    return ModulePlace(folder, read)


class Modules:
    """Gives a VM its `require`. An owner is the name of a plugin, `init.lua` or `workspace init.lua`, as hooks are named.

    A module is looked for in `lua/` of the owner's places and then in the places themselves, place by place; each owner gets a copy of
    its own, so two plugins may have modules of one name.
    """

    def __init__(self, vm: CrucibleVM) -> None:
        self._vm = vm
        self._places: dict[str, Callable[[], Sequence[ModulePlace]]] = {}
        self._own, self._forget = self._install()

    def place(self, owner: str, places: Callable[[], Sequence[ModulePlace]]) -> None:
        """Let the code of `owner` require what is in these places; they are asked for each time."""
        self._places[owner] = places

    def load(self, owner: str, source: bytes, file: Path) -> LuaFunction:
        """Compile a file of `owner`. Raises `LuaFailed` for a syntax error."""
        chunk = self._vm.lua.load(source, str(file))
        self._vm.lua.run_now(self._own, owner, chunk)
        return chunk

    def forget(self, owner: str) -> None:
        """The next `require` of this owner reads its modules anew."""
        self._vm.lua.run_now(self._forget, owner)

    def _install(self) -> tuple[LuaFunction, LuaFunction]:
        lua = self._vm.lua
        asking = host_function(lua, lambda: self._vm.caller.hook or None)
        made: Any = lua.run_now(lua.load(_source(), "require.lua"), host_function(lua, self._locate), asking)[0]
        lua.provide_value("require", made["require"])
        return made["own"], made["forget"]

    def _locate(self, owner: str, name: str) -> tuple[Any, ...]:
        """What `lua/require.lua` asks for."""
        if not _NAME.fullmatch(name):
            return None, f"require: found {name!r}; a module's name is letters, digits, _ and -, in parts separated by a dot", False
        looked = []
        try:
            for place in self._places.get(owner, lambda: ())():
                for pattern in _PATTERNS:
                    relative = pattern.format(name.replace(".", "/"))
                    content = place.read(relative)
                    if content is not None:
                        file = str(place.folder / relative)
                        return self._vm.lua.load(content, file), file
                    looked.append(str(place.folder / relative))
        except SourceUnreadable as unreadable:
            return None, str(unreadable), True
        except LuaFailed as failed:
            return None, failed.message, True
        where = f"; there is no {', no '.join(looked)}" if looked else "; a plugin that is a single file has no modules"
        return None, f"require: there is no module {name}{where}", False


@cache
def _source() -> bytes:
    """The same for each of a thousand machines."""
    return (files(__package__) / "lua" / "require.lua").read_bytes()
