"""Programs that cannot be started: what is said, and that nothing is left of the attempt."""

import errno
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from treblehook.runtimes.process import Limits, NotStarted, ProcessRuntime, TooMuchInput


async def refused(runtime: ProcessRuntime, argv: list[str], **options: Any) -> NotStarted:
    with pytest.raises(NotStarted) as caught:
        await runtime.run(argv, b"{}", **options)
    assert caught.value.program == argv[0]
    assert str(caught.value) == f"{argv[0]}: not started: {caught.value.why}"
    return caught.value


async def test_missing_file(runtime: ProcessRuntime, tmp_path: Path) -> None:
    error = await refused(runtime, [str(tmp_path / "lookout")])

    assert error.errno == errno.ENOENT
    assert error.why == "no such file"


async def test_missing_on_path(runtime: ProcessRuntime) -> None:
    error = await refused(runtime, ["no-such-program-anywhere"])

    assert error.errno == errno.ENOENT
    assert error.why == "no such program on PATH"


async def test_not_executable(runtime: ProcessRuntime, script: Callable[..., str]) -> None:
    error = await refused(runtime, [script("echo", mode=0o644)])

    assert error.errno == errno.EACCES
    assert error.why == "it is not executable (chmod +x)"


async def test_directory(runtime: ProcessRuntime, tmp_path: Path) -> None:
    error = await refused(runtime, [str(tmp_path)])

    assert error.errno == errno.EACCES
    assert error.why == "it is a directory"


@pytest.mark.parametrize("content", ["echo hello\n", ""], ids=["no shebang", "empty"])
async def test_neither_program_nor_script(runtime: ProcessRuntime, tmp_path: Path, content: str) -> None:
    path = tmp_path / "lookout"
    path.write_text(content)
    path.chmod(0o755)

    error = await refused(runtime, [str(path)])

    assert error.errno == errno.ENOEXEC
    assert "begins with #!" in error.why


@pytest.mark.parametrize(
    ("interpreter", "named"), [("/no/such/python -u", "'/no/such/python'"), (" /bin/sh\r", r"'/bin/sh\r'")], ids=["missing", "CRLF"]
)
async def test_bad_interpreter_is_named(runtime: ProcessRuntime, script: Callable[..., str], interpreter: str, named: str) -> None:
    error = await refused(runtime, [script("echo", interpreter=interpreter)])

    assert error.errno == errno.ENOENT
    assert error.why == f"its interpreter {named} does not exist"


async def test_bad_interpreter_of_a_program_on_path(runtime: ProcessRuntime, script: Callable[..., str], tmp_path: Path) -> None:
    name = Path(script("echo", interpreter="/no/such/sh")).name

    assert "interpreter '/no/such/sh'" in (await refused(runtime, [name], env={"PATH": str(tmp_path)})).why


async def test_a_relative_program_is_sought_in_the_working_directory(
    runtime: ProcessRuntime, script: Callable[..., str], tmp_path: Path
) -> None:
    name = Path(script("pwd")).name

    assert (await runtime.run([f"./{name}"], b"", cwd=str(tmp_path))).stdout.decode().strip() == str(tmp_path)
    assert (await refused(runtime, [f"./{name}"], cwd="/")).why == "no such file"


async def test_interpreter_that_may_not_be_executed(runtime: ProcessRuntime, script: Callable[..., str], tmp_path: Path) -> None:
    error = await refused(runtime, [script("echo", interpreter=str(tmp_path))])

    assert error.errno == errno.EACCES
    assert "its interpreter" in error.why


async def test_bad_working_directory(runtime: ProcessRuntime, tmp_path: Path) -> None:
    error = await refused(runtime, ["true"], cwd=str(tmp_path / "gone"))

    assert error.errno == errno.ENOENT
    assert error.why == f"the working directory {str(tmp_path / 'gone')!r} cannot be entered: No such file or directory"


async def test_arguments_over_the_systems_limit(runtime: ProcessRuntime) -> None:
    error = await refused(runtime, ["true", "x" * 10_000_000])

    assert error.errno == errno.E2BIG
    assert "longer than the system allows" in error.why


async def test_name_over_the_systems_limit(runtime: ProcessRuntime) -> None:
    assert (await refused(runtime, ["/" + "x" * 300])).errno == errno.ENAMETOOLONG


@pytest.mark.parametrize("word", ["a\0b", "\ud800"], ids=["NUL", "lone surrogate"])
async def test_argument_that_cannot_be_passed(runtime: ProcessRuntime, word: str) -> None:
    error = await refused(runtime, ["true", word])

    assert error.errno is None
    assert error.why


async def test_no_arguments_at_all(runtime: ProcessRuntime) -> None:
    with pytest.raises(NotStarted, match="argv is empty"):
        await runtime.run([], b"")


async def test_input_at_and_over_the_limit(runtime: ProcessRuntime, tmp_path: Path) -> None:
    limits = Limits(stdin_bytes=1000)
    mark = tmp_path / "ran"
    argv = ["/bin/sh", "-c", f"wc -c; echo >{mark}"]

    with pytest.raises(TooMuchInput) as caught:
        await runtime.run(argv, b"x" * 1001, limits=limits)
    assert not mark.exists()
    assert (caught.value.limit, caught.value.found) == (1000, 1001)
    assert "1001 bytes" in str(caught.value)
    assert isinstance(caught.value, NotStarted)

    assert (await runtime.run(argv, b"x" * 1000, limits=limits)).stdout.strip() == b"1000"


async def test_a_refused_run_gives_its_place_back(script: Callable[..., str]) -> None:
    async with ProcessRuntime(at_once=1) as runtime:
        for _ in range(3):
            await refused(runtime, [script("echo", mode=0o644)])
        assert (await runtime.run(["true"], b"")).status == 0


def test_running_out_of_descriptors_leaks_none() -> None:
    # In a process of its own, with a few descriptors left: from none to enough.
    code = """
import asyncio, errno, os, resource
from treblehook.runtimes.process import NotStarted, ProcessRuntime

async def main():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
    async with ProcessRuntime() as runtime:
        for argv in ["true"], ["sh", "-c", "exec >&- 2>&-; sleep 0.02"], ["/no/such/file"]:
            for free in range(14):
                taken = []
                try:
                    while True:
                        taken.append(os.open("/dev/null", os.O_RDONLY))
                except OSError:
                    for descriptor in taken[:free]:
                        os.close(descriptor)
                    del taken[:free]
                try:
                    word = str((await runtime.run(argv, b"{}")).status)
                except NotStarted as error:
                    word = errno.errorcode[error.errno]
                for left in range(free):
                    taken.append(os.open("/dev/null", os.O_RDONLY))
                try:
                    os.open("/dev/null", os.O_RDONLY)
                    word += "+more"
                except OSError:
                    pass
                for descriptor in taken:
                    os.close(descriptor)
                print(argv[0], free, word)
    try:
        os.waitpid(-1, os.WNOHANG)
        print("a child is left")
    except ChildProcessError:
        pass

asyncio.run(main())
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)

    words = [line.split(maxsplit=2) for line in run.stdout.splitlines()]
    assert len(words) == 42, run.stdout + run.stderr
    for program, free, word in words:
        good = "ENOENT" if program.startswith("/") else "0"
        # Six for the pipes, two more for the way in which the child reports a failed exec.
        assert word == ("EMFILE" if int(free) < 8 else good), (program, free, word)
