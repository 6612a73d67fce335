"""Calling functions of a module, and a module's own requests."""

import asyncio
import json

import pytest

from tests.support.needs import needs
from tests.support.node_rig import NodeRig
from treblehook.runtimes.modules import ModuleError
from treblehook.runtimes.node import CallFailed, NotRunning
from treblehook.runtimes.node.values import BACKLOG_BYTES, LINE_BYTES, REQUESTS

pytestmark = needs("node")


async def test_a_value_goes_there_and_back(rig: NodeRig) -> None:
    module = await rig.only("echo: (value) => value")
    value = json.dumps({"text": "ä\u2028\n\\", "list": [1, 2.5, None, True]}, ensure_ascii=False).encode()

    assert json.loads(await module.call("echo", value)) == json.loads(value)


async def test_half_a_surrogate_pair_goes_there_and_back(rig: NodeRig) -> None:
    module = await rig.only("echo: (value) => value")

    assert await module.call("echo", b'"\\ud83d"') == b'"\\ud83d"'


async def test_undefined_is_null(rig: NodeRig) -> None:
    module = await rig.only("nothing() {}")

    assert await module.call("nothing", b"1") == b"null"


async def test_promises_are_awaited_and_calls_overlap(rig: NodeRig) -> None:
    module = await rig.only(
        "wait: () => gate, open: () => void opened()", before="let opened; const gate = new Promise((r) => { opened = r; });"
    )
    waiting = asyncio.ensure_future(module.call("wait", b"1"))

    await module.call("open", b"1")

    assert await waiting == b"null"


async def test_a_thrown_error_has_its_place(rig: NodeRig) -> None:
    module = await rig.only("fail: () => inner()", before="function inner() { throw new TypeError('no treasure'); }")

    with pytest.raises(CallFailed, match=r"^TypeError: no treasure"):
        await module.call("fail", b"1")


@pytest.mark.parametrize(
    ("thrown", "told"),
    [
        ("'just text'", "just text"),
        ("undefined", "undefined"),
        ("Object.create(null)", "something that cannot be shown"),
        ("{ get message() { throw 1; } }", "object Object"),
        ("new Proxy({}, { getPrototypeOf() { throw 1; } })", "something that cannot be shown"),
    ],
)
async def test_whatever_is_thrown_is_told(rig: NodeRig, thrown: str, told: str) -> None:
    module = await rig.only(f"fail() {{ throw {thrown}; }}, async later() {{ throw {thrown}; }}")

    for name in ("fail", "later"):
        with pytest.raises(CallFailed, match=told):
            await module.call(name, b"1")


async def test_a_function_that_is_not_there(rig: NodeRig) -> None:
    module = await rig.only("")

    with pytest.raises(CallFailed, match="not a function"):
        await module.call("nope", b"1")


async def test_a_value_that_is_no_json_fails_the_call_alone(rig: NodeRig) -> None:
    module = await rig.only("cycle() { const a = {}; a.a = a; return a; }, big: () => 1n, echo: (v) => v")

    for name in ("cycle", "big"):
        with pytest.raises(CallFailed):
            await module.call(name, b"1")
    assert await module.call("echo", b"1") == b"1"


async def test_a_value_over_the_limit_fails_the_call_alone(rig: NodeRig) -> None:
    module = await rig.only("grow: (size) => 'x'.repeat(size), echo: (v) => v")

    assert len(await module.call("grow", b"%d" % (LINE_BYTES - 200))) == LINE_BYTES - 198
    with pytest.raises(CallFailed, match=f"more than {LINE_BYTES} bytes"):
        await module.call("grow", b"%d" % LINE_BYTES)
    assert await module.call("echo", b"1") == b"1"


async def test_a_module_that_does_not_load_fails_its_calls(rig: NodeRig) -> None:
    rig.module("broken", "", before="throw new Error('at import');")
    rig.module("whole", "echo: (v) => v")
    broken, whole = (await rig.start()).modules

    for _ in range(2):
        with pytest.raises(CallFailed, match="at import"):
            await broken.call("echo", b"1")
    assert await whole.call("echo", b"1") == b"1"


async def test_a_module_asks_and_is_answered_or_refused(rig: NodeRig) -> None:
    module = await rig.only("ask: (v) => host.call('give', v), refused: () => host.call('refuse', 1).catch((e) => `heard ${e.message}`)")

    assert await module.call("ask", b'{"a":1}') == b'{"a":1}'
    assert await module.call("refused", b"1") == b'"heard no such thing"'
    assert [(name, asked) for _, name, asked in rig.requests] == [("give", b'{"a":1}'), ("refuse", b"1")]


async def test_an_aborted_request_is_rejected_at_once_and_cancelled_here(rig: NodeRig) -> None:
    cancelled = asyncio.Event()

    async def never(argument: bytes) -> bytes:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return b""

    rig.answer = never
    module = await rig.only(
        "ask: () => host.call('x', 1, stop.signal).catch((e) => String(e)), abort: () => stop.abort('enough')",
        before="const stop = new AbortController();",
    )
    asking = asyncio.ensure_future(module.call("ask", b"1"))
    await rig.until(lambda: bool(rig.requests))

    await module.call("abort", b"1")

    assert await asking == b'"enough"'
    await cancelled.wait()


async def test_requests_over_the_limit_are_rejected_in_the_module(rig: NodeRig) -> None:
    go = asyncio.Event()

    async def held(argument: bytes) -> bytes:
        await go.wait()
        return b"1"

    rig.answer = held
    module = await rig.only(
        f"async ask() {{ all = Array.from({{ length: {REQUESTS + 3} }}, () => host.call('x', 1).catch(() => 0)); await all.at(-1); }}, "
        "results: () => Promise.all(all)",
        before="let all;",
    )

    await module.call("ask", b"1")
    results = asyncio.ensure_future(module.call("results", b"1"))
    go.set()

    assert json.loads(await results) == [1] * REQUESTS + [0] * 3
    assert len(rig.requests) == REQUESTS
    assert rig.gone == []


async def test_what_a_module_does_not_read_is_refused_after_a_bound(rig: NodeRig) -> None:
    module = await rig.only("loop() { for (;;); }, echo: () => 1")
    looping = asyncio.ensure_future(module.call("loop", b"1"))
    await asyncio.sleep(0)
    argument = b'"%s"' % (b"x" * (BACKLOG_BYTES // 2))
    waiting = [asyncio.ensure_future(module.call("echo", argument)) for _ in range(3)]
    done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)

    assert [type(task.exception()) for task in done] == [NotRunning]
    for task in (looping, *waiting):
        task.cancel()
    results = await asyncio.gather(looping, *waiting, return_exceptions=True)
    assert all(isinstance(result, asyncio.CancelledError | ModuleError) for result in results)


async def test_a_hundred_waiting_calls_do_not_hold_up_another(rig: NodeRig) -> None:
    rig.module("slow", "never: () => new Promise(() => {}), echo: (v) => v")
    rig.module("fast", "echo: (v) => v")
    slow, fast = (await rig.start()).modules
    waiting = [asyncio.ensure_future(slow.call("never", b"1")) for _ in range(100)]
    await asyncio.sleep(0)

    assert await fast.call("echo", b"1") == b"1"
    assert await slow.call("echo", b"1") == b"1"
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)


async def test_an_endless_loop_in_one_module_does_not_hold_up_another(rig: NodeRig) -> None:
    rig.module("slow", "loop() { for (;;); }")
    rig.module("fast", "echo: (v) => v")
    slow, fast = (await rig.start()).modules
    looping = asyncio.ensure_future(slow.call("loop", b"1"))

    assert [await fast.call("echo", b"%d" % number) for number in range(100)] == [b"%d" % number for number in range(100)]
    looping.cancel()
    await asyncio.wait({looping})
