"""Answers: JSON always, and one shape for everything that goes wrong."""

from typing import Any

import msgspec
from msgspec import Struct
from starlette.responses import Response

from treblehook.agent.transcript.records import encode_record
from treblehook.host.problems import Problem

MEDIA_TYPE = "application/json"


class Wrong(Struct, frozen=True, omit_defaults=True):
    """What went wrong. `code` is stable, `message` is for people; of a value in a request, `place` says where it stands, `found`
    what it is and `allowed` what it may be. `problems` are those of a configuration."""

    code: str
    message: str
    place: str = ""
    found: str = ""
    allowed: str = ""
    problems: tuple[Problem, ...] = ()


class ErrorAnswer(Struct, frozen=True):
    """The body of every answer from 400 on."""

    error: Wrong


class ApiError(Exception):
    """A request is answered with `status` and `wrong`."""

    def __init__(self, status: int, wrong: Wrong, headers: dict[str, str] | None = None) -> None:
        super().__init__(wrong.message)
        self.status = status
        self.wrong = wrong
        self.headers = headers or {}


def refused(status: int, code: str, message: str, **headers: str) -> ApiError:
    """An error without further facts."""
    return ApiError(status, Wrong(code, message), {name.replace("_", "-"): value for name, value in headers.items()})


def answer(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """`value` as JSON."""
    content = encode_record(msgspec.to_builtins(value))
    return Response(content, status, headers, media_type=MEDIA_TYPE)


def error_answer(error: ApiError) -> Response:
    """The error in its shape."""
    return answer(ErrorAnswer(error.wrong), error.status, error.headers)
