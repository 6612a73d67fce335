"""The listening socket, and uvicorn on it."""

import contextlib
import socket
from collections.abc import Callable, Iterator
from typing import Any, Final

import uvicorn

from treblehook.daemon.http.connection import Connection
from treblehook.host.problems import ConfigInvalid, Problem

_BACKLOG: Final = 4096


def listen(host: str, port: int) -> socket.socket:
    """A socket that is bound to `host` and `port`; 0 picks a port. Raises `ConfigInvalid` where that is not to be had."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        bound = socket.socket(family, kind, protocol)
        try:
            # The protocol is named: where it is 0, asyncio leaves Nagle's algorithm on, and every answer waits 40 ms.
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.setblocking(False)
            bound.bind(address)
            bound.listen(_BACKLOG)
        except BaseException:
            bound.close()
            raise
    except OSError as error:
        remedy = "choose another with --host and --port (0 picks a port), or in [web] of config.toml"
        raise ConfigInvalid([Problem(f"{host}:{port}", "", f"it cannot be listened on: {error.strerror or error}", remedy)]) from error
    return bound


def url_of(host: str, bound: socket.socket) -> str:
    """How the socket is called from this machine."""
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://{f'[{name}]' if ':' in name else name}:{bound.getsockname()[1]}"


class Server(uvicorn.Server):
    """uvicorn, without signal handlers of its own; `on_started` is called once it accepts."""

    def __init__(self, app: Any, on_started: Callable[[], None], seconds: float) -> None:
        # uvicorn would believe the X-Forwarded-For of a loopback peer, and so hide who really calls.
        config = uvicorn.Config(
            app,
            http=Connection,
            ws="none",
            lifespan="off",
            loop="none",
            log_config=None,
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=max(1, round(seconds)),
            backlog=_BACKLOG,
        )
        super().__init__(config)
        self._on_started = on_started

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the command's."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept."""
        await super().startup(sockets)
        self._on_started()

    def stop(self) -> None:
        """Accept nothing more, and end once what runs is answered."""
        self.should_exit = True
