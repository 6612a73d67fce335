"""A worker that ends, or has to be ended, ends alone; what it ran fails, and its owner is told why."""

import asyncio

import pytest

from tests.support.needs import needs
from tests.support.node_rig import NodeRig
from treblehook.runtimes.node import Module, ModuleEnded, NotRunning
from treblehook.runtimes.node.values import LINE_BYTES, REQUESTS

pytestmark = needs("node")

WRITE = """
const write = (text) => { try { fs.writeSync(workerData.fd, text); } catch (error) { if (error.code !== 'EAGAIN') throw error; } };
const writeForEver = (text) => { for (;;) write(text); };
"""


async def two(rig: NodeRig, functions: str, before: str = "") -> tuple[Module, Module]:
    """A module with `functions` and one that only echoes."""
    rig.module("bad", functions, before)
    rig.module("good", "echo: (v) => v")
    bad, good = (await rig.start()).modules
    return bad, good


@pytest.mark.parametrize(
    ("functions", "why"),
    [
        ("go() { process.exit(3); }", r"it called process.exit\(3\)"),
        ("async go() { await null; process.exit(); }", r"it called process.exit\(0\)"),
        (
            "go() { setTimeout(() => { throw new RangeError('later'); }, 0); return new Promise(() => {}); }",
            "it crashed: RangeError: later",
        ),
        ("go() { Promise.reject(new Error('unheard')); return new Promise(() => {}); }", "it crashed: Error: unheard"),
        ("go() { process.emit('uncaughtException'); const all = []; for (;;) all.push(new Array(1e5).fill({})); }", "it used more than"),
    ],
)
async def test_the_worker_alone_is_gone(rig: NodeRig, functions: str, why: str) -> None:
    bad, good = await two(rig, functions)

    with pytest.raises(ModuleEnded, match=why):
        await bad.call("go", b"1")

    assert [name for name, _ in rig.gone] == ["bad"]
    with pytest.raises(NotRunning, match=why):
        await bad.call("go", b"1")
    assert await good.call("echo", b"1") == b"1"
    assert rig.deaths == []


async def test_process_abort_is_refused_by_node_and_ends_nothing(rig: NodeRig) -> None:
    bad, good = await two(rig, "go() { process.abort(); }, echo: (v) => v")

    with pytest.raises(Exception, match="not supported in workers"):
        await bad.call("go", b"1")

    assert await bad.call("echo", b"1") == await good.call("echo", b"1") == b"1"


async def test_an_endless_loop_ends_the_worker_once_nobody_waits(rig: NodeRig) -> None:
    bad, good = await two(rig, "loop() { for (;;); }, async never() { await new Promise(() => {}); }")
    looping = asyncio.ensure_future(bad.call("loop", b"1"))
    other = asyncio.ensure_future(bad.call("never", b"1"))
    await asyncio.sleep(0)

    looping.cancel()
    await rig.until(lambda: bool(rig.gone))

    assert rig.gone == [("bad", "it blocked its event loop for 0.3 s")]
    with pytest.raises(ModuleEnded):
        await other
    assert await good.call("echo", b"1") == b"1"


async def test_a_promise_that_never_settles_is_no_blocked_loop(rig: NodeRig) -> None:
    module = await rig.only("never: () => new Promise(() => {}), echo: (v) => v, late: () => new Promise((r) => setTimeout(r, 50))")

    for name in ("never", "late"):
        call = asyncio.ensure_future(module.call(name, b"1"))
        await asyncio.sleep(0)
        call.cancel()
        await asyncio.wait({call})
    await asyncio.sleep(0.5)

    assert rig.gone == []
    assert await module.call("echo", b"1") == b"1"


@pytest.mark.parametrize(
    ("flood", "why"),
    [
        ("'garbage\\n'", "it wrote to its pipe what is no message"),
        ("'{}\\n'", "it wrote to its pipe what nobody had asked for"),
        ('\'{"answer":999999,"value":1}\\n\'', "an answer that nobody had asked for"),
        ("'{\"ping\":1}\\n'", "what nobody had asked for"),
        ("'x'.repeat(65536)", f"it sent a line of more than {LINE_BYTES} bytes"),
        ("'\\xff\\n'", "it wrote to its pipe what is no message"),
    ],
)
async def test_a_flood_in_its_pipe_ends_the_worker(rig: NodeRig, flood: str, why: str) -> None:
    bad, good = await two(rig, f"flood() {{ writeForEver({flood}); }}", WRITE)

    with pytest.raises(ModuleEnded, match=why):
        await bad.call("flood", b"1")

    assert await good.call("echo", b"1") == b"1"


async def test_a_flood_of_requests_behind_our_back_ends_the_worker(rig: NodeRig) -> None:
    async def never(argument: bytes) -> bytes:
        await asyncio.Event().wait()
        return b""

    rig.answer = never
    bad, good = await two(rig, 'flood() { let n = 0; for (;;) write(`{"call":${++n},"name":"x"}\\n`); }', WRITE)

    with pytest.raises(ModuleEnded, match=f"more than {REQUESTS} requests"):
        await bad.call("flood", b"1")

    assert len(rig.requests) <= REQUESTS
    assert await good.call("echo", b"1") == b"1"


async def test_a_worker_that_closes_its_pipe_is_ended(rig: NodeRig) -> None:
    bad, good = await two(rig, "go() { fs.closeSync(workerData.fd); for (;;); }")

    with pytest.raises(ModuleEnded, match="it closed its pipe"):
        await bad.call("go", b"1")

    assert await good.call("echo", b"1") == b"1"


async def test_retiring_a_module_tells_its_owner_nothing(rig: NodeRig) -> None:
    rig.module("only", "loop() { for (;;); }")
    runtime = await rig.start()
    [module] = runtime.modules
    call = asyncio.ensure_future(module.call("loop", b"1"))
    await asyncio.sleep(0)

    runtime.retire(module, "not wanted")

    with pytest.raises(ModuleEnded, match="not wanted"):
        await call
    assert rig.gone == []
