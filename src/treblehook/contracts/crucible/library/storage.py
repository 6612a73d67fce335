"""`cru.storage`: values that a plugin keeps, by key (crucible.md 10.2). Each plugin sees its own; `init.lua` is one too.

A value is whatever JSON can say, or a string of any bytes. `set` has stored it when it returns, whatever happens to the process then.
"""

from collections.abc import Callable
from typing import Any

from treblehook.contracts.crucible.library.arguments import Arguments
from treblehook.contracts.crucible.library.kinds import SOMETHING, TEXT, WORD
from treblehook.contracts.crucible.library.library import Library, missing
from treblehook.contracts.crucible.library.storage_file import StorageFailed, StorageFile
from treblehook.engine.patterns import Pattern
from treblehook.runtimes.lua import LuaFunction, LuaRaise

Work = Callable[[], Any]


def install(library: Library) -> None:
    def provide(name: str, prepared: Callable[[StorageFile, str, Arguments], Work]) -> None:
        function = f"cru.storage.{name}"
        library.provide_work(function, lambda *given: _prepare(library, Arguments(function, given), prepared))

    provide("set", _set)
    provide("get", _get)
    provide("list", _list)
    provide("find", _find)
    provide("delete", _delete)


def _prepare(library: Library, call: Arguments, prepared: Callable[[StorageFile, str, Arguments], Work]) -> Work:
    file = library.services.storage
    if file is None:
        missing(call.function, "this host has no place to store anything")
    work = prepared(file, library.owner, call)

    def told() -> Any:
        try:
            return work()
        except StorageFailed as failure:
            raise LuaRaise(f"{call.function}: {failure}") from failure

    return told


def _set(file: StorageFile, plugin: str, call: Arguments) -> Work:
    key, value = call.take("key", WORD), call.take("value", SOMETHING)
    if place := _function_in(value):
        call.refuse(f"argument 2 (value){place} is a function; allowed: strings, numbers, booleans and tables of them")
    return lambda: file.put(plugin, key, value)


def _get(file: StorageFile, plugin: str, call: Arguments) -> Work:
    """nil where nothing is stored."""
    key = call.take("key", WORD)
    return lambda: file.value(plugin, key)


def _list(file: StorageFile, plugin: str, call: Arguments) -> Work:
    """The keys, sorted; those that begin with a prefix."""
    prefix = call.may_take("prefix", TEXT, "")
    return lambda: file.keys(plugin, prefix)


def _find(file: StorageFile, plugin: str, call: Arguments) -> Work:
    """The values by key, of the keys that match a glob (crucible.md 5)."""
    pattern = Pattern(call.take("pattern", TEXT))
    if pattern.malformed:
        call.refuse(f"'{pattern.text}' is no glob")
    return lambda: file.values(plugin, pattern.matches)


def _delete(file: StorageFile, plugin: str, call: Arguments) -> Work:
    """Whether there was one."""
    key = call.take("key", WORD)
    return lambda: file.remove(plugin, key)


def _function_in(value: object) -> str:
    """The way to a function in a value, "" where there is none."""
    if isinstance(value, LuaFunction):
        return " "
    items = value.items() if isinstance(value, dict) else enumerate(value, 1) if isinstance(value, list) else ()
    return next((f"[{name}]{place.rstrip()}" for name, item in items if (place := _function_in(item))), "")
