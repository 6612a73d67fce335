"""Bytes in, bytes out, and the exit status."""

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.processes import Ear, python
from treblehook.runtimes.process import Limits, ProcessRuntime, StatusLost

MEGABYTE = 1024 * 1024
WIDE = Limits(stdin_bytes=20 * MEGABYTE, stdout_bytes=20 * MEGABYTE)


async def test_input_comes_back_from_an_echo(runtime: ProcessRuntime) -> None:
    finished = await runtime.run(["cat"], b'{"power":"observe"}')

    assert finished.status == 0
    assert finished.stdout == b'{"power":"observe"}'
    assert finished.stderr == b""
    assert not finished.stdout_cut
    assert not finished.stderr_cut
    assert finished.seconds > 0


async def test_ten_megabytes_pass_through_both_ways(runtime: ProcessRuntime) -> None:
    payload = os.urandom(10 * MEGABYTE)

    finished = await runtime.run(["cat"], payload, limits=WIDE)

    assert finished.stdout == payload


async def test_all_three_pipes_full_at_once_do_not_deadlock(runtime: ProcessRuntime) -> None:
    # Both outputs are filled far beyond a pipe's capacity before the first byte of input is read.
    code = "import os,sys; o=b'o'*1000000; os.write(2, o); os.write(1, o); os.write(2, o); os.write(1, sys.stdin.buffer.read())"

    finished = await runtime.run(python(code), b"i" * MEGABYTE, limits=WIDE)

    assert finished.stdout == b"o" * 1_000_000 + b"i" * MEGABYTE
    assert finished.stderr == b"o" * 65_536
    assert finished.stderr_cut


async def test_empty_input_is_an_immediate_end_of_file(runtime: ProcessRuntime) -> None:
    assert (await runtime.run(["wc", "-c"], b"")).stdout.strip() == b"0"


async def test_output_is_returned_raw(runtime: ProcessRuntime) -> None:
    payload = bytes(range(256)) + b"\xef\xbb\xbf\xff\xc3(\r\n\0"

    assert (await runtime.run(["cat"], payload)).stdout == payload


@pytest.mark.parametrize("size", [2, 200 * 1024], ids=["small", "200 KiB"])
async def test_a_program_may_ignore_its_input(runtime: ProcessRuntime, script: Callable[[str], str], size: int) -> None:
    finished = await runtime.run([script("echo '{}'")], b"x" * size)

    assert finished.status == 0
    assert finished.stdout == b"{}\n"


async def test_a_program_may_close_its_input_and_go_on(runtime: ProcessRuntime, script: Callable[[str], str]) -> None:
    finished = await runtime.run([script("exec 0<&-; sleep 0.05; echo on; exit 3")], b"x" * 200 * 1024)

    assert finished.status == 3
    assert finished.stdout == b"on\n"


async def test_a_program_may_close_its_outputs_and_read_on(runtime: ProcessRuntime, tmp_path: Path) -> None:
    # Both outputs are at their end long before the input is: the run ends with the exit, and the input has been fed.
    code = f"import os,sys; os.close(1); os.close(2); open({str(tmp_path / 'size')!r}, 'w').write(str(len(sys.stdin.buffer.read())))"

    finished = await runtime.run(python(code), b"x" * 5 * MEGABYTE, limits=WIDE)

    assert finished.status == 0
    assert (tmp_path / "size").read_text() == str(5 * MEGABYTE)


async def test_the_exit_ends_a_run_whose_outputs_were_closed_before(runtime: ProcessRuntime, script: Callable[[str], str]) -> None:
    finished = await runtime.run([script("exec >&- 2>&-; sleep 0.2; exit 4")], b"")

    assert finished.status == 4


@pytest.mark.parametrize("status", [0, 1, 2, 127, 255])
async def test_exit_status(runtime: ProcessRuntime, script: Callable[[str], str], status: int) -> None:
    finished = await runtime.run([script(f"echo out; echo err >&2; exit {status}")], b"")

    assert finished.status == status
    assert finished.stdout == b"out\n"
    assert finished.stderr == b"err\n"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
async def test_death_by_signal_is_a_negative_status(runtime: ProcessRuntime, script: Callable[[str], str], number: signal.Signals) -> None:
    finished = await runtime.run([script(f"echo before; kill -{int(number)} $$")], b"")

    assert finished.status == -number
    assert finished.stdout == b"before\n"


async def test_no_shell_touches_the_arguments(runtime: ProcessRuntime) -> None:
    words = ["$HOME", "~", "*", "a b", "", ">x", "`id`", "\u00e4"]

    finished = await runtime.run(["printf", "%s\\n", *words], b"")

    assert finished.stdout.decode().splitlines() == words


async def test_directory_and_environment_are_the_hosts_own_unless_given(
    runtime: ProcessRuntime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TREASURE", "chest")
    show = ["/bin/sh", "-c", 'pwd; echo "$TREASURE"']

    own = await runtime.run(show, b"")
    given = await runtime.run(show, b"", cwd=str(tmp_path), env={"TREASURE": "map"})

    assert own.stdout.decode().split() == [os.getcwd(), "chest"]
    assert given.stdout.decode().split() == [str(tmp_path), "map"]


async def test_a_process_leads_a_group_of_its_own(runtime: ProcessRuntime) -> None:
    pids: list[int] = []

    finished = await runtime.run(python("import os; print(os.getpid(), os.getpgid(0))"), b"", on_started=pids.append)

    assert [int(word) for word in finished.stdout.split()] == [pids[0], pids[0]]


async def test_output_is_told_while_the_process_runs(runtime: ProcessRuntime, tmp_path: Path, ear: Ear) -> None:
    go = tmp_path / "go"
    os.mkfifo(go)
    task = asyncio.create_task(runtime.run(["/bin/sh", "-c", f"echo first; read x <{go}; echo $x; echo no >&2"], b"", on_output=ear))

    assert await ear.line() == "first"
    assert not task.done()
    go.write_text("second\n")
    finished = await task

    assert finished.stdout == b"first\nsecond\n"
    assert ear.heard == {"stdout": finished.stdout, "stderr": b"no\n"}


async def test_an_error_in_a_callback_ends_the_run_and_comes_out(runtime: ProcessRuntime) -> None:
    def refuse(*_: object) -> None:
        raise LookupError("not today")

    with pytest.raises(LookupError, match="not today"):
        await runtime.run(["sleep", "1000"], b"", on_started=refuse)
    with pytest.raises(LookupError, match="not today"):
        await runtime.run(["/bin/sh", "-c", "echo; sleep 1000"], b"", on_output=refuse)


async def test_a_callbacks_own_timeout_error_is_not_taken_for_the_deadline(runtime: ProcessRuntime) -> None:
    def late(_: int) -> None:
        raise TimeoutError("mine")

    with pytest.raises(TimeoutError, match="mine"):
        await runtime.run(["sleep", "1000"], b"", timeout_seconds=1000, on_started=late)


async def test_a_status_that_was_taken_by_somebody_else_is_no_success(runtime: ProcessRuntime) -> None:
    with pytest.raises(StatusLost, match="true: its exit status"):
        await runtime.run(["true"], b"", on_started=lambda pid: os.waitpid(pid, 0) and None)


async def test_a_status_that_the_system_throws_away_is_no_success(runtime: ProcessRuntime, script: Callable[[str], str]) -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        with pytest.raises(StatusLost):
            await runtime.run([script("exec >&- 2>&-; sleep 0.1")], b"")
    finally:
        signal.signal(signal.SIGCHLD, before)
