"""Requests by HTTP: none but those that are allowed are made."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.support.http_guests import DENIED, EXPORTS, SENT, UNREACHABLE, WRONG, asks
from tests.support.small_guests import Open
from treblehook.runtimes.wasm import SEALED_WASI, DeadlineExceeded, Grants, ImportNotGranted, Limits, Requests, Wasi, WasmRuntime


class Server:
    """Counts who comes, and keeps what they say first."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self.came = asyncio.Event()
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heard.append(await reader.read(100))
        self.came.set()
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        writer.close()
        await writer.wait_closed()


@pytest.fixture(scope="module", autouse=True)
def threads_of_the_library() -> None:
    """The first request of a process starts what the library keeps from then on."""

    async def request() -> None:
        async with WasmRuntime() as runtime:
            component = await runtime.load(asks("127.0.0.1:1").encode())
            instance = await runtime.open(component, EXPORTS, granted(lambda *origin: True))
            assert await instance.call("go", seconds=30) == UNREACHABLE

    asyncio.run(request())


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    server = Server()
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    yield server
    listening.close()


def granted(requests: Requests | None) -> Grants:
    return Grants(wasi=Wasi(SEALED_WASI.groups, requests=requests))


async def go(opened: Open, text: str, grants: Grants) -> int:
    instance = await opened(text, EXPORTS, grants)
    answer = await instance.call("go", seconds=30)
    assert isinstance(answer, int)
    return answer


async def test_a_request_that_is_allowed_is_made_and_answered(opened: Open, server: Server) -> None:
    asked: list[tuple[str, str, int]] = []

    def may(scheme: str, host: str, port: int) -> bool:
        asked.append((scheme, host, port))
        return True

    assert await go(opened, asks(f"127.0.0.1:{server.port}"), granted(may)) == SENT

    await server.came.wait()
    assert server.heard[0].startswith(b"GET /x HTTP/1.1\r\n")
    assert asked == [("http", "127.0.0.1", server.port)]


@pytest.mark.parametrize(
    "requests", [None, lambda scheme, host, port: False, lambda scheme, host, port: 1 / 0], ids=["none", "no", "fails"]
)
@pytest.mark.parametrize("version", ["0.2.0", "0.2.2"])
async def test_any_other_is_denied(opened: Open, server: Server, requests: Requests | None, version: str) -> None:
    assert await go(opened, asks(f"127.0.0.1:{server.port}", version=version), granted(requests)) == DENIED
    assert server.heard == []


@pytest.mark.parametrize(
    ("authority", "scheme", "asked"),
    [
        ("nest.example", "http", ("http", "nest.example", 80)),
        ("nest.example", "https", ("https", "nest.example", 443)),
        # Without a scheme it would go by HTTPS.
        ("nest.example", None, ("https", "nest.example", 443)),
        ("Nest.Example:8080", "http", ("http", "Nest.Example", 8080)),
        ("[::1]:99", "http", ("http", "::1", 99)),
    ],
)
async def test_what_is_asked_about(opened: Open, authority: str, scheme: str | None, asked: tuple[str, str, int]) -> None:
    found: list[tuple[str, str, int]] = []

    def may(*origin: object) -> bool:
        found.append(origin)  # type: ignore[arg-type]  # three values, as `Requests` says
        return False

    assert await go(opened, asks(authority, scheme), granted(may)) == DENIED
    assert found == [asked]


@pytest.mark.parametrize(
    ("authority", "scheme"),
    [(None, "http"), ("nest.example", "ftp"), ("dev@nest.example", "http"), ("nest.example:80@evil.example", "http")],
)
async def test_a_request_to_nobody_knows_where_is_denied_unasked(opened: Open, authority: str | None, scheme: str) -> None:
    def may(scheme: str, host: str, port: int) -> bool:
        raise AssertionError((scheme, host, port))

    assert await go(opened, asks(authority, scheme), granted(may)) in (DENIED, WRONG)


async def test_without_the_group_it_is_refused_before_it_starts(opened: Open) -> None:
    wasi = Wasi(SEALED_WASI.groups - {"http"})

    with pytest.raises(ImportNotGranted, match="wasi:http/"):
        await opened(asks("nest.example"), EXPORTS, Grants(wasi=wasi))


async def test_a_guest_that_waits_for_an_answer_keeps_its_deadline(opened: Open) -> None:
    over = asyncio.Event()

    async def never_answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await over.wait()
        writer.close()

    async with await asyncio.start_server(never_answers, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        instance = await opened(asks(f"127.0.0.1:{port}"), EXPORTS, granted(lambda *origin: True))

        with pytest.raises(DeadlineExceeded):
            await instance.call("go", seconds=0.5)
        # Its thread is with the library until the other side lets go.
        over.set()


async def test_many_requests_of_one_guest(opened: Open, server: Server) -> None:
    allowed = [True, False] * 20
    instance = await opened(asks(f"127.0.0.1:{server.port}"), EXPORTS, granted(lambda *origin: allowed.pop()), Limits(instances=50))

    answers = [await instance.call("go", seconds=30) for _ in range(40)]

    assert answers == [DENIED, SENT] * 20
