"""What one method of one path does, in one value: the route and the entry in the document are both made from it."""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from treblehook.daemon.http.answers import MEDIA_TYPE, ApiError, Wrong, refused
from treblehook.daemon.http.edge import App

Handle = Callable[[Request], Awaitable[Response]]

_PARAMETER: Final = re.compile(r"\{(\w+)(?::\w+)?\}")


class Parameter(Struct, frozen=True):
    """A parameter beside those of the path."""

    name: str
    place: Literal["query", "header"]
    schema: dict[str, Any]
    description: str


class Answered(Struct, frozen=True):
    """What an answer holds: a struct as JSON, or text of another media type; None for none."""

    description: str
    body: type[Struct] | None = None
    media_type: str = MEDIA_TYPE


class Operation(Struct, frozen=True):
    """A method of a path. `handle` answers requests, or `app` is the ASGI app that does; `body` is what a request must hold,
    `raw` the media type of one that is taken as it is. `errors` are the statuses that it answers beside those of every route.
    """

    method: str
    path: str
    id: str
    summary: str
    answers: Mapping[int, Answered]
    description: str = ""
    handle: Handle | None = None
    app: App | None = None
    body: type[Struct] | None = None
    raw: str | None = None
    parameters: tuple[Parameter, ...] = ()
    errors: tuple[int, ...] = ()

    @property
    def document_path(self) -> str:
        """The path as the document has it."""
        return _PARAMETER.sub(r"{\1}", self.path)

    @property
    def path_parameters(self) -> list[str]:
        """The names in the path."""
        return _PARAMETER.findall(self.path)


async def body_of(request: Request, kind: type[Struct]) -> Any:
    """The request's body as a `kind`.

    Raises `ApiError`: 415 for another media type, 400 for what is no JSON, 422 for JSON that is not as it must be.
    """
    media_type = ", ".join(request.headers.getlist("content-type")).partition(";")[0].strip().lower()
    if media_type != MEDIA_TYPE:
        raise ApiError(415, Wrong("media_type", f"the body must be {MEDIA_TYPE}", "Content-Type", media_type or "none", MEDIA_TYPE))
    content = await request.body()
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.ValidationError as error:
        raise _invalid(str(error), kind) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise refused(400, "no_json", f"the body is no JSON: {error}") from error


def _invalid(message: str, kind: type[Struct]) -> ApiError:
    what, found, place = message.partition(" - at `")
    return ApiError(422, Wrong("body_invalid", what, place=place.rstrip("`") if found else "$", allowed=_allowed(kind)))


def _allowed(kind: type[Struct]) -> str:
    """The fields of `kind`, each with its type."""
    schema = msgspec.json.schema(kind)["$defs"][kind.__name__]
    needed = schema.get("required", [])
    return ", ".join(f"{name}{'' if name in needed else '?'}: {_told(field)}" for name, field in schema["properties"].items())


def _told(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_told(choice) for choice in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(f'"{choice}"' for choice in schema["enum"])
    if schema.get("type") == "array":
        return f"array of {_told(schema['items'])}"
    return str(schema.get("type", "any value"))
