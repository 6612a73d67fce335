"""What is no component is refused with the reason, before anything of it is compiled; compiling does not stall the loop and is told of."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from wasmtime import wat2wasm

from tests.support.component_text import MEMORY, component
from tests.support.small_guests import COUNT, DOUBLE, EXPORTS
from treblehook.runtimes.wasm import (
    CannotCompile,
    Compiling,
    CoreModule,
    FunctionType,
    NotAComponent,
    TooLarge,
    WasmRuntime,
    WrongType,
    loading,
)
from treblehook.runtimes.wasm.binding.engine import Code, compile_component
from treblehook.runtimes.wasm.types import U32, Field

BINARY = bytes(wat2wasm(DOUBLE))


@pytest.mark.parametrize(
    ("source", "kind", "why"),
    [
        (b"", NotAComponent, "it is empty"),
        (b"#!/bin/sh\n", NotAComponent, r"it begins with b'#!/b'"),
        (b"\x7fELF", NotAComponent, r"it begins with b'\\x7fELF'"),
        (b"\0asm", NotAComponent, "it ends within its header"),
        (b"\0asm\x01\0\0\0", CoreModule, "it is a core module; a component tool"),
        (b"\0asm\x0e\0\x01\0", NotAComponent, "its version is 0e 00 01 00"),
        (b"(module)", CoreModule, "core module"),
        (b"(component (nonsense))", NotAComponent, "it looks like component text, but .*nonsense|expected"),
        (b"(component", NotAComponent, "it looks like component text, but"),
        (b"(\xff", NotAComponent, "it looks like component text, but"),
        (BINARY[:-1], CannotCompile, "cannot be compiled"),
        (BINARY[: len(BINARY) // 2], CannotCompile, "cannot be compiled"),
        (BINARY[:8] + b"\xff" * 200, CannotCompile, "cannot be compiled"),
        (b'(component (import "x" (func $f)) (export "y" (func 7)))', NotAComponent, "it looks like component text|cannot"),
    ],
)
async def test_what_is_no_component_is_told(runtime: WasmRuntime, source: bytes, kind: type[Exception], why: str) -> None:
    with pytest.raises((kind, CannotCompile), match=why):
        await runtime.load(source)


async def test_a_component_that_was_cut_off_is_refused_or_has_less(runtime: WasmRuntime) -> None:
    """Cut between two of its parts it is a whole component still, without what was behind."""
    refused = 0
    for end in range(len(BINARY)):
        try:
            component = await runtime.load(BINARY[:end])
        except (NotAComponent, CannotCompile):
            refused += 1
        else:
            assert component.exports in ((), ("go",))

    assert refused > 0.9 * end


async def test_a_component_that_is_too_large_is_not_read(runtime: WasmRuntime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "LARGEST", 1000)
    file = tmp_path / "large.wasm"
    with file.open("wb") as sparse:
        sparse.truncate(1 << 40)

    with pytest.raises(TooLarge, match=f"has {1 << 40} bytes, and 1000 are allowed"):
        await runtime.load(file)
    with pytest.raises(TooLarge, match="has 1001 bytes"):
        await runtime.load(bytes(1001))


async def test_a_file_that_is_not_there_is_the_system_s_error(runtime: WasmRuntime, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await runtime.load(tmp_path / "no.wasm")
    with pytest.raises(IsADirectoryError):
        await runtime.load(tmp_path)


async def test_text_a_binary_and_a_file_are_the_same(runtime: WasmRuntime, tmp_path: Path) -> None:
    (tmp_path / "a.wasm").write_bytes(BINARY)
    (tmp_path / "empty.wasm").write_bytes(b"")

    for source in (DOUBLE.encode(), BINARY, tmp_path / "a.wasm"):
        instance = await runtime.open(await runtime.load(source), EXPORTS)
        assert await instance.call("go", 4, seconds=30) == 8
    with pytest.raises(NotAComponent, match="it is empty"):
        await runtime.load(tmp_path / "empty.wasm")


async def test_a_file_that_changes_is_another_component(runtime: WasmRuntime, tmp_path: Path) -> None:
    file = tmp_path / "hook.wasm"
    loaded = []
    for text in (DOUBLE, COUNT):
        file.write_bytes(wat2wasm(text))
        loaded.append(await runtime.load(file))

    assert loaded[0].digest != loaded[1].digest
    instance = await runtime.open(loaded[1], EXPORTS)
    assert [await instance.call("go", 4, seconds=30), await instance.call("go", 4, seconds=30)] == [4, 8]


async def test_what_is_loaded_at_the_same_time_is_compiled_once(runtime: WasmRuntime) -> None:
    told: list[Compiling] = []

    components = await asyncio.gather(*(runtime.load(DOUBLE.encode(), told.append) for _ in range(5)))

    assert len(set(map(id, components))) == 1
    assert [told.done for told in told] == [True]


def large(functions: int) -> bytes:
    """A component whose code takes about a second to compile."""
    body = "(i32.add (i32.mul (local.get 0) (i32.const 3)) " * 60 + "(i32.const 1)" + ")" * 60
    code = "".join(f'(func (export "f{number}") (param i32) (result i32) {body})' for number in range(functions))
    return bytes(wat2wasm(f"(component (core module {code}))"))


async def test_the_loop_goes_on_while_a_component_is_compiled(runtime: WasmRuntime) -> None:
    compiling = asyncio.ensure_future(runtime.load(large(4000)))
    turns = 0
    while not compiling.done():
        await asyncio.sleep(0.001)
        turns += 1

    assert not (await compiling).from_cache
    assert turns > 2


async def test_compiling_is_told_of_until_it_is_done(runtime: WasmRuntime, monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    told: list[Compiling] = []

    def slowly(*arguments: Any) -> Code:
        released.wait()
        return compile_component(*arguments)

    def tell(news: Compiling) -> None:
        told.append(news)
        if len(told) == 3:
            released.set()

    monkeypatch.setattr(loading, "compile_component", slowly)
    await runtime.load(BINARY, tell)

    assert [each.done for each in told] == [False] * (len(told) - 1) + [True]
    assert {each.bytes for each in told} == {len(BINARY)}
    assert [each.seconds for each in told] == sorted(each.seconds for each in told)


async def test_who_waits_for_a_component_may_be_cancelled(runtime: WasmRuntime) -> None:
    loading = asyncio.ensure_future(runtime.load(large(1000)))
    await asyncio.sleep(0.01)
    loading.cancel()

    with pytest.raises(asyncio.CancelledError):
        await loading


@pytest.mark.parametrize(
    "bomb",
    [
        b"(component " * 100_000,
        b"(component (core module (func " + b"(i32.add " * 100_000,
        b"(component (type " + b"(list " * 10_000 + b"u8" + b")" * 10_002,
        b"(;" * 100_000,
    ],
    ids=["components", "instructions", "types", "comments"],
)
async def test_text_that_is_nested_without_end_is_refused(runtime: WasmRuntime, bomb: bytes) -> None:
    with pytest.raises(NotAComponent):
        await runtime.load(bomb)


async def test_a_type_that_unfolds_to_millions_of_parts_is_not_read_whole(runtime: WasmRuntime) -> None:
    types = "(type $t0 (tuple u8 u8))" + "".join(f"(type $t{n} (tuple $t{n - 1} $t{n - 1}))" for n in range(1, 15))
    text = component(f'{MEMORY} (func (export "go") (param i32) (result i32) (local.get 0))', {"go": FunctionType((Field("n", U32),), U32)})
    text = text.replace("(core instance $i", f"{types} (core instance $i").replace(
        '(param "n" u32) (result u32)', '(param "n" $t14) (result u32)'
    )
    loaded = await runtime.load(text.encode())

    with pytest.raises(WrongType, match="n is tuple<"):
        loaded.check_export("go", FunctionType((Field("n", U32),), U32))
