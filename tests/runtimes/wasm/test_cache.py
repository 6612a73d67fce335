"""Compiled code on disk saves the compiling, is used only where it can be trusted, and is never needed."""

import asyncio
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.guests import ROOT
from tests.support.small_guests import COUNT, DOUBLE, EXPORTS
from treblehook.runtimes.wasm import Component, WasmRuntime, loading
from treblehook.runtimes.wasm.cache import CodeCache


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "a" / "code"


async def loaded(folder: Path, source: str = DOUBLE) -> Component:
    """Load with a runtime of its own, and see that it works."""
    async with WasmRuntime(folder) as runtime:
        component = await runtime.load(source.encode())
        instance = await runtime.open(component, EXPORTS)
        await instance.call("go", 1, seconds=30)
        return component


def only(folder: Path) -> Path:
    [file] = folder.glob("*.cwasm")
    return file


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def permissions(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_the_second_runtime_need_not_compile(folder: Path) -> None:
    assert not (await loaded(folder)).from_cache
    assert (await loaded(folder)).from_cache
    assert not (await loaded(folder, COUNT)).from_cache
    assert len(names(folder)) == 2


async def test_folder_and_files_are_private(folder: Path) -> None:
    old = os.umask(0)
    try:
        await loaded(folder)
    finally:
        os.umask(old)

    assert permissions(folder) == 0o700
    assert permissions(only(folder)) == 0o600


@pytest.mark.parametrize("damage", ["flip", "cut", "cut to nothing", "grow", "garbage", "sum"])
async def test_a_damaged_file_is_compiled_again(folder: Path, damage: str) -> None:
    await loaded(folder)
    code = bytearray(only(folder).read_bytes())
    match damage:
        case "flip":
            code[len(code) // 2] ^= 1
        case "cut":
            del code[-1000:]
        case "cut to nothing":
            code.clear()
        case "grow":
            code += b"\0"
        case "garbage":
            code = bytearray(os.urandom(len(code)))
        case "sum":
            code[-1] ^= 1
    only(folder).write_bytes(code)

    assert not (await loaded(folder)).from_cache
    assert (await loaded(folder)).from_cache


async def test_whole_code_that_this_engine_cannot_run_is_compiled_again(folder: Path) -> None:
    await loaded(folder)
    file = only(folder)
    file.unlink()
    CodeCache(folder).store(file.stem, bytearray(b"\x7fELF of another machine" * 100))

    assert not (await loaded(folder)).from_cache
    assert (await loaded(folder)).from_cache


async def test_another_configuration_has_code_of_its_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await loaded(folder)
    monkeypatch.setattr(loading, "fingerprint", lambda: "wasmtime 51")

    assert not (await loaded(folder)).from_cache
    assert len(names(folder)) == 2


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
async def test_a_file_that_others_can_write_is_not_executed(folder: Path, mode: int) -> None:
    await loaded(folder)
    only(folder).chmod(mode)
    cache = CodeCache(folder)

    assert cache.find(only(folder).stem) is None
    assert "could have been written by somebody else" in str(cache.problem)
    # It is replaced by one of ours.
    assert not (await loaded(folder)).from_cache
    assert (await loaded(folder)).from_cache


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
async def test_a_folder_that_others_can_write_to_is_not_used(folder: Path, mode: int) -> None:
    await loaded(folder)
    os.chmod(folder, mode)

    async with WasmRuntime(folder) as runtime:
        assert not (await runtime.load(DOUBLE.encode())).from_cache
        assert "is not a folder that only this user can write to" in str(runtime.cache_problem)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
async def test_what_belongs_to_somebody_else_is_not_executed(folder: Path) -> None:
    await loaded(folder)
    os.chown(only(folder), 12345, -1)
    assert not (await loaded(folder)).from_cache

    os.chown(folder, 12345, -1)
    async with WasmRuntime(folder) as runtime:
        assert not (await runtime.load(DOUBLE.encode())).from_cache
        assert runtime.cache_problem is not None


async def test_links_are_not_followed(folder: Path, tmp_path: Path) -> None:
    await loaded(folder)
    file = only(folder)
    elsewhere = file.rename(tmp_path / "elsewhere")
    file.symlink_to(elsewhere)
    assert not (await loaded(folder)).from_cache

    os.rename(folder, tmp_path / "real")
    os.symlink(tmp_path / "real", folder)
    assert not (await loaded(folder)).from_cache


async def test_a_folder_that_is_in_the_way_costs_only_the_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    async with WasmRuntime(tmp_path / "file" / "code") as runtime:
        assert not (await runtime.load(DOUBLE.encode())).from_cache
        assert runtime.cache_problem is not None


async def test_a_full_disk_costs_only_the_cache() -> None:
    async with WasmRuntime(Path("/dev/full")) as runtime:
        assert not (await runtime.load(DOUBLE.encode())).from_cache
        assert runtime.cache_problem is not None


async def test_nothing_half_written_is_left_where_the_disk_is_full(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    async with WasmRuntime(folder) as runtime:
        assert not (await runtime.load(DOUBLE.encode())).from_cache
        assert runtime.cache_problem == "[Errno 28] No space left on device"
    assert names(folder) == []


LOADS = """
import asyncio, sys
from pathlib import Path
from tests.support.small_guests import DOUBLE, EXPORTS
from treblehook.runtimes.wasm import WasmRuntime

async def main():
    async with WasmRuntime(Path(sys.argv[1])) as runtime:
        instance = await runtime.open(await runtime.load(DOUBLE.encode()), EXPORTS)
        print(await instance.call("go", 21, seconds=30), runtime.cache_problem)

asyncio.run(main())
"""


async def test_processes_that_compile_the_same_do_not_disturb_each_other(folder: Path) -> None:
    started = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", LOADS, str(folder), cwd=ROOT, stdout=subprocess.PIPE) for _ in range(4)
    ]

    assert [(await process.communicate())[0] for process in started] == [b"42 None\n"] * 4
    assert len(names(folder)) == 1
    assert (await loaded(folder)).from_cache
