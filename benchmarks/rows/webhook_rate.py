"""Signed webhooks, stored before each is answered, beside the bare ASGI server that answers the same POST.

Both servers are processes of their own, and get the same bytes on the same number of connections, one request at a time on each.
"""

import hashlib
import hmac
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from benchmarks.row import Limit, Line, Missing
from benchmarks.rows._servers import seconds, start

LIMIT = Limit(at_least=0.5)
CONNECTIONS = 64
REQUESTS = 3000
"""In each batch."""

ROUNDS = 8
SECRET = "a-secret-of-the-benchmark"

BARE = """
import uvicorn

ANSWER = b'{"status":"accepted"}\\n'
HEAD = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json"), (b"content-length", b"22")]}

async def app(scope, receive, send):
    while (await receive()).get("more_body"):
        pass
    await send(HEAD)
    await send({"type": "http.response.body", "body": ANSWER})

class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        print(f"http://127.0.0.1:{self.servers[0].sockets[0].getsockname()[1]}", flush=True)

options = {"http": "httptools", "loop": "asyncio", "lifespan": "off", "ws": "none", "access_log": False, "log_level": "error"}
Server(uvicorn.Config(app, port=0, **options)).run()
"""


class Numbers:
    """Every delivery is another one: a copy would be refused."""

    def __init__(self) -> None:
        self._next = iter(range(10**9))

    def requests(self, count: int) -> Iterator[bytes]:
        """Signed deliveries, as bytes."""
        for _ in range(count):
            body = b'{"action":"completed","number":%d,"padding":"%s"}' % (next(self._next), b"x" * 900)
            tag = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
            yield (
                f"POST /api/webhook/ci HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nX-GitHub-Event: check_run\r\n"
                f"X-Hub-Signature-256: sha256={tag}\r\nContent-Length: {len(body)}\r\n\r\n"
            ).encode() + body


def write_secrets(file: Path) -> None:
    """The one webhook that is delivered to."""
    file.write_text(f'[webhooks.ci]\nsecret = "{SECRET}"\n')
    file.chmod(0o600)


async def measure() -> list[Line]:
    try:
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise Missing("pip install 'treblehook[serve]'") from error
    numbers = Numbers()
    with tempfile.TemporaryDirectory() as folder:
        write_secrets(Path(folder, "webhooks.toml"))
        ours, our_port = await start("-m", "treblehook", "serve", "--home", folder, "--port", "0")
        bare, bare_port = await start("-c", BARE)
        best = {our_port: float("inf"), bare_port: float("inf")}
        try:
            for _ in range(ROUNDS):
                for port in best:
                    best[port] = min(best[port], await seconds(port, CONNECTIONS, list(numbers.requests(REQUESTS))) / REQUESTS)
        finally:
            for process in (ours, bare):
                with suppress(ProcessLookupError):
                    process.terminate()
                await process.wait()
    return [Line("one signed webhook, stored", "the bare ASGI server", best[our_port], best[bare_port], LIMIT)]
