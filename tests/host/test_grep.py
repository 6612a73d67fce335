"""The tool `grep`: lines by regular expressions, also by those that take for ever."""

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.support.clock import Clock
from tests.support.processes import held, until
from treblehook.host.tool import ToolContext, ToolInputInvalid, ToolOutput
from treblehook.host.tools.grep import Grep
from treblehook.runtimes.process import ProcessRuntime

Run = Callable[..., Awaitable[ToolOutput]]


@pytest.fixture
def grep(run: Run, runtime: ProcessRuntime) -> Run:
    async def grep(pattern: str, **more: object) -> ToolOutput:
        return await run(Grep(runtime), pattern=pattern, **more)

    return grep


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


async def test_lines_of_all_files_below_in_order(grep: Run, workspace: Path) -> None:
    write(workspace, "b.txt", "Treasure\nnothing\n a treasure")
    write(workspace, "a/deep/x.py", "no\r\ntreasure = 1\r\n")
    write(workspace, ".hidden", "treasure")
    write(workspace, ".git/config", "treasure")
    write(workspace, "a/.git/config", "treasure")

    output = await grep("treasure")

    assert output.content == ".hidden:1: treasure\nb.txt:3:  a treasure\na/deep/x.py:2: treasure = 1"
    assert not output.is_error


async def test_the_expression_is_one_of_python(grep: Run, workspace: Path) -> None:
    write(workspace, "f", "Größe 12\nGroesse 13\n")

    assert (await grep(r"(?i)^grö\w+\s\d{2}$")).content == "f:1: Größe 12"


async def test_a_file_or_another_folder(grep: Run, workspace: Path, tmp_path: Path) -> None:
    write(workspace, "one", "x")
    write(workspace, "two/three", "x")
    outside = write(tmp_path, "outside/four", "x")

    assert (await grep("x", path="one")).content == "one:1: x"
    assert (await grep("x", path="./two/")).content == "two/three:1: x"
    assert (await grep("x", path="two/../one")).content == "one:1: x"
    assert (await grep("x", path="../outside")).content == f"{outside}:1: x"


async def test_no_line_matches(grep: Run, workspace: Path) -> None:
    write(workspace, "f", "x")

    output = await grep("y")

    assert output.content == "[No line matches.]"
    assert not output.is_error


async def test_what_is_no_text_file_is_left_out(grep: Run, workspace: Path) -> None:
    write(workspace, "binary", b"find me\0")
    write(workspace, "latin", b"find me caf\xe9\n")
    os.mkfifo(workspace / "pipe")
    (workspace / "loop").symlink_to("loop")
    (workspace / "up").symlink_to("..")

    output = await grep("find me")

    assert output.content == "latin:1: find me caf\ufffd\n[1 files or folders could not be read.]"


async def test_five_hundred_lines_are_shown(grep: Run, workspace: Path) -> None:
    write(workspace, "a", "x\n" * 400)
    write(workspace, "b", "x\n" * 400)

    *rows, remark = (await grep("x")).content.split("\n")

    assert len(rows) == 500
    assert rows[-1] == "b:100: x"
    assert remark == "[Only the first 500 matches are shown; a narrower pattern or path shows others.]"


async def test_a_long_line_is_shown_around_the_match(grep: Run, workspace: Path) -> None:
    write(workspace, "f", "a" * 5000 + "needle" + "b" * 500_000)

    output = await grep("needle")

    assert output.content.startswith("f:1: …aaa")
    assert "needle" in output.content
    assert output.content.endswith("b…")
    assert len(output.content) < 320


async def test_a_line_of_many_megabytes_is_searched_in_pieces(grep: Run, workspace: Path) -> None:
    write(workspace, "f", "a" * 3_500_000 + "needle\nneedle")

    output = await grep("needle")

    assert [row.split(":")[1] for row in output.content.split("\n")] == ["1", "2"]


async def test_an_expression_that_takes_for_ever_is_ended_while_the_loop_goes_on(
    run: Run, runtime: ProcessRuntime, workspace: Path, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(workspace, "a", "a line with aaab\n")
    write(workspace, "b", "a" * 200 + "b\n")
    clock = Clock(asyncio.get_running_loop(), monkeypatch)
    search = asyncio.create_task(run(Grep(runtime), pattern="(a+)+$|line"))
    await until(lambda: told == ["a:1: a line with aaab\n"])

    await clock.advance(31)

    output = await search
    assert output.is_error
    assert output.content == (
        "a:1: a line with aaab\n[Stopped after 30 s: too much to search, or the pattern takes too long (nested repetitions?).]"
    )


async def test_cancelling_ends_the_search(context: ToolContext, workspace: Path) -> None:
    write(workspace, "b", "a" * 200 + "b\n")
    before = held()
    async with ProcessRuntime() as runtime:
        task = asyncio.create_task(Grep(runtime).run({"pattern": "(a+)+$"}, context))
        await until(lambda: held().children != before.children)

        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert held().children == before.children


@pytest.mark.parametrize("pattern", ["(", "*a", "a{2,1}", "(?P<x>a)(?P<x>b)", "[z-a]"])
async def test_what_is_no_regular_expression(pattern: str, grep: Run) -> None:
    with pytest.raises(ToolInputInvalid, match=r"`pattern` is no regular expression: .+"):
        await grep(pattern)


async def test_a_path_that_is_not_there(grep: Run) -> None:
    output = await grep("x", path="missing")

    assert output.is_error
    assert output.content == "Cannot search missing: No such file or directory."


async def test_a_deleted_workspace(grep: Run, workspace: Path) -> None:
    shutil.rmtree(workspace)

    output = await grep("x")

    assert output.is_error
    assert "the working directory" in output.content
    assert "No such file or directory" in output.content


async def test_nothing_of_the_workspace_is_imported(grep: Run, workspace: Path) -> None:
    write(workspace, "json.py", "raise SystemExit('a trap')")
    write(workspace, "sitecustomize.py", "raise SystemExit('a trap')")

    assert (await grep("trap")).content.count("a trap") == 2


async def test_a_name_that_is_no_text(grep: Run, workspace: Path) -> None:
    folder = os.fsdecode(os.fsencode(workspace) + b"/bad\xff")
    os.mkdir(folder)
    write(workspace, f"{folder}/f", "x")

    assert (await grep("x")).content == "bad\ufffd/f:1: x"


async def test_very_deep_folders(grep: Run, deep: str, workspace: Path) -> None:
    write(workspace, f"{deep}/f", "x")

    assert (await grep("x")).content.endswith("/d/f:1: x")
