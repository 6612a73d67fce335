"""The edge: what every request must pass before anybody looks at what it wants, in this order (crucible.md 8.2)."""

import re
import secrets
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import Any, Final

from treblehook.daemon.http.answers import ApiError, error_answer, refused
from treblehook.daemon.http.body import Bodies, Disconnected, Receive, declared_length
from treblehook.daemon.http.callers import Headers, Hosts, from_loopback, joined

Send = Callable[[Any], Awaitable[None]]
App = Callable[[Any, Receive, Send], Awaitable[None]]

_OPEN: Final = "/healthz"
"""Asks for no key."""

_GUARDED_PATH: Final = re.compile(r"/hooks(?:/|\Z)")
"""Asks for the key wherever the caller is: whoever can reach a port of this machine is not yet the agent (design, section 6)."""

HOOK_BYTES: Final = 128 * 1024 * 1024
"""The largest hook call. Agents take a refusal of one for an allowance, so this is far more than they send."""

HEADERS: Final = "treblehook.headers"
"""Where in a request's scope the edge leaves its headers, by name."""

_SAFE: Final = ("GET", "HEAD", "OPTIONS")


class Edge:
    """An ASGI app in front of `app`: the Host guard (403), the size of the body (413), the bearer layer (401).

    `key` is what callers from elsewhere must show; with "" nobody must. `on_refusal` is told the path and the code of each
    request that comes no further. The app behind gets a body that is complete.
    """

    def __init__(self, app: App, hosts: Hosts, key: str, bodies: Bodies, on_refusal: Callable[[str, str], None]) -> None:
        self._app = app
        self._hosts = hosts
        self._key = key.encode()
        self._bodies = bodies
        self._hook_bodies = Bodies(HOOK_BYTES, 2 * HOOK_BYTES)
        self._on_refusal = on_refusal

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Take one request."""
        if scope["type"] != "http":
            return
        headers = scope[HEADERS] = joined(scope["headers"])
        declared = declared_length(headers)
        is_hook = _GUARDED_PATH.match(scope["path"]) is not None
        stranger = self._is_stranger(scope, headers, is_hook=is_hook)
        # What a stranger sends is not kept, so it needs no room.
        bodies = self._hook_bodies if is_hook else self._bodies
        async with nullcontext() if stranger else bodies.share(declared) as share:
            try:
                self._guard_host(scope["method"], headers)
                body = await bodies.read(declared, receive, share, keep=not stranger, expected=b"expect" in headers)
                if stranger:
                    message = "a bearer token is needed: Authorization: Bearer TOKEN, with the token of this daemon"
                    raise refused(401, "bearer_required", message, www_authenticate="Bearer")
            except ApiError as error:
                self._on_refusal(scope["path"], error.wrong.code)
                await error_answer(error)(scope, receive, send)
            except Disconnected:
                return
            else:
                await self._app(scope, _replayed(body, receive), send)

    def _guard_host(self, method: str, headers: Headers) -> None:
        if not self._hosts.allow(headers):
            message = "this host name is not served here; names beside the loopback ones stand in [web] hosts of config.toml"
            raise refused(403, "host_refused", message)
        if method not in _SAFE and not self._hosts.allow_origin(headers):
            raise refused(403, "host_refused", "pages of other sites may change nothing here")

    def _is_stranger(self, scope: Any, headers: Headers, *, is_hook: bool) -> bool:
        """Whether the bearer layer lets this caller no further (crucible.md 8.3)."""
        if not self._key or scope["path"] == _OPEN:
            return False
        return (is_hook or not from_loopback(scope["client"], headers)) and not self._shown(headers)

    def _shown(self, headers: Headers) -> bool:
        """Whether `Authorization` holds the key."""
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        same = secrets.compare_digest(token.strip(), self._key)
        return same and scheme.lower() == b"bearer"


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body in one piece; what comes after is the client going away."""
    first = True

    async def replay() -> Any:
        nonlocal first
        if first:
            first = False
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return replay
