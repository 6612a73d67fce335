"""A tool's input: its JSON schema, and the check of what a model sent. Both come from one Struct."""

import re
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from treblehook.host.tool import ToolInputInvalid

Input = TypeVar("Input", bound=Struct)

SHOWN = 200
"""How many characters of a bad value the model is shown."""


def schema_of(kind: type[Struct]) -> dict[str, Any]:
    """The JSON schema of `kind`, whose fields are plain values, as a model is shown it."""
    schema: dict[str, Any] = msgspec.json.schema(kind)["$defs"][kind.__name__]
    return {key: schema[key] for key in ("type", "properties", "required", "additionalProperties")}


def checked(kind: type[Input], arguments: dict[str, Any]) -> Input:
    """`arguments` as a `kind`. A null counts as left out, 5.0 as 5.

    Raises ToolInputInvalid, which names the field, what was found and what is allowed.
    """
    given = {name: _plain(value) for name, value in arguments.items() if value is not None}
    try:
        value = msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise ToolInputInvalid(_explained(kind, given, str(error))) from None
    for name, text in given.items():
        if isinstance(text, str):
            _check_text(name, text)
    return value


def _plain(value: object) -> object:
    # Some providers send every number as a float.
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _check_text(name: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ToolInputInvalid(f"`{name}` holds half of a surrogate pair at character {error.start}; it must be Unicode text.") from None


def _explained(kind: type[Struct], given: dict[str, Any], problem: str) -> str:
    properties = schema_of(kind)["properties"]
    place = re.search(r" - at `\$\.(\w+)", problem)
    if place is None:
        found = f"It has {', '.join(f'`{name}`' for name in given)}." if given else "It has none."
        allowed = "; ".join(f"`{name}`: {_allowed(schema)}" for name, schema in properties.items())
        return f"{_sentence(problem)} {found} Allowed: {allowed}."
    name = place[1]
    return f"`{name}`: found {_shown(given[name])}; allowed: {_allowed(properties[name])}."


def _allowed(schema: dict[str, Any]) -> str:
    words = {"string": "text", "integer": "a whole number"}[schema["type"]]
    if "minimum" in schema:
        words += f" from {schema['minimum']}"
    if "maximum" in schema:
        words += f" to {schema['maximum']}"
    if schema.get("minLength"):
        words += ", not empty"
    if "maxLength" in schema:
        words += f", at most {schema['maxLength']} characters"
    return words + (f" (optional, {schema['default']} when left out)" if "default" in schema else "")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _sentence(problem: str) -> str:
    return problem.replace("Object contains", "The input has").replace("Object missing", "The input lacks the") + "."
