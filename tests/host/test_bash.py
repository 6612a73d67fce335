"""The tool `bash`: real commands, and all the ways in which they end."""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.support.clock import Clock
from tests.support.needs import needs
from tests.support.processes import alive, held, until
from treblehook.host.tool import ToolContext, ToolInputInvalid, ToolOutput
from treblehook.host.tools.bash import Bash
from treblehook.lifecycle import PreparedCall
from treblehook.runtimes.process import ProcessRuntime

pytestmark = needs("bash")

REAL_BASH = os.path.realpath(shutil.which("bash") or "")
Run = Callable[..., Awaitable[ToolOutput]]


@pytest.fixture
def bash(runtime: ProcessRuntime) -> Bash:
    return Bash(runtime)


async def test_it_is_prepared_in_the_interpreter_form(bash: Bash, context: ToolContext) -> None:
    prepared = bash.prepare({"command": "  ls -l | wc "}, context)

    assert prepared == PreparedCall("bash", "ls -l | wc", REAL_BASH, ("-c", "ls -l | wc"), "ls -l | wc", None)


async def test_the_prepared_call_is_what_runs(bash: Bash, context: ToolContext) -> None:
    prepared = bash.prepare({"command": "echo approved"}, context)
    output = await bash.run_prepared(prepared, {"command": "echo something else"}, context)

    assert output.content == "approved\n"


async def test_it_runs_in_the_workspace_with_the_environment_of_host_and_hooks(
    bash: Bash, run: Run, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FROM_THE_HOST", "too")

    output = await run(bash, command="pwd -P; echo $FROM_THE_HOST $FROM_A_HOOK $0")

    assert output.content == f"{workspace}\ntoo yes bash\n"
    assert not output.is_error


async def test_both_streams_are_one_text_in_the_order_of_arrival_and_apart_in_the_outcome(
    bash: Bash, context: ToolContext, told: list[str], workspace: Path
) -> None:
    arguments = {"command": "echo one; read x < pipe; echo two >&2; read x < pipe; echo three"}
    pipe = workspace / "pipe"
    os.mkfifo(pipe)
    task = asyncio.create_task(bash.run_prepared(bash.prepare(arguments, context), arguments, context))
    await until(lambda: "one\n" in told)
    await asyncio.to_thread(pipe.write_text, "go\n")
    await until(lambda: "two\n" in told)
    await asyncio.to_thread(pipe.write_text, "go\n")

    output = await task

    assert output.content == "one\ntwo\nthree\n"
    assert output.shell is not None
    assert (output.shell.exit_code, output.shell.stdout, output.shell.stderr) == (0, "one\nthree\n", "two\n")


@pytest.mark.parametrize(
    ("command", "status", "text"),
    [
        ("printf out; exit 3", 3, "out\n[exit status 3]"),
        ("exit 1", 1, "[exit status 1]"),
        ("kill -9 $$", 137, "[ended by signal 9, Killed]"),
        ("no-such-program", 127, "bash: line 1: no-such-program: command not found\n[exit status 127]"),
        ("true", 0, "[The command wrote nothing.]"),
    ],
)
async def test_every_status_is_told(command: str, status: int, text: str, bash: Bash, run: Run) -> None:
    output = await run(bash, command=command)

    assert output.content == text
    assert output.is_error == (status != 0)
    assert output.shell is not None
    assert output.shell.exit_code == status


async def test_bytes_that_are_no_text_do_not_break_it(bash: Bash, run: Run) -> None:
    output = await run(bash, command=r"printf 'a\xffb'; printf '\xc3'; sleep 0.1; printf '\xbc'")

    assert output.content == "a\ufffdbü"


async def test_progress_is_told_while_the_command_runs(bash: Bash, context: ToolContext, told: list[str]) -> None:
    arguments = {"command": "echo ready; sleep 1000"}
    task = asyncio.create_task(bash.run_prepared(bash.prepare(arguments, context), arguments, context))

    await until(lambda: told == ["ready\n"])

    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_question_meets_the_end_of_input(bash: Bash, run: Run) -> None:
    output = await run(bash, command="read answer || echo nobody there")

    assert output.content == "nobody there\n"


@pytest.mark.parametrize(("more", "seconds"), [({}, 120), ({"timeout_ms": 1500}, 1.5), ({"timeout_ms": 600_000}, 600)])
async def test_the_time_limit_ends_the_whole_group(
    more: dict[str, int], seconds: float, bash: Bash, run: Run, told: list[str], workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(asyncio.get_running_loop(), monkeypatch)
    task = asyncio.create_task(run(bash, command="sleep 1000 & echo $! > child; echo before; wait", **more))
    await until(lambda: told == ["before\n"])

    await clock.advance(seconds)

    output = await task
    assert output.is_error
    assert output.content == f"before\n[Not finished after {seconds:g} s: the command and what it had started were ended.]"
    assert output.shell is not None
    assert (output.shell.exit_code, output.shell.stdout) == (128 + signal.SIGTERM, "before\n")
    child = int((workspace / "child").read_text())
    await until(lambda: not alive(child))


async def test_cancelling_ends_the_whole_group(bash: Bash, context: ToolContext, workspace: Path) -> None:
    arguments = {"command": "trap '' TERM; sleep 1000 & sleep 1000 | cat & jobs -p > children; touch ready; wait"}
    task = asyncio.create_task(bash.run_prepared(bash.prepare(arguments, context), arguments, context))
    await until((workspace / "ready").exists)
    children = [int(line) for line in (workspace / "children").read_text().split()]
    assert len(children) == 2
    assert all(map(alive, children))

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    await until(lambda: not any(map(alive, children)))


async def test_a_background_process_does_not_hold_the_call(bash: Bash, run: Run) -> None:
    output = await run(bash, command="sleep 1000 & echo $!", timeout_ms=600_000)

    number, remark = output.content.splitlines()
    assert remark.startswith("[A background process still holds the output;")
    assert not output.is_error
    assert alive(int(number)), "it was started to stay"
    os.kill(int(number), signal.SIGKILL)


@needs("setsid")
async def test_a_daemon_with_its_own_output_is_no_wait_at_all(bash: Bash, run: Run, workspace: Path) -> None:
    output = await run(
        bash, command="setsid sh -c 'echo $$ > daemon; exec sleep 1000' > log 2>&1 & until test -s daemon; do :; done; echo up"
    )

    assert output.content == "up\n"
    daemon = int((workspace / "daemon").read_text())
    assert alive(daemon)
    os.kill(daemon, signal.SIGKILL)


@needs("setsid")
async def test_a_daemon_that_keeps_the_output_is_left_behind(bash: Bash, run: Run) -> None:
    output = await run(bash, command="setsid sleep 1000 & echo $!; exit 7")

    number, *remarks = output.content.splitlines()
    assert remarks[0] == "[exit status 7]"
    assert output.shell is not None
    assert output.shell.exit_code == 7
    os.kill(int(number), signal.SIGKILL)


async def test_fifty_megabytes_are_kept_as_head_and_tail(bash: Bash, run: Run) -> None:
    command = "echo first; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo last"

    output = await run(bash, command=command)

    assert len(output.content) < 1_100_000
    assert output.content.startswith("first\nxxx")
    assert output.content.endswith("xxx\nlast\n")
    assert "\n[49000012 characters of output were left out here]\n" in output.content
    assert output.shell is not None
    assert len(output.shell.stdout) == 16_384


async def test_each_stream_of_the_outcome_is_cut_at_16_kib_of_whole_characters(bash: Bash, run: Run) -> None:
    ten_thousand = "for i in {1..10000}; do printf ü; done"
    output = await run(bash, command=f"{ten_thousand}; printf x >&2; {{ {ten_thousand}; }} >&2")

    assert output.shell is not None
    assert output.shell.stdout == "ü" * 8192
    assert output.shell.stderr == "x" + "ü" * 8191


async def test_a_stream_of_broken_bytes_is_cut_after_it_was_decoded(bash: Bash, run: Run) -> None:
    output = await run(bash, command="head -c 20000 /dev/zero | tr '\\0' '\\377'")

    assert output.shell is not None
    assert output.shell.stdout == "\ufffd" * (16_384 // 3)


async def test_a_deleted_workspace_is_a_clear_error(bash: Bash, run: Run, workspace: Path) -> None:
    shutil.rmtree(workspace)

    output = await run(bash, command="echo hi")

    assert output.is_error
    assert (
        output.content == f"The command was not run: the working directory {str(workspace)!r} cannot be entered: No such file or directory."
    )
    assert output.shell is None


async def test_a_command_longer_than_the_system_allows(bash: Bash, run: Run) -> None:
    output = await run(bash, command="echo " + "x" * 3_000_000)

    assert output.is_error
    assert "longer than the system allows" in output.content


async def test_no_shell_at_all(bash: Bash, run: Run, monkeypatch: pytest.MonkeyPatch, workspace: Path) -> None:
    (workspace / "sh").write_text("#!/bin/sh\necho a trap\n")
    (workspace / "sh").chmod(0o755)
    monkeypatch.setenv("PATH", f".:{workspace.name}:")

    output = await run(bash, command="echo hi")

    assert output.is_error
    assert output.content == "The command was not run: there is neither bash nor sh on PATH."


async def test_a_file_of_many_programs_is_called_by_the_name_of_a_shell(
    runtime: ProcessRuntime, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = tmp_path / "manybox"
    # What a kernel makes of `#!` loses the name, so the stand-in is this interpreter, which can be asked for it.
    many.symlink_to(sys.executable)
    (tmp_path / "sh").symlink_to(many)
    monkeypatch.setenv("PATH", str(tmp_path))

    output = await run(Bash(runtime), command="import sys; print(sys.orig_argv[0])")

    assert output.content == "sh\n"


async def test_a_closed_runtime_is_an_error_output(run: Run) -> None:
    runtime = ProcessRuntime()
    await runtime.close()

    output = await run(Bash(runtime), command="echo hi")

    assert output.is_error
    assert output.content == "The command was not run: the process runtime has been closed."


async def test_closing_the_runtime_ends_a_command_that_runs(context: ToolContext, told: list[str]) -> None:
    arguments = {"command": "echo started; sleep 1000"}
    async with ProcessRuntime() as runtime:
        bash = Bash(runtime)
        task = asyncio.create_task(bash.run_prepared(bash.prepare(arguments, context), arguments, context))
        await until(lambda: bool(told))

    output = await task
    assert output.is_error
    assert output.content == "started\n[bash: stopped, because the process runtime was closed]"


async def test_nothing_is_left_open(context: ToolContext) -> None:
    before = held()
    async with ProcessRuntime() as runtime:
        bash = Bash(runtime)
        for command in ("echo hi", "exit 1", "true & true"):
            arguments = {"command": command}
            await bash.run_prepared(bash.prepare(arguments, context), arguments, context)

    assert held().descriptors == before.descriptors
    assert held().children == before.children


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "lacks the required field `command`"),
        ({"command": None}, "lacks the required field `command`"),
        ({"command": 5}, "`command`: found 5; allowed: text, not empty."),
        ({"command": ""}, "`command`: found ''; allowed: text, not empty."),
        ({"command": " \n"}, "`command` is blank"),
        ({"command": "a\0b"}, "`command` holds a NUL character"),
        ({"command": "a\ud800b"}, "`command` holds half of a surrogate pair at character 1"),
        ({"command": "ls", "timeout_ms": 0}, "`timeout_ms`: found 0; allowed: a whole number from 1 to 600000"),
        ({"command": "ls", "timeout_ms": 600_001}, "`timeout_ms`: found 600001; allowed: a whole number from 1 to 600000"),
        ({"command": "ls", "timeout_ms": "5"}, "`timeout_ms`: found '5'; allowed: a whole number"),
        ({"command": "ls", "timeout_ms": True}, "`timeout_ms`: found True; allowed: a whole number"),
        ({"command": "ls", "timeout_ms": 1.5}, "`timeout_ms`: found 1.5; allowed: a whole number"),
        ({"command": "ls", "cwd": "/"}, "unknown field `cwd`. It has `command`, `cwd`. Allowed: `command`: text, not empty; `timeout_ms`"),
    ],
)
async def test_a_bad_input_names_the_field_what_was_found_and_what_is_allowed(
    arguments: dict[str, object], message: str, bash: Bash, context: ToolContext
) -> None:
    with pytest.raises(ToolInputInvalid) as caught:
        bash.prepare(arguments, context)

    assert message in str(caught.value)


async def test_a_whole_number_written_as_a_float_and_a_null_are_taken(bash: Bash, run: Run) -> None:
    assert (await run(bash, command="echo hi", timeout_ms=5000.0)).content == "hi\n"
    assert (await run(bash, command="echo hi", timeout_ms=None)).content == "hi\n"
