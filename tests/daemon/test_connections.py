"""HTTP as it comes over the wire: sent ahead, cut off, folded, too large."""

import asyncio
import json
from contextlib import suppress

import pytest

from tests.support.deliveries import SECRET, delivering, github
from tests.support.processes import until
from tests.support.served import Served
from treblehook.daemon.http import connection

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
CLOSING = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


async def test_requests_that_are_sent_ahead_are_answered_in_order(served: Served) -> None:
    wrong = delivering(b"{}").replace(b"sha256=", b"sha256=0")
    answer = await served.raw(b"".join(delivering(b"%d" % number) for number in range(50)) + wrong + CLOSING)
    statuses = [part[:3] for part in answer.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [b"200"] * 50 + [b"401", b"200"]
    assert [event.body for event in await served.deliveries(50)] == [str(number) for number in range(50)]


async def test_a_folded_header_is_not_two_headers(served: Served) -> None:
    good = github(SECRET, b"{}")
    answer = await served.raw(
        b"POST /api/webhook/ci HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n"
        b"Content-Type: application/json\r\nX-Other: a\r\n X-Hub-Signature-256: " + good.encode() + b"\r\n\r\n{}"
    )
    assert answer[9:12] in (b"400", b"401")
    assert served.received == []


@pytest.mark.parametrize(
    "request_line",
    [b"GET /healthz HTTP/9.9", b"G\xffT / HTTP/1.1", b"\x16\x03\x01\x02\x00", b"GET  HTTP/1.1", b"PRI * HTTP/2.0"],
)
async def test_what_is_no_request_closes_the_connection(served: Served, request_line: bytes) -> None:
    answer = await served.raw(request_line + b"\r\nHost: localhost\r\n\r\n")
    assert answer[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 403", b"")
    assert (await served.client.get("/healthz")).status_code == 200


@pytest.mark.parametrize(
    "lines",
    [
        b"Content-Length: 2\r\nContent-Length: 3\r\n",
        b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
        b"Content-Length: -1\r\n",
        b"Content-Length: 99999999999999999999999\r\n",
        b"Transfer-Encoding: gzip\r\n",
        b"Host: localhost\r\n",
    ],
)
async def test_a_head_that_can_be_read_in_two_ways_is_refused(served: Served, lines: bytes) -> None:
    answer = await served.raw(b"POST /api/webhook/ci HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + lines + b"\r\n{}")
    assert answer[9:12] in (b"400", b"403", b"413"), answer[:200]


async def test_a_head_that_is_too_large(served: Served) -> None:
    for lines in (b"X-Large: " + b"x" * 200_000 + b"\r\n", b"X-Many: 1\r\n" * 20_000):
        answer = await served.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + lines)
        assert answer.startswith(b"HTTP/1.1 431 "), answer[:100]
    assert (await served.client.get("/healthz", headers={"x-large": "x" * 10_000})).status_code == 200


async def test_a_large_body_counts_for_no_head(served: Served) -> None:
    answer = await served.raw(delivering(b"x" * 300_000) + CLOSING)
    assert answer.count(b"HTTP/1.1 200 ") == 2


async def test_a_head_that_does_not_come(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "REQUEST_SECONDS", 0.05)
    for sent in (b"", b"GET /healthz HTTP/1.1\r\nHost: local", HEALTH + b"GET /"):
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(sent)
        answer = b""
        try:
            answer = await reader.read()
        except ConnectionError:
            assert sent != b"GET /"
        assert answer.count(b"HTTP/1.1") <= 1
        writer.close()


async def test_a_delivery_that_is_cut_off_is_none(served: Served) -> None:
    whole = delivering(b'{"a":"' + b"x" * 10_000 + b'"}')
    for cut in (1, 40, 200, 5000, len(whole) - 1):
        _, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(whole[:cut])
        await writer.drain()
        writer.transport.abort()
    assert (await served.deliver(b"{}")).status_code == 200
    assert [event.body for event in await served.deliveries(1)] == ["{}"]


async def test_a_sender_that_does_not_wait_for_its_answer(served: Served) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", served.port)
    writer.write(delivering(b"{}"))
    await writer.drain()
    writer.close()
    assert [event.body for event in await served.deliveries(1)] == ["{}"]


async def test_many_connections_at_once(served: Served) -> None:
    async def one(number: int) -> bytes:
        return await served.raw(delivering(b"[%d]" % number, "Connection: close"))

    answers = await asyncio.gather(*(one(number) for number in range(300)))
    assert all(answer.startswith(b"HTTP/1.1 200 ") for answer in answers)
    assert sorted(event.body for event in await served.deliveries(300)) == sorted(f"[{number}]" for number in range(300))


CHUNKED = b"POST /api/webhook/ci HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"


@pytest.mark.parametrize("name", ["X-Hub-Signature-256", "X-Forwarded-For", "X-Crucible-Signature", "Content-Type"])
async def test_what_stands_behind_a_body_is_no_header(served: Served, name: str) -> None:
    signature = b"X-Hub-Signature-256: " + github(SECRET, b"{}").encode() + b"\r\n"
    behind = signature if name == "X-Hub-Signature-256" else f"{name}: 203.0.113.7\r\n".encode()
    head = CHUNKED if name == "X-Hub-Signature-256" else CHUNKED + signature
    answer = await served.raw(head + b"Connection: close\r\n\r\n2\r\n{}\r\n0\r\n" + behind + b"\r\n")
    expected = 401 if name == "X-Hub-Signature-256" else 200
    assert answer.startswith(b"HTTP/1.1 %d " % expected), answer
    if expected == 200:
        assert "203.0.113.7" not in (await served.deliveries(1))[0].headers.values()


@pytest.mark.parametrize("behind", [b"2\r\n{}\r\n0\r\nX-Large: ", b"2;", b"2\r\n{}\r\n0;"])
async def test_what_stands_between_the_pieces_of_a_body_has_an_end(served: Served, behind: bytes) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", served.port)
    writer.write(CHUNKED + b"\r\n" + behind)
    sent = 0
    while sent < 100_000_000 and not writer.transport.is_closing():
        writer.write(b"x" * 100_000)
        with suppress(ConnectionError):
            await writer.drain()
        sent += 100_000
    assert sent < 100_000_000
    writer.close()
    assert (await served.client.get("/healthz")).status_code == 200


async def test_many_small_chunks_are_a_body(served: Served) -> None:
    body = b"x" * 100_000
    signature = b"X-Hub-Signature-256: " + github(SECRET, body).encode() + b"\r\n"
    answer = await served.raw(CHUNKED + signature + b"Connection: close\r\n\r\n" + b"1;a=b\r\nx\r\n" * 100_000 + b"0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 "), answer


async def test_what_is_no_http_has_the_one_shape_of_errors(served: Served) -> None:
    answer = await served.raw(b"\x16\x03\x01\x02\x00\r\n\r\n")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == "no_http"


async def test_an_upgrade_is_not_made(served: Served) -> None:
    answer = await served.raw(
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    assert answer.startswith(b"HTTP/1.1 200 ") or answer[9:12] in (b"400", b"426")


async def test_connections_leave_nothing_behind(served: Served) -> None:
    before = len(asyncio.all_tasks())
    for _ in range(20):
        await served.raw(CLOSING)
    await until(lambda: len(asyncio.all_tasks()) <= before)
