"""Sending the spans that a hook has left in its scope.

A component has no network here: the library's own `wasi:http` knows no list of allowed hosts. So the hook writes whole OTLP/HTTP requests
to `otlp/*.pb` of its scope, and the host sends them, to the endpoint that the operator named and only if the hook's grant admits it.
"""

import asyncio
import http.client
import os
import stat
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from treblehook.contracts.murmur.grant import Grant

FOLDER: Final = "otlp"
LARGEST: Final = 16 * 1024 * 1024
_PATH: Final = "/v1/traces"
_PORTS: Final = {"http": 80, "https": 443}


async def send_spans(scope: Path, endpoint: str, grant: Grant, *, seconds: float = 10.0) -> list[str]:
    """Send each request in the scope and remove it; what could not be sent stays for the next time.

    `endpoint` is the collector's base address (`http://127.0.0.1:4318`), or the whole one that ends with `/v1/traces`. Each request takes
    `seconds` at most. What went wrong, a line each, for the hook's log.
    """
    return await asyncio.to_thread(_send_all, scope / FOLDER, endpoint, grant, seconds)


def _send_all(folder: Path, endpoint: str, grant: Grant, seconds: float) -> list[str]:
    if folder.is_symlink():
        return [f"the spans are not sent: {folder} is a link, and what it leads to is not the hook's"]
    files = sorted(folder.glob("*.pb"))
    if not files:
        return []
    try:
        url = urlsplit(endpoint)
        port = url.port or _PORTS[url.scheme]
        host = url.hostname
    except (KeyError, ValueError):
        host = None
    if not host:
        return [f"the spans are not sent: MURMUR_OTEL_ENDPOINT is {endpoint!r}; allowed is http:// or https:// and a host"]
    if not any(origin.admits(url.scheme, host, port) for origin in grant.network):
        return [f"the spans are not sent: the hook is not granted {host}:{port}; grant it capabilities: network: allow: [{host}:{port}]"]
    path = url.path.rstrip("/")
    connect = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    problems = []
    for file in files:
        connection = connect(host, port, timeout=seconds)
        try:
            _send(connection, path if path.endswith(_PATH) else path + _PATH, file)
        except (OSError, http.client.HTTPException, ValueError) as error:
            problems.append(f"the spans in {file.name} are not sent: {error}")
        finally:
            connection.close()
    return problems


def _send(connection: http.client.HTTPConnection, path: str, file: Path) -> None:
    """One request; a redirection is no success, since it could lead to a host that is not granted."""
    connection.request("POST", path, body=_content(file), headers={"Content-Type": "application/x-protobuf"})
    answer = connection.getresponse()
    answer.read(65_536)
    if not 200 <= answer.status < 300:
        raise ValueError(f"the collector answered {answer.status}")
    file.unlink(missing_ok=True)


def _content(file: Path) -> bytes:
    """The folder is the hook's: no link leads out of it, and no pipe holds us up."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as opened:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            raise ValueError(f"it is no file of at most {LARGEST} bytes")
        return opened.read(LARGEST)
