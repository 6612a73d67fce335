"""`cru.http` against real servers on this machine."""

import asyncio
import gzip
import json

import pytest

from tests.contracts.crucible.library.conftest import Rig
from tests.support.raw_server import Exchange, RawServer
from treblehook.contracts.crucible.library import HttpClient


async def _mirror(exchange: Exchange) -> None:
    head = exchange.head.split("\r\n")
    names = dict(line.lower().split(": ", 1) for line in head[1:] if ": " in line)
    told = {"line": head[0], "headers": names, "body": exchange.body.decode("latin-1")}
    await exchange.answer(200, json.dumps(told).encode(), "X-One: 1", "X-Two: a", "X-Two: b")


@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete"])
async def test_each_method(rig: Rig, method: str) -> None:
    async with RawServer(_mirror) as server:
        found = await rig.run(f"return cru.http.{method}(...)", f"{server.url}/x")
    assert (found["status"], found["ok"], found.get("error")) == (200, True, None)
    assert json.loads(found["body"])["line"] == f"{method.upper()} /x HTTP/1.1"
    assert (found["headers"]["x-one"], found["headers"]["x-two"]) == ("1", "a, b")


async def test_every_option_is_honoured(rig: Rig) -> None:
    source = """
        local headers = {['X-Mine'] = 'é', N = 5}
        return cru.http.request{url = ..., method = 'put', headers = headers, body = '\\xffraw', query = {q = 'a b', n = 1}}
    """
    async with RawServer(_mirror) as server:
        seen = json.loads((await rig.run(source, f"{server.url}/x?old=1"))["body"])
    assert seen["line"] in ("PUT /x?old=1&q=a+b&n=1 HTTP/1.1", "PUT /x?old=1&n=1&q=a+b HTTP/1.1")
    assert (seen["headers"]["n"], seen["body"]) == ("5", "ÿraw")
    assert seen["headers"]["x-mine"] == "é"


async def test_json_is_encoded_and_named(rig: Rig) -> None:
    async with RawServer(_mirror) as server:
        seen = json.loads((await rig.run("return cru.http.post(..., {json = {a = {1}}})", server.url))["body"])
        other = json.loads(
            (await rig.run("return cru.http.post(..., {json = {}, headers = {['content-type'] = 'x/y'}})", server.url))["body"]
        )
    assert (seen["headers"]["content-type"], seen["body"]) == ("application/json", '{"a":[1]}')
    assert other["headers"]["content-type"] == "x/y"


async def test_a_status_that_is_no_success_is_no_error(rig: Rig) -> None:
    async with RawServer(lambda exchange: exchange.answer(503, b"busy")) as server:
        found = await rig.run("return cru.http.get(...)", server.url)
    assert (found["status"], found["ok"], found["body"], found.get("error")) == (503, False, "busy", None)


async def test_no_connection_is_status_0(rig: Rig) -> None:
    async with RawServer(_mirror) as server:
        url = server.url
    found = await rig.run("return cru.http.get(...)", url)
    assert (found["status"], found["ok"], found["body"], found["headers"]) == (0, False, "", {})
    assert found["error"]


async def test_a_body_that_breaks_off_is_status_0(rig: Rig) -> None:
    async def cut(exchange: Exchange) -> None:
        await exchange.start_stream(length=1000)
        await exchange.send(b"half")

    async with RawServer(cut) as server:
        found = await rig.run("return cru.http.get(...)", server.url)
    assert (found["status"], found["ok"]) == (0, False)
    assert found["error"]


@pytest.mark.parametrize("talks", [False, True])
async def test_a_slow_server_meets_the_timeout(rig: Rig, talks: bool) -> None:
    async def slow(exchange: Exchange) -> None:
        if talks:
            await exchange.start_stream()
            while True:
                await exchange.send(b"x")
                await asyncio.sleep(0.01)
        await exchange.hung_up()

    async with RawServer(slow) as server:
        found = await rig.run("return cru.http.get(..., {timeout = 0.2})", server.url)
    assert (found["status"], found["error"]) == (0, "not finished after 0.2 s")


async def test_redirects_are_followed_unless_told_otherwise(rig: Rig) -> None:
    async def answer(exchange: Exchange) -> None:
        if exchange.head.startswith("GET /old"):
            await exchange.answer(302, b"", "location: /new")
        else:
            await exchange.answer(200, b"here")

    async with RawServer(answer) as server:
        assert (await rig.run("return cru.http.get(...)", f"{server.url}/old"))["body"] == "here"
        found = await rig.run("return cru.http.get(..., {follow_redirects = false})", f"{server.url}/old")
    assert (found["status"], found["headers"]["location"]) == (302, "/new")


async def test_a_redirect_without_end(rig: Rig) -> None:
    async with RawServer(lambda exchange: exchange.answer(302, b"", "location: /again")) as server:
        found = await rig.run("return cru.http.get(...)", server.url)
        assert server.requests == 11
    assert (found["status"], found["error"]) == (0, "more than 10 redirects")


@pytest.mark.parametrize("packed", [False, True])
async def test_a_huge_body_is_left_out_and_told(rig: Rig, packed: bool) -> None:
    body = b"x" * 300_000

    async def answer(exchange: Exchange) -> None:
        if packed:
            await exchange.answer(200, gzip.compress(body), "content-encoding: gzip")
        else:
            await exchange.answer(200, body)

    small = rig.with_services(http=HttpClient(body_bytes=100_000))
    async with RawServer(answer) as server:
        found = await small.run("return cru.http.get(...)", server.url)
    assert (found["status"], found["ok"], found["body"]) == (200, False, "")
    assert found["error"] == "the body is longer than 100000 bytes"
    await small.close()


async def test_bytes_come_back_as_they_are(rig: Rig) -> None:
    async with RawServer(lambda exchange: exchange.answer(200, b"\xff\x00")) as server:
        assert (await rig.run("return cru.http.get(...)", server.url))["body"] == b"\xff\x00"


async def test_no_cookie_is_kept(rig: Rig) -> None:
    heads: list[str] = []

    async def answer(exchange: Exchange) -> None:
        heads.append(exchange.head.lower())
        await exchange.answer(200, b"", "set-cookie: who=me; Path=/")

    async with RawServer(answer) as server:
        found = await rig.run("cru.http.get(...); return cru.http.get(...)", server.url)
    assert found["headers"]["set-cookie"] == "who=me; Path=/"
    assert not any("cookie:" in head for head in heads)


async def test_a_cancelled_request_hangs_up(rig: Rig) -> None:
    came, gone = asyncio.Event(), asyncio.Event()

    async def answer(exchange: Exchange) -> None:
        came.set()
        await exchange.hung_up()
        gone.set()

    async with RawServer(answer) as server:
        run = asyncio.create_task(rig.run("cru.http.get(...)", server.url))
        await came.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        await gone.wait()


async def test_sessions_ask_at_the_same_time(rig: Rig) -> None:
    """The server answers nobody before both have asked."""
    both = asyncio.Barrier(2)

    async def answer(exchange: Exchange) -> None:
        await both.wait()
        await exchange.answer(200, exchange.head.split()[1].encode())

    async with RawServer(answer) as server:
        found = await asyncio.gather(*(rig.run("return cru.http.get(...).body", f"{server.url}/{name}") for name in "ab"))
    assert found == ["/a", "/b"]
