"""The types for editors say what a real machine has: every function, and every field of every event."""

import inspect
import re
from importlib.resources import files
from typing import Any

import msgspec
import pytest

from tests.contracts.crucible.library.conftest import Rig
from treblehook.contracts.crucible import payloads
from treblehook.contracts.crucible.events import EVENTS

TEXT = (files("treblehook.contracts.crucible.library") / "annotations" / "cru.lua").read_text("utf-8")
_PATHS = """
    local paths = {}
    local function walk(path, value)
        paths[path] = true
        if type(value) == 'table' then
            for key, inner in next, value do
                if type(key) == 'string' then walk(path .. '.' .. key, inner) end
            end
        end
    end
    for name, value in pairs(cru) do walk('cru.' .. name, value) end
    local names = {}
    for path in pairs(paths) do names[#names + 1] = path end
    return names
"""


def _annotated() -> set[str]:
    return set(re.findall(r"^(?:function )?(cru\.[\w.]+)(?:\(| =)", TEXT, re.MULTILINE))


def _fields(name: str) -> dict[str, bool]:
    """The fields of a class, and whether each may be missing."""
    block = re.search(rf"^---@class {re.escape(name)}\b.*\n((?:---@field .*\n)*)", TEXT, re.MULTILINE)
    assert block, f"no class {name}"
    return {found[1]: found[2] == "?" for found in re.finditer(r"^---@field (\w+)(\??) ", block[1], re.MULTILINE)}


async def test_it_names_what_a_machine_has_and_nothing_else(rig: Rig) -> None:
    session = Rig(rig.services, kind="session")
    assert set(session.run_now(_PATHS)) | {"cru.json.null"} == _annotated()
    assert set(rig.run_now(_PATHS)) == {path for path in _annotated() if not path.startswith("cru.permissions")}
    await session.close()


async def test_lua_can_read_it(rig: Rig) -> None:
    rig.vm.lua.load(TEXT.encode(), "annotations/cru.lua")


@pytest.mark.parametrize("name", EVENTS)
def test_every_event_has_both_forms_with_its_own_class(name: str) -> None:
    quoted = re.escape(name)
    plain = re.search(rf'^---@overload fun\(event: "{quoted}", handler: fun\(ctx: cru\.Context, event: (cru\.\w+)\)', TEXT, re.MULTILINE)
    optioned = re.search(
        rf'^---@overload fun\(event: "{quoted}", options: cru\.OnOptions, handler: fun\(ctx: cru\.Context, event: (cru\.\w+)\)',
        TEXT,
        re.MULTILINE,
    )
    assert plain
    assert optioned
    assert plain[1] == optioned[1]
    assert f'---@class {plain[1]}\n---@field type "{name}"' in TEXT


@pytest.mark.parametrize("name", EVENTS)
def test_the_fields_of_an_event_are_those_of_its_payload(name: str) -> None:
    found = re.search(rf'event: "{re.escape(name)}", handler: fun\(ctx: cru\.Context, event: (cru\.\w+)\)', TEXT)
    assert found
    fields = _fields(found[1])
    payload = EVENTS[name].payload(_sample(EVENTS[name].event))
    given = {key for key, value in payload.items() if value is not None}
    assert given <= fields.keys()
    assert {field for field, optional in fields.items() if not optional} <= given
    source = inspect.getsource(payloads)
    assert all(f'"{field}"' in source for field in fields)


@pytest.mark.parametrize("name", EVENTS)
def test_the_keys_of_a_return_are_those_that_count(name: str) -> None:
    found = re.search(rf'event: "{re.escape(name)}", handler: fun\(ctx: cru\.Context, event: cru\.\w+\)(?:: (cru\.\w+)\?)?', TEXT)
    assert found
    keys = set(EVENTS[name].keys) | set(EVENTS[name].directives)
    if keys:
        assert found[1]
        assert keys <= _fields(found[1]).keys()


def _sample(event: type) -> Any:
    """An event of which every field is filled in."""
    return msgspec.convert(_value_of(msgspec.json.schema(event)), event)


def _value_of(schema: dict[str, Any], definitions: dict[str, Any] | None = None) -> Any:
    definitions = schema.get("$defs", definitions or {})
    if "$ref" in schema:
        return _value_of(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        return _value_of(schema["anyOf"][0], definitions)
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            return {name: _value_of(inner, definitions) for name, inner in schema.get("properties", {}).items()}
        case "array":
            return [_value_of(schema["items"], definitions)] if isinstance(schema.get("items"), dict) else []
        case "string":
            return "text"
        case "integer" | "number":
            return 1
        case "boolean":
            return True
    return None
