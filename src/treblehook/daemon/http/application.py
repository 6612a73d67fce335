"""The ASGI app of a list of operations; every error that it answers has the one shape."""

from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, request_response

from treblehook.daemon.http.answers import ApiError, answer, error_answer, refused
from treblehook.daemon.http.body import Receive
from treblehook.daemon.http.edge import Send
from treblehook.daemon.http.openapi import document
from treblehook.daemon.http.operation import Answered, Operation


def application(operations: Sequence[Operation], on_fault: Callable[[str], None]) -> Starlette:
    """The app, with the document of its operations at `/openapi.json`. `on_fault` is told of errors that are our own."""

    async def described(request: Request) -> Response:
        return answer(told)

    own = Operation("GET", "/openapi.json", "getDocument", "This document", {200: Answered("An OpenAPI 3.1 document")}, handle=described)
    all_of_them = [*operations, own]
    told = document(all_of_them)

    async def fault(request: Request, error: Exception) -> Response:
        on_fault(f"{request.method} {request.url.path}: {type(error).__name__}: {error}")
        return error_answer(refused(500, "internal", "this is a fault of the daemon; its error output says more"))

    handlers = {ApiError: _api_error, HTTPException: _http_error, Exception: fault}
    paths = dict.fromkeys(operation.path for operation in all_of_them)
    routes = [Route(path, _Methods([one for one in all_of_them if one.path == path])) for path in paths]
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False
    return app


class _Methods:
    """The operations of one path, as an ASGI app; it takes no method that is none of theirs."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self._apps = {one.method: request_response(one.handle) if one.handle else one.app for one in operations}

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        app = self._apps.get(scope["method"])
        if app is None:
            raise HTTPException(405, headers={"Allow": ", ".join(self._apps)})
        await app(scope, receive, send)


async def _api_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return error_answer(error)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    codes = {404: "unknown_path", 405: "method_not_allowed"}
    code = codes.get(error.status_code, "http_error")
    message = f"{HTTPStatus(error.status_code).phrase}: {request.method} {request.url.path}"
    return error_answer(refused(error.status_code, code, message, **(error.headers or {})))
