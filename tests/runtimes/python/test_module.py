"""A module in a thread of its own: calls, requests, and its end."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from treblehook.runtimes.modules import CallFailed, ModuleEnded, NotRunning, RequestFailed
from treblehook.runtimes.python import Functions, ModuleHost, PythonModule
from treblehook.runtimes.python.log import LOG_BYTES, PrintLog


class Rig:
    """Modules that are closed in the end; `asked` has their requests, `ended` what was told of their ends."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[tuple[str, bytes]] = []
        self.ended: list[tuple[str, str]] = []
        self.host: ModuleHost | None = None
        self._modules: list[PythonModule] = []

    def module(self, name: str = "one", blocked_seconds: float = 5.0, **functions: Callable[[bytes], Awaitable[bytes]]) -> PythonModule:
        def make(host: ModuleHost, load: object) -> Functions:
            self.host = host
            return functions

        entry = str(self.folder / "main.py")
        module = PythonModule(name, entry, make, log=None, on_request=self._request, on_ended=self._over, blocked_seconds=blocked_seconds)
        self._modules.append(module)
        return module

    async def _request(self, module: PythonModule, name: str, argument: bytes) -> bytes:
        self.asked.append((name, argument))
        if name == "refused":
            raise RequestFailed("not that")
        return argument.upper()

    def _over(self, module: PythonModule, why: str) -> None:
        self.ended.append((module.name, why))

    async def close(self) -> None:
        for module in self._modules:
            await module.close()


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    rig = Rig(tmp_path)
    yield rig
    await rig.close()


async def echo(argument: bytes) -> bytes:
    return argument


async def never(argument: bytes) -> bytes:
    await asyncio.Event().wait()
    return argument


async def test_functions_run_in_another_thread(rig: Rig) -> None:
    async def where(argument: bytes) -> bytes:
        return threading.current_thread().name.encode()

    assert await rig.module(where=where).call("where", b"null") == b"treblehook-one"


async def test_calls_overlap(rig: Rig) -> None:
    module = rig.module(echo=echo, never=never)
    waiting = asyncio.ensure_future(module.call("never", b"1"))

    assert [await module.call("echo", b"%d" % number) for number in range(20)] == [b"%d" % number for number in range(20)]

    waiting.cancel()
    await asyncio.wait([waiting])
    assert waiting.cancelled()


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(2), KeyboardInterrupt(), asyncio.CancelledError()])
async def test_whatever_a_function_raises_fails_that_call_alone(rig: Rig, error: BaseException) -> None:
    async def fail(argument: bytes) -> bytes:
        raise error

    module = rig.module(fail=fail, echo=echo)

    with pytest.raises(CallFailed):
        await module.call("fail", b"null")

    assert await module.call("echo", b"1") == b"1"
    assert rig.ended == []


async def test_an_error_that_cannot_be_shown(rig: Rig) -> None:
    class Silent(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    async def fail(argument: bytes) -> bytes:
        raise Silent

    with pytest.raises(CallFailed, match="Silent: something that cannot be shown"):
        await rig.module(fail=fail).call("fail", b"null")


async def test_cancelling_a_call_cancels_its_function(rig: Rig) -> None:
    begun, over = threading.Event(), threading.Event()

    async def slow(argument: bytes) -> bytes:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            over.set()
        return b""

    call = asyncio.ensure_future(rig.module(slow=slow).call("slow", b"null"))
    await asyncio.to_thread(begun.wait, 30)

    call.cancel()

    assert await asyncio.to_thread(over.wait, 30)
    assert rig.ended == []


async def test_requests_are_answered_in_the_loop_of_whoever_asked(rig: Rig) -> None:
    async def ask(argument: bytes) -> bytes:
        assert rig.host is not None
        return await rig.host.call("question", argument)

    async def refused(argument: bytes) -> bytes:
        assert rig.host is not None
        try:
            return await rig.host.call("refused", argument)
        except RequestFailed as failed:
            return str(failed).encode()

    module = rig.module(ask=ask, refused=refused)

    assert await module.call("ask", b"a") == b"A"
    assert await module.call("refused", b"a") == b"not that"
    assert rig.asked == [("question", b"a"), ("refused", b"a")]


async def test_what_is_running_fails_when_a_module_is_retired(rig: Rig) -> None:
    module = rig.module(never=never)
    call = asyncio.ensure_future(module.call("never", b"null"))
    await asyncio.sleep(0)

    module.retire("not wanted")

    with pytest.raises(ModuleEnded, match="not wanted"):
        await call
    with pytest.raises(NotRunning, match="not wanted"):
        await module.call("never", b"null")
    assert (module.ended, rig.ended) == ("not wanted", [])


async def test_a_module_that_blocks_is_ended_and_told_once(rig: Rig) -> None:
    go = threading.Event()

    async def block(argument: bytes) -> bytes:
        go.wait(60)
        return b""

    module, other = rig.module("blocks", 0.05, block=block), rig.module("other", echo=echo)
    calls = [asyncio.ensure_future(module.call("block", b"null")) for _ in range(2)]
    await asyncio.sleep(0)
    calls[0].cancel()

    with pytest.raises(ModuleEnded, match=r"it blocked its event loop for 0\.05 s"):
        await calls[1]

    assert await other.call("echo", b"1") == b"1"
    assert rig.ended == [("blocks", "it blocked its event loop for 0.05 s")]
    go.set()


async def test_a_module_that_is_only_slow_is_not_ended(rig: Rig) -> None:
    module = rig.module("slow", 0.05, never=never, echo=echo)
    call = asyncio.ensure_future(module.call("never", b"null"))
    await asyncio.sleep(0)
    call.cancel()

    await asyncio.sleep(0.2)

    assert await module.call("echo", b"1") == b"1"
    assert rig.ended == []


async def test_a_closed_module_leaves_no_thread(rig: Rig) -> None:
    module = rig.module("gone", never=never)
    call = asyncio.ensure_future(module.call("never", b"null"))
    await asyncio.sleep(0)

    await module.close()
    await module.close()

    with pytest.raises(ModuleEnded):
        await call
    # The thread's last act is to say that it is done.
    for thread in threading.enumerate():
        if thread.name == "treblehook-gone":
            await asyncio.to_thread(thread.join, 30)
            assert not thread.is_alive()


def test_a_log_is_bounded_and_says_so(tmp_path: Path) -> None:
    log = PrintLog(tmp_path / "logs" / "one.log")

    for _ in range(LOG_BYTES // 1024 + 10):
        log.print("x" * 1023)

    text = (tmp_path / "logs" / "one.log").read_text()
    assert text.endswith(f"[more than {LOG_BYTES} bytes: the rest is not kept]\n")
    assert len(text) < LOG_BYTES + 200


def test_a_log_that_cannot_be_written_fails_nobody(tmp_path: Path) -> None:
    (tmp_path / "logs").touch()

    PrintLog(tmp_path / "logs" / "one.log").print("lost")

    assert (tmp_path / "logs").read_bytes() == b""
