"""The OpenAPI document, made from the very operations that are served."""

from collections.abc import Sequence
from http import HTTPStatus
from importlib.metadata import version
from typing import Any, Final

import msgspec
from msgspec import Struct

from treblehook.daemon.http.answers import MEDIA_TYPE, ErrorAnswer
from treblehook.daemon.http.operation import Answered, Operation

_EVERY: Final = (401, 403, 413, 500)
"""What every route may answer, whatever it is about: the edge, and our own faults."""

_REFERENCES: Final = "#/components/schemas/{name}"


def document(operations: Sequence[Operation]) -> dict[str, Any]:
    """An OpenAPI 3.1 document of `operations`."""
    kinds = _kinds(operations)
    schemas, components = msgspec.json.schema_components(kinds, ref_template=_REFERENCES)
    schema_of = dict(zip(kinds, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.document_path, {})[operation.method.lower()] = _described(operation, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Treblehook",
            "version": version("treblehook"),
            "description": "Sessions of an agent, its webhooks, and how the daemon is.",
        },
        "security": [{}, {"token": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The content of <home>/token. Callers on the same machine may go without.",
                }
            },
        },
    }


def _kinds(operations: Sequence[Operation]) -> list[type[Struct]]:
    found: dict[type[Struct], None] = {ErrorAnswer: None}
    for operation in operations:
        for kind in (operation.body, *(answer.body for answer in operation.answers.values())):
            if kind is not None:
                found[kind] = None
    return list(found)


def _described(operation: Operation, schema_of: dict[type[Struct], dict[str, Any]]) -> dict[str, Any]:
    told: dict[str, Any] = {"operationId": operation.id, "summary": operation.summary}
    if operation.description:
        told["description"] = operation.description
    parameters = [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in operation.path_parameters]
    parameters += [
        {"name": one.name, "in": one.place, "required": False, "schema": one.schema, "description": one.description}
        for one in operation.parameters
    ]
    if parameters:
        told["parameters"] = parameters
    if operation.body is not None:
        told["requestBody"] = {"required": True, "content": {MEDIA_TYPE: {"schema": schema_of[operation.body]}}}
    elif operation.raw is not None:
        told["requestBody"] = {"required": True, "content": {operation.raw: {}}}
    told["responses"] = {str(status): _answer(answer, schema_of) for status, answer in operation.answers.items()}
    for status in sorted({*operation.errors, *_EVERY}):
        told["responses"][str(status)] = _answer(Answered(HTTPStatus(status).phrase, ErrorAnswer), schema_of)
    return told


def _answer(answer: Answered, schema_of: dict[type[Struct], dict[str, Any]]) -> dict[str, Any]:
    told: dict[str, Any] = {"description": answer.description}
    if answer.body is not None:
        told["content"] = {answer.media_type: {"schema": schema_of[answer.body]}}
    elif answer.media_type != MEDIA_TYPE:
        told["content"] = {answer.media_type: {"schema": {"type": "string"}}}
    return told
