"""The tool `read`: numbered lines of text files, and everything that is none."""

import os
import shutil
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from treblehook.host.spill import LIMIT
from treblehook.host.tool import ToolInputInvalid, ToolOutput
from treblehook.host.tools.read import Read

Run = Callable[..., Awaitable[ToolOutput]]


@pytest.fixture
def read(run: Run) -> Run:
    async def read(path: str, **more: object) -> ToolOutput:
        return await run(Read(), path=path, **more)

    return read


def write(folder: Path, content: str | bytes, name: str = "file") -> None:
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


async def test_lines_come_with_their_numbers(read: Run, workspace: Path) -> None:
    write(workspace, "one\n  two\n\nfour")

    output = await read("file")

    assert output.content == "     1\tone\n     2\t  two\n     3\t\n     4\tfour"
    assert not output.is_error


@pytest.mark.parametrize(
    ("offset", "limit", "shown", "rest"),
    [(1, 2, [1, 2], 3), (2, 2, [2, 3], 4), (4, 2, [4, 5], None), (5, 1, [5], None), (5, 9, [5], None), (1, 5, [1, 2, 3, 4, 5], None)],
)
async def test_offset_and_limit_count_lines(
    offset: int, limit: int, shown: list[int], rest: int | None, read: Run, workspace: Path
) -> None:
    write(workspace, "".join(f"line {number}\n" for number in range(1, 6)))

    output = await read("file", offset=offset, limit=limit)

    expected = [f"{number:>6}\tline {number}" for number in shown]
    assert output.content.split("\n") == expected + ([f"[There is more: go on with offset {rest}.]"] if rest else [])


async def test_an_offset_past_the_end_says_how_long_the_file_is(read: Run, workspace: Path) -> None:
    write(workspace, "one\ntwo\n")

    output = await read("file", offset=3)

    assert output.is_error
    assert output.content == "file has 2 lines; offset 3 is past its end."


async def test_an_empty_file(read: Run, workspace: Path) -> None:
    write(workspace, "")

    assert (await read("file")).content == "[file is empty.]"


async def test_long_lines_are_cut_and_the_length_is_told(read: Run, workspace: Path) -> None:
    write(workspace, "x" * 3_000_000 + "ü\nshort\n")

    output = await read("file")

    assert output.content == f"     1\t{'x' * 2000} [2998001 more characters in this line]\n     2\tshort"


async def test_a_long_file_comes_in_parts_that_are_not_spilled(read: Run, workspace: Path) -> None:
    lines = [f"{number} " + "y" * 90 for number in range(1, 1001)]
    write(workspace, "\n".join(lines))
    seen: list[str] = []
    offset: str | None = "1"
    while offset is not None:
        output = await read("file", offset=int(offset))
        assert len(output.content) < LIMIT
        *rows, last = output.content.split("\n")
        offset = last.removeprefix("[There is more: go on with offset ").removesuffix(".]") if last.startswith("[") else None
        seen += [row.split("\t")[1] for row in (rows if offset else [*rows, last])]

    assert seen == lines


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"a\r\nb\r\n", "     1\ta\n     2\tb"),
        ("\ufeffa\nb".encode(), "     1\ta\n     2\tb"),
        ("ä\nb".encode("utf-16"), "     1\tä\n     2\tb"),
        (b"\xfe\xff" + "ä\r\nb".encode("utf-16-be"), "     1\tä\n     2\tb"),
        (b"caf\xe9\n", "     1\tcaf\ufffd"),
        (b"\xc3", "     1\t\ufffd"),
    ],
)
async def test_encodings_and_line_ends(content: bytes, shown: str, read: Run, workspace: Path) -> None:
    write(workspace, content)

    assert (await read("file")).content == shown


async def test_a_binary_file_is_told_and_not_shown(read: Run, workspace: Path) -> None:
    write(workspace, b"\x7fELF\0\0" + bytes(range(256)), "program")

    output = await read("program")

    assert output.is_error
    assert output.content == "program is a binary file of 262 bytes; it cannot be shown as text."


async def test_a_folder_is_told_and_how_to_list_it(read: Run, workspace: Path) -> None:
    (workspace / "src").mkdir()

    output = await read("src/")

    assert output.is_error
    assert output.content == 'src is a folder. The glob tool lists it: pattern "*", path "src".'


@pytest.mark.parametrize("kind", ["pipe", "socket", "device"])
async def test_what_is_no_file_neither_hangs_nor_floods(kind: str, read: Run, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(workspace / "it")
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path = "/dev/zero"
    else:
        monkeypatch.chdir(workspace)
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("it")

    output = await read(path)

    assert output.is_error
    assert "is no regular file" in output.content or "No such device" in output.content


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("missing", "No such file or directory"),
        ("file/below", "Not a directory"),
        ("loop", "Too many levels of symbolic links"),
        ("x" * 300, "File name too long"),
    ],
)
async def test_a_file_that_cannot_be_read(path: str, why: str, read: Run, workspace: Path) -> None:
    write(workspace, "text")
    (workspace / "loop").symlink_to("loop")

    output = await read(path)

    assert output.is_error
    assert output.content == f"Cannot read {path}: {why}."


async def test_absolute_paths_the_home_folder_and_links(
    read: Run, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path, "at home")
    (workspace / "link").symlink_to(tmp_path / "file")

    for path in ("~/file", str(tmp_path / "file"), "../file", "link"):
        assert (await read(path)).content == "     1\tat home"


async def test_a_file_of_the_kernel_that_claims_to_be_empty(read: Run) -> None:
    assert (await read("/proc/self/status", limit=1)).content.startswith("     1\tName:")


async def test_a_deleted_workspace(read: Run, workspace: Path) -> None:
    shutil.rmtree(workspace)

    output = await read("file")

    assert output.is_error
    assert output.content == f"The workspace folder {workspace} does not exist any more."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path": "a\0b"}, "`path` holds a NUL character"),
        ({"path": ""}, "`path`: found ''; allowed: text, not empty."),
        ({"path": "a", "offset": 0}, "`offset`: found 0; allowed: a whole number from 1"),
        ({"path": "a", "limit": -1}, "`limit`: found -1; allowed: a whole number from 1"),
    ],
)
async def test_a_bad_input(arguments: dict[str, object], message: str, run: Run) -> None:
    with pytest.raises(ToolInputInvalid) as caught:
        await run(Read(), **arguments)

    assert message in str(caught.value)
