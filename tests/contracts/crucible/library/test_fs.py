"""`cru.fs` on real files."""

import os
import stat
from pathlib import Path

import pytest

from tests.contracts.crucible.library.conftest import Rig
from treblehook.contracts.crucible.caller import Caller
from treblehook.contracts.crucible.library import files


@pytest.fixture(params=["waiting", "at once"])
def call(request: pytest.FixtureRequest, rig: Rig) -> object:
    """Runs code both ways: where it may wait, and where it may not."""

    async def run(source: str, *values: object) -> object:
        if request.param == "waiting":
            return await rig.run(source, *values)
        return rig.run_now(source, *values)

    return run


async def test_bytes_are_written_and_read_as_they_are(call: object, tmp_path: Path) -> None:
    path = tmp_path / "inner" / "file"
    source = "local path = ...; cru.fs.write(path, '\\xff\\0\\n'); cru.fs.append(path, 'more'); return cru.fs.read(path)"
    assert await call(source, str(path)) == b"\xff\x00\nmore"  # type: ignore[operator]
    assert path.read_bytes() == b"\xff\x00\nmore"
    assert os.listdir(path.parent) == ["file"]


async def test_what_is_there(call: object, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "dangling").symlink_to("nowhere")
    source = """
        local folder = ...
        local found = {}
        for _, name in ipairs{'file', '', 'dangling', 'no'} do
            local path = cru.paths.join(folder, name ~= '' and name or '.')
            found[#found + 1] = {cru.fs.exists(path), cru.fs.is_file(path), cru.fs.is_dir(path)}
        end
        return found
    """
    expected = [[True, True, False], [True, False, True], [True, False, False], [False, False, False]]
    assert await call(source, str(tmp_path)) == expected  # type: ignore[operator]


async def test_folders(call: object, tmp_path: Path) -> None:
    source = """
        local folder = ...
        cru.fs.mkdir(folder .. '/a/b'); cru.fs.mkdir(folder .. '/a/b')
        cru.fs.write(folder .. '/a/é', ''); cru.fs.write(folder .. '/a/Z', '')
        local names = cru.fs.list(folder .. '/a')
        cru.fs.remove(folder .. '/a/b')
        cru.fs.remove(folder .. '/a', {recursive = true})
        return names, cru.json.encode(cru.fs.list(folder))
    """
    assert await call(source, str(tmp_path)) == [["Z", "b", "é"], "[]"]  # type: ignore[operator]


async def test_copy_and_rename(call: object, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    (tmp_path / "a").chmod(0o640)
    (tmp_path / "taken").write_text("old")
    source = "local f = ...; cru.fs.copy(f .. '/a', f .. '/taken'); cru.fs.rename(f .. '/a', f .. '/c'); return cru.fs.list(f)"
    assert await call(source, str(tmp_path)) == ["c", "taken"]  # type: ignore[operator]
    assert (tmp_path / "taken").read_text() == "x"
    assert stat.S_IMODE((tmp_path / "taken").stat().st_mode) == 0o640


async def test_a_relative_path_begins_at_the_sessions_workspace(rig: Rig, tmp_path: Path) -> None:
    (tmp_path / "s1").mkdir()
    await rig.run("cru.fs.write('inner/x', 'here')", caller=Caller(session="s1", owner="demo"))
    assert (tmp_path / "s1" / "inner" / "x").read_text() == "here"


async def test_a_write_keeps_the_mode_and_the_link(rig: Rig, tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o600)
    (tmp_path / "link").symlink_to("real")
    await rig.run("cru.fs.write(..., 'new')", str(tmp_path / "link"))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o600


async def test_removing_a_link_leaves_what_it_leads_to(rig: Rig, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "kept").write_text("")
    (tmp_path / "link").symlink_to("folder")
    await rig.run("cru.fs.remove(..., {recursive = true})", str(tmp_path / "link"))
    assert (tmp_path / "folder" / "kept").exists()
    assert not (tmp_path / "link").is_symlink()


async def test_names_that_are_no_utf8(rig: Rig, tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff")).write_text("x")
    assert await rig.run("local f = ...; local name = cru.fs.list(f)[1]; return name, cru.fs.read(f .. '/' .. name)", str(tmp_path)) == [
        b"\xff",
        "x",
    ]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("cru.fs.read(F .. '/no')", "/no: No such file or directory"),
        ("cru.fs.read(F)", ": it is a folder"),
        ("cru.fs.read('/dev/zero')", "/dev/zero: it is no regular file but a device, a pipe or a socket"),
        ("cru.fs.read(F .. '/fifo')", "it is no regular file"),
        ("cru.fs.append(F .. '/fifo', 'x')", "/fifo: "),
        ("cru.fs.write(F, 'x')", ": it is a folder"),
        ("cru.fs.write(F .. '/file/x', 'x')", "/file"),
        ("cru.fs.list(F .. '/file')", "/file: Not a directory"),
        ("cru.fs.mkdir(F .. '/file')", "/file: File exists"),
        ("cru.fs.remove(F .. '/no')", "/no: No such file or directory"),
        ("cru.fs.remove(F .. '/full')", "/full: Directory not empty"),
        ("cru.fs.copy(F .. '/file', F .. '/full')", "/full: Is a directory"),
        ("cru.fs.copy(F .. '/full', F .. '/x')", "/full: it is a folder"),
        ("cru.fs.copy(F .. '/no', F .. '/x')", "/no: No such file"),
        ("cru.fs.rename(F .. '/no', F .. '/x')", "/no → "),
    ],
)
async def test_a_failure_names_function_path_and_reason(rig: Rig, tmp_path: Path, code: str, said: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("")
    os.mkfifo(tmp_path / "fifo")
    message = await rig.refused(f"local F = '{tmp_path}'\nlocal x = {code}")
    assert message.startswith(f"demo.lua:2: {code.partition('(')[0]}: ")
    assert said in message
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]


async def test_a_huge_file_is_not_read(rig: Rig, tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(files.READ_BYTES + 1)
    assert f"longer than {files.READ_BYTES} bytes" in await rig.refused(f"local x = cru.fs.read('{tmp_path}/huge')")


async def test_a_slow_disk_holds_up_nobody_else(rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one run reads, another one ends: the read goes on only after that."""
    import asyncio
    import threading

    going_on = threading.Event()

    def slow(path: Path) -> bytes:
        assert going_on.wait(60)
        return b"read"

    monkeypatch.setattr(files, "read", slow)
    read = asyncio.create_task(rig.run("return cru.fs.read('x')"))
    await asyncio.sleep(0)
    assert await rig.run("cru.timer.sleep(0); return 1") == 1
    assert not read.done()
    going_on.set()
    assert await read == "read"
