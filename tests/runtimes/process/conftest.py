"""What the tests of the process runtime share: a runtime, scripts, a clock to turn, and the check that nothing is left behind."""

import asyncio
import gc
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from tests.support.clock import Clock
from tests.support.processes import NOTHING, Ear, held, new_since
from treblehook.runtimes.process import ProcessRuntime


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """After every test: the same descriptors, children and threads as before."""
    before = held()
    yield
    gc.collect()
    assert new_since(before) == NOTHING


@pytest.fixture
async def runtime(nothing_is_left: None) -> AsyncIterator[ProcessRuntime]:
    async with ProcessRuntime() as runtime:
        yield runtime


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], str]:
    """Write an executable shell script and give its path."""

    def write(body: str, interpreter: str = "/bin/sh", mode: int = 0o755) -> str:
        path = tmp_path / f"script-{len(list(tmp_path.iterdir()))}"
        path.write_text(f"#!{interpreter}\n{body}\n")
        path.chmod(mode)
        return str(path)

    return write


@pytest.fixture
async def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(asyncio.get_running_loop(), monkeypatch)


@pytest.fixture
async def ear() -> Ear:
    return Ear()


@pytest.fixture
def born_deaf() -> Callable[[], AbstractContextManager[None]]:
    """Processes started in this block ignore SIGTERM from their first moment: an ignored signal stays so across exec."""

    @contextmanager
    def ignoring() -> Iterator[None]:
        before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, before)

    return ignoring
