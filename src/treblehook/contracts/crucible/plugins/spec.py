"""The table that a plugin's file returns (crucible.md 10.3): read strictly, so that a plugin is what its author believes it is."""

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any, Final

from msgspec import Struct

from treblehook.contracts.crucible.plain import ReturnInvalid, plain, what
from treblehook.host.tool import ToolSpec
from treblehook.runtimes.lua import LuaFunction

KEYS: Final = ("name", "version", "description", "tools", "commands", "services", "setup", "on_load", "on_unload", "handlers")
_TOOL_KEYS: Final = ("name", "description", "desc", "parameters", "params", "run", "fn", "asks", "main_argument")
_TOOL_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NO_PARAMETERS: Final[dict[str, Any]] = {"type": "object", "properties": {}}


class SpecInvalid(Exception):
    """A plugin returned something that cannot be used; `place` is the way to it, such as `tools.count.parameters`."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"returned `{place}`: {problem}" if place else problem)
        self.place = place
        self.problem = problem


class DeclaredTool(Struct, frozen=True):
    """A tool and the function that does it."""

    spec: ToolSpec
    run: LuaFunction


class Spec(Struct, frozen=True):
    """What a plugin says of itself. `warnings` are odd things that stop nothing."""

    version: str = ""
    description: str = ""
    setup: LuaFunction | None = None
    on_load: LuaFunction | None = None
    on_unload: LuaFunction | None = None
    tools: tuple[DeclaredTool, ...] = ()
    services: dict[str, LuaFunction] = {}
    warnings: tuple[str, ...] = ()


def read_spec(kind: str, returned: dict[str, Any], names: Sequence[str], plugin: str) -> Spec:
    """The spec that the file of `plugin` returned: Lua's type of it, what it has for `KEYS`, and the names of all that it has.

    Returning nothing is a spec too. Keys of other names are the plugin's own business: whoever requires the file may use them.
    Raises `SpecInvalid`.
    """
    if kind == "nil":
        return Spec()
    if kind != "table":
        return Spec(warnings=(f"returned a {kind}, which has no effect; a table with {', '.join(KEYS[:-1])} is read",))
    return Spec(
        version=_text(returned, "version"),
        description=_text(returned, "description"),
        setup=_function(returned, "setup"),
        on_load=_function(returned, "on_load"),
        on_unload=_function(returned, "on_unload"),
        tools=tuple(_tools(returned.get("tools"))),
        services=dict(_services(returned.get("services"))),
        warnings=tuple(_odd(returned, names, plugin)),
    )


def _odd(returned: dict[str, Any], names: Sequence[str], plugin: str) -> Iterator[str]:
    if returned.get("handlers") is not None:
        yield "returned `handlers`, which has no effect; handlers are registered with cru.on"
    if returned.get("commands"):
        yield "returned `commands`, which are not supported: nothing here runs a plugin's commands"
    name = returned.get("name", plugin)
    if name != plugin:
        yield f"returned the name {what(name)}, but the plugin is named {plugin!r} after its file; that is what counts"
    for key in sorted(set(names) - set(KEYS)):
        if near := get_close_matches(key, KEYS, n=1, cutoff=0.8):
            yield f"returned the unknown key `{key}`, did you mean `{near[0]}`?"


def _tools(given: object) -> Iterator[DeclaredTool]:
    """Tools are a list of tables with a `name`, or a table of them by name."""
    seen = set()
    for place, key, table in _entries(given, "tools"):
        if not isinstance(table, dict):
            raise SpecInvalid(place, f"found {what(table)}, a tool is a table with name, description, parameters, run")
        tool = _tool(place, key, table)
        if tool.spec.name in seen:
            raise SpecInvalid(place, f"there are two tools named {tool.spec.name!r}")
        seen.add(tool.spec.name)
        yield tool


def _tool(place: str, key: str | None, table: dict[Any, Any]) -> DeclaredTool:
    for name in table:
        if name not in _TOOL_KEYS:
            near = get_close_matches(str(name), _TOOL_KEYS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(_TOOL_KEYS)}"
            raise SpecInvalid(f"{place}.{name}", f"unknown key; {hint}")
    name = table.get("name", key)
    if not isinstance(name, str) or not _TOOL_NAME.fullmatch(name):
        raise SpecInvalid(f"{place}.name", f'found {what(name)}; allowed: letters, digits, "_" and "-", at most 64')
    run = table.get("run", table.get("fn"))
    if not isinstance(run, LuaFunction):
        raise SpecInvalid(f"{place}.run", f"found {what(run)}; it must be a function")
    asks = table.get("asks", True)
    if not isinstance(asks, bool):
        raise SpecInvalid(f"{place}.asks", f"found {what(asks)}; allowed: true, false")
    description = _text(table, "description", place) or _text(table, "desc", place)
    parameters = _parameters(f"{place}.parameters", table)
    return DeclaredTool(ToolSpec(name, description, parameters, _text(table, "main_argument", place), asks), run)


def _parameters(place: str, table: dict[Any, Any]) -> dict[str, Any]:
    """A JSON schema of an object; `params` is the short form: a list of {name, type, desc, optional}."""
    schema = table.get("parameters")
    if schema is None:
        return _schema_of(place, table.get("params"))
    try:
        found = plain(schema, place)
    except ReturnInvalid as invalid:
        raise SpecInvalid(place, str(invalid)) from invalid
    if not isinstance(found, dict) or found.get("type", "object") != "object":
        raise SpecInvalid(place, 'a JSON schema with type = "object" is needed')
    # An empty table of Lua may be either; here the schema wants a list.
    required = found.get("required") or []
    if not isinstance(found.get("properties", {}), dict) or not isinstance(required, list):
        raise SpecInvalid(place, "`properties` must be a table by name, `required` a list of names")
    return {**_NO_PARAMETERS, **found, "required": required}


def _schema_of(place: str, params: object) -> dict[str, Any]:
    properties, required = {}, []
    for where, key, entry in _entries(params, place.replace("parameters", "params")):
        name = entry.get("name", key) if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or not isinstance(name, str):
            raise SpecInvalid(where, "a parameter is a table with name, type, desc, optional")
        properties[name] = {"type": _text(entry, "type", where) or "string", "description": _text(entry, "desc", where)}
        if not entry.get("optional"):
            required.append(name)
    return {"type": "object", "properties": properties, "required": required}


def _services(given: object) -> Iterator[tuple[str, LuaFunction]]:
    """Services are functions by name, or tables with `fn`."""
    for place, key, entry in _entries(given, "services"):
        function = entry.get("run", entry.get("fn")) if isinstance(entry, dict) else entry
        if key is None or not isinstance(function, LuaFunction):
            raise SpecInvalid(place, f"found {what(entry)}; services are functions by name")
        yield key, function


def _entries(given: object, place: str) -> Iterator[tuple[str, str | None, Any]]:
    """The entries of a list, or of a table by name: the place, the name if there is one, the entry."""
    if given is None:
        return
    if isinstance(given, list):
        yield from ((f"{place}[{number}]", None, entry) for number, entry in enumerate(given, 1))
    elif isinstance(given, dict):
        yield from ((f"{place}.{key}", key if isinstance(key, str) else None, entry) for key, entry in given.items())
    else:
        raise SpecInvalid(place, f"found {what(given)}; it must be a table")


def _text(table: dict[Any, Any], key: str, place: str = "") -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        raise SpecInvalid(f"{place}.{key}" if place else key, f"found {what(value)}; it must be a text")
    return value


def _function(table: dict[Any, Any], key: str) -> LuaFunction | None:
    value = table.get(key)
    if value is not None and not isinstance(value, LuaFunction):
        raise SpecInvalid(key, f"found {what(value)}; it must be a function")
    return value
