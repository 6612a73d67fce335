"""A process that is listened to while it runs."""

import asyncio
import os

import pytest

from tests.support.processes import alive, held, python, until
from treblehook.contracts.crucible.library.live_process import LINE_BYTES, InputClosed, LiveProcess
from treblehook.runtimes.process.reaper import Reaper
from treblehook.runtimes.process.values import Stream


class Heard:
    """Keeps the lines."""

    def __init__(self) -> None:
        self.lines: list[tuple[Stream, bytes]] = []

    async def __call__(self, stream: Stream, line: bytes) -> None:
        self.lines.append((stream, line))

    def of(self, stream: Stream) -> list[bytes]:
        return [line for where, line in self.lines if where == stream]


def _start(code: str, reaper: Reaper | None = None) -> LiveProcess:
    return LiveProcess(python(code), None, os.environ, reaper or Reaper())


async def test_lines_of_both_outputs_in_their_order() -> None:
    heard = Heard()
    status = await _start(
        "import sys\nfor i in range(500): print(i)\nprint('no end', end='')\nprint('e', file=sys.stderr)\nsys.exit(3)"
    ).run(heard)
    assert status == 3
    assert heard.of("stdout") == [*(str(number).encode() for number in range(500)), b"no end"]
    assert heard.of("stderr") == [b"e"]


async def test_a_line_without_end_comes_in_pieces() -> None:
    heard = Heard()
    await _start(f"print('x' * {LINE_BYTES * 2 + 5})").run(heard)
    assert [len(line) for line in heard.of("stdout")] == [LINE_BYTES, LINE_BYTES, 5]


async def test_a_slow_listener_makes_the_process_wait_and_loses_nothing() -> None:
    went_on = asyncio.Event()
    lines = 0

    async def slow(stream: Stream, line: bytes) -> None:
        nonlocal lines
        lines += 1
        await went_on.wait()

    process = _start("for i in range(100000): print(i, 'x' * 20)")
    run = asyncio.create_task(process.run(slow))
    await until(lambda: lines == 1)
    assert not run.done()
    assert alive(process.pid)
    went_on.set()
    assert await run == 0
    assert lines == 100_000


async def test_input_can_be_written_while_it_runs() -> None:
    heard = Heard()
    process = _start("import sys\nfor line in sys.stdin: print(line.strip().upper(), flush=True)")
    run = asyncio.create_task(process.run(heard))
    await process.write(b"ahoy\n")
    await until(lambda: heard.of("stdout") == [b"AHOY"])
    await process.write(b"land\n" * 50_000)
    process.close_input()
    assert await run == 0
    assert len(heard.of("stdout")) == 50_001
    with pytest.raises(InputClosed):
        await process.write(b"late")


async def test_writing_to_a_process_that_has_closed_its_input_is_told() -> None:
    process = _start("import os, time\nos.close(0)\nprint('closed', flush=True)\ntime.sleep(60)")
    heard = Heard()
    run = asyncio.create_task(process.run(heard))
    await until(lambda: bool(heard.lines))
    with pytest.raises(InputClosed):
        await process.write(b"x" * 1_000_000)
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)


async def test_a_write_that_waits_ends_with_the_process() -> None:
    process = _start("import time; print('up', flush=True); time.sleep(60)")
    heard = Heard()
    run = asyncio.create_task(process.run(heard))
    await until(lambda: bool(heard.lines))
    write = asyncio.create_task(process.write(b"x" * 10_000_000))
    await asyncio.sleep(0.01)
    assert not write.done()
    run.cancel()
    with pytest.raises(InputClosed):
        await write


async def test_cancelling_ends_the_whole_group() -> None:
    before = held()
    reaper = Reaper()
    heard = Heard()
    code = (
        "import os, signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-ISc', 'import time; time.sleep(60)'])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(60)"
    )
    process = _start(code, reaper)
    run = asyncio.create_task(process.run(heard))
    await until(lambda: bool(heard.lines))
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert await reaper.close() == []
    await until(lambda: not alive(process.pid) and not alive(int(heard.of("stdout")[0])))
    after = held()
    assert after.descriptors == before.descriptors
    assert after.children.keys() <= before.children.keys()


async def test_a_silent_descendant_does_not_hold_the_end() -> None:
    heard = Heard()
    code = "import subprocess, sys\nprint(subprocess.Popen([sys.executable, '-ISc', 'import time; time.sleep(60)']).pid, flush=True)"
    assert await _start(code).run(heard) == 0
    os.kill(int(heard.of("stdout")[0]), 9)


async def test_an_error_of_the_listener_ends_the_process_and_comes_out() -> None:
    reaper = Reaper()

    async def broken(stream: Stream, line: bytes) -> None:
        raise ValueError("no ears")

    process = _start("import time; print('x', flush=True); time.sleep(60)", reaper)
    with pytest.raises(ValueError, match="no ears"):
        await process.run(broken)
    await reaper.close()
    assert not alive(process.pid)
