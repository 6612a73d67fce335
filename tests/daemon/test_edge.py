"""What every request must pass first: the host name, the size of its body, the key (crucible.md 8.2 and 8.3)."""

import asyncio
from typing import Any

import pytest

from tests.support.deliveries import delivering, signed
from tests.support.served import AFAR, KEY, Served, Stage, serving
from treblehook.daemon.http.body import Bodies
from treblehook.daemon.http.callers import Hosts, from_loopback, is_loopback, joined
from treblehook.daemon.http.edge import HOOK_BYTES

ALLOWED = [
    "localhost",
    "LOCALHOST:3000",
    "127.0.0.1",
    "127.0.0.1:3000",
    "127.8.8.8",
    "[::1]",
    "[::1]:3000",
    "[::ffff:127.0.0.1]",
    "hooks.example.org",
    "Hooks.Example.org:8443",
    "192.0.2.7:80",
    "[2001:db8::1]",
]
REFUSED = [
    "",
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "evil.example:3000",
    "localhost@evil.example",
    "evil.example#localhost",
    "evil.example/localhost",
    "evil.example?localhost",
    "localhost:http",
    "localhost:99999",
    "[::1",
    "::1",
    "[::1%lo]x",
    "192.0.2.8",
    "0.0.0.0",
    "localhost, evil.example",
    "loc\xe4lhost",
]


@pytest.mark.parametrize("host", ALLOWED)
def test_a_host_that_is_ours(host: str) -> None:
    assert Hosts(["hooks.example.org", "192.0.2.7", "[2001:DB8::1]"]).allow({b"host": host.encode()})


@pytest.mark.parametrize("host", REFUSED)
def test_a_host_that_is_not_ours(host: str) -> None:
    assert not Hosts(["hooks.example.org", "192.0.2.7"]).allow({b"host": host.encode("latin-1")})


def test_there_must_be_one_host() -> None:
    assert not Hosts([]).allow({})
    assert not Hosts([]).allow(joined([(b"host", b"localhost"), (b"host", b"localhost")]))


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1", "https://hooks.example.org", "http://[::1]:5"])
def test_a_page_of_ours_may_change_something(origin: str) -> None:
    assert Hosts(["hooks.example.org"]).allow_origin({b"origin": origin.encode()})


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "", "http://localhost.evil.example", "file://"])
def test_a_page_of_others_may_not(origin: str) -> None:
    assert not Hosts(["hooks.example.org"]).allow_origin({b"origin": origin.encode()})


@pytest.mark.parametrize("address", ["127.0.0.1", "127.255.0.1", "::1", "::ffff:127.0.0.1", "0:0:0:0:0:0:0:1"])
def test_loopback_addresses(address: str) -> None:
    assert is_loopback(address)


@pytest.mark.parametrize(
    "address",
    ["", "10.0.0.1", "::ffff:10.0.0.1", "::", "0.0.0.0", "localhost", "127.1", "127.0.0.1:80", "[::1]", "127.0.0.01", "unknown", "1"],
)
def test_what_is_no_loopback_address(address: str) -> None:
    assert not is_loopback(address)


def near(peer: str | None, *forwarded: str) -> bool:
    headers = joined((b"x-forwarded-for", hops.encode()) for hops in forwarded)
    return from_loopback(None if peer is None else (peer, 5), headers)


def test_case_144_loopback_is_the_peer_and_every_hop() -> None:
    assert near("127.0.0.1")
    assert near("::1", "127.0.0.1, ::1", "::ffff:127.0.0.1")
    assert not near("192.0.2.1")
    assert not near("192.0.2.1", "127.0.0.1")
    assert not near("127.0.0.1", "127.0.0.1, 203.0.113.7")
    assert not near("127.0.0.1", "127.0.0.1", "203.0.113.7")
    assert not near(None)


@pytest.mark.parametrize("hops", ["", " ", "127.0.0.1,", "nonsense", "127.0.0.1 127.0.0.1", "localhost", "127.0.0.1:5", "_hidden"])
def test_a_malformed_hop_is_not_loopback(hops: str) -> None:
    assert not near("127.0.0.1", hops)


async def test_the_host_is_looked_at_first(served: Served) -> None:
    answer = await served.client.get("/healthz", headers={"host": "evil.example"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "host_refused")
    large = head("X-Forwarded-For: 203.0.113.7", "Content-Length: 99999999", "Connection: close").replace(b"localhost", b"evil.example")
    assert (await served.raw(large)).startswith(b"HTTP/1.1 403 ")


async def test_a_configured_host_name(stage: Stage) -> None:
    async with serving(stage, hosts=("hooks.example.org",)) as served:
        assert (await served.deliver(b"{}", host="hooks.example.org")).status_code == 200


async def test_a_page_of_another_site_can_change_nothing(served: Served) -> None:
    page = {"origin": "https://evil.example"}
    assert (await served.client.post("/api/plugins/x/reload", headers=page)).status_code == 403
    assert (await served.client.delete("/api/sessions/x", headers=page)).status_code == 403
    assert (await served.client.get("/healthz", headers=page)).status_code == 200


@pytest.mark.parametrize("path", ["/api/sessions", "/metrics", "/openapi.json", "/nowhere", "/hooks/claude"])
async def test_callers_from_afar_need_the_key(served: Served, path: str) -> None:
    answer = await served.client.get(path, headers=AFAR)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    for shown in (f"Bearer {KEY}", f"bearer  {KEY}"):
        assert (await served.client.get(path, headers={**AFAR, "authorization": shown})).status_code in (200, 404, 405)
    for shown in (KEY, f"Basic {KEY}", f"Bearer {KEY}x", f"Bearer {KEY[:-1]}", "Bearer", "Bearer \xe4", f"Bearer {KEY}, Bearer {KEY}"):
        headers = {**AFAR, "authorization": shown.encode("latin-1")}
        assert (await served.client.get(path, headers=headers)).status_code == 401, shown


async def test_the_gateway_needs_the_key_from_everybody(served: Served) -> None:
    for path in ("/hooks", "/hooks/", "/hooks/claude"):
        assert (await served.client.post(path, json={})).status_code == 401
    assert (await served.client.post("/hooks/claude", json={}, headers={"authorization": f"Bearer {KEY}"})).status_code == 404


async def test_health_needs_no_key(served: Served) -> None:
    assert (await served.client.get("/healthz", headers=AFAR)).status_code == 200


async def test_an_empty_key_turns_the_layer_off(stage: Stage) -> None:
    async with serving(stage, key="") as served:
        assert (await served.deliver(b"{}", **AFAR)).status_code == 200
        assert (await served.client.post("/hooks/claude", json={}, headers=AFAR)).status_code == 404


def chunked(body: bytes, *, size: int = 65536) -> bytes:
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def head(*lines: str, path: str = "/api/webhook/ci") -> bytes:
    return "\r\n".join([f"POST {path} HTTP/1.1", "Host: localhost", *lines, "", ""]).encode()


async def test_a_body_in_chunks_is_measured_while_it_is_read(served: Served) -> None:
    large = chunked(b"x" * (11 * 1024 * 1024))
    for more in ("X-A: b", "X-Forwarded-For: 203.0.113.7"):
        answer = await served.raw(head("Transfer-Encoding: chunked", "Connection: close", more) + large)
        assert answer.startswith(b"HTTP/1.1 413 "), answer[:100]


async def test_a_delivery_in_chunks(served: Served) -> None:
    lines = [f"{name}: {value}" for name, value in signed(b'{"a":1}').items()]
    answer = await served.raw(head("Transfer-Encoding: chunked", "Connection: close", *lines) + chunked(b'{"a":1}', size=2))
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert (await served.deliveries(1))[0].body == '{"a":1}'


async def test_the_connection_goes_on_after_a_body_that_was_too_large(served: Served) -> None:
    large = b"x" * (11 * 1024 * 1024)
    second = head("Connection: close", "Content-Length: 0", path="/healthz").replace(b"POST", b"GET")
    answer = await served.raw(head(f"Content-Length: {len(large)}") + large + second)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"HTTP/1.1 200 OK" in answer


async def test_an_endless_body_is_broken_off(served: Served) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", served.port)
    writer.write(head("Transfer-Encoding: chunked"))
    piece = b"%x\r\n%s\r\n" % (1 << 20, b"x" * (1 << 20))
    sent = 0
    try:
        while True:
            writer.write(piece)
            await writer.drain()
            sent += 1
    except ConnectionError:
        pass
    assert 40 < sent < 100
    writer.close()


async def test_a_client_that_waits_to_be_told_is_told(served: Served) -> None:
    answer = await served.raw(head("Content-Length: 11534336", "Expect: 100-continue"))
    assert answer.startswith(b"HTTP/1.1 413 ")


class Slow:
    """Bodies that come piece by piece, as a test says; `held` counts the pieces that were taken."""

    def __init__(self, bodies: Bodies) -> None:
        self.bodies = bodies
        self.taken = 0

    def start(self, declared: int, pieces: "asyncio.Queue[bytes]") -> "asyncio.Task[bytes]":
        async def receive() -> Any:
            piece = await pieces.get()
            self.taken += len(piece)
            return {"type": "http.request", "body": piece, "more_body": piece != b"."}

        async def read() -> bytes:
            async with self.bodies.share(declared) as share:
                return await self.bodies.read(declared, receive, share, keep=True)

        return asyncio.ensure_future(read())


async def idle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_bodies_that_do_not_come_take_no_room() -> None:
    slow = Slow(Bodies(most=100_000))
    stuck = [slow.start(90_000, asyncio.Queue()) for _ in range(100)]
    await idle()
    pieces: asyncio.Queue[bytes] = asyncio.Queue()
    for piece in (b"x" * 99_000, b"."):
        pieces.put_nowait(piece)
    assert await slow.start(100_000, pieces) == b"x" * 99_000 + b"."
    for task in stuck:
        task.cancel()


async def test_large_bodies_share_their_room() -> None:
    slow = Slow(Bodies(most=100_000))
    queues: list[asyncio.Queue[bytes]] = [asyncio.Queue() for _ in range(10)]
    tasks = [slow.start(90_000, pieces) for pieces in queues]
    for pieces in queues:
        pieces.put_nowait(b"x" * 60_000)
        pieces.put_nowait(b"y" * 20_000)
    await idle()
    assert 60_000 <= slow.bodies.held <= 100_000, "the room is not exceeded"
    small: asyncio.Queue[bytes] = asyncio.Queue()
    small.put_nowait(b".")
    assert await slow.start(1, small) == b".", "small bodies wait for nobody"
    for pieces in queues:
        pieces.put_nowait(b".")
    assert await asyncio.gather(*tasks) == [b"x" * 60_000 + b"y" * 20_000 + b"."] * 10
    assert slow.bodies.held == 0


async def test_a_full_room_lets_the_oldest_get_to_its_end() -> None:
    slow = Slow(Bodies(most=100_000))
    queues: list[asyncio.Queue[bytes]] = [asyncio.Queue() for _ in range(3)]
    tasks = [slow.start(200_000, pieces) for pieces in queues]
    for pieces in queues:
        for piece in (b"x" * 33_000, b"x" * 33_000, b"."):
            pieces.put_nowait(piece)
    assert [len(body) for body in await asyncio.gather(*tasks)] == [66_001] * 3


async def test_a_hook_call_may_be_as_large_as_is_said() -> None:
    slow = Slow(Bodies(HOOK_BYTES, HOOK_BYTES))
    pieces: asyncio.Queue[bytes] = asyncio.Queue()
    for piece in (b"x" * (HOOK_BYTES - 1), b"."):
        pieces.put_nowait(piece)
    assert len(await slow.start(HOOK_BYTES, pieces)) == HOOK_BYTES


async def test_a_large_body_that_does_not_come_keeps_no_other_waiting(served: Served) -> None:
    whole = delivering(b"x" * 100_000)
    writers = []
    for _ in range(40):
        _, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(whole[:5_000])
        await writer.drain()
        writers.append(writer)
    assert (await served.deliver(b"y" * 100_000)).status_code == 200
    for writer in writers:
        writer.close()
