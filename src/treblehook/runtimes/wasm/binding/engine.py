"""The engine of a process, and compiled components."""

import platform
from importlib.metadata import version
from pathlib import Path
from typing import Final

import wasmtime
from wasmtime import Config, Engine, WasmtimeError
from wasmtime import _ffi as ffi
from wasmtime.component import Component as Code

from treblehook.runtimes.wasm.errors import CannotCompile, CoreModule, NotAComponent

_MAGIC: Final = b"\0asm"
_COMPONENT: Final = b"\x0d\0\x01\0"
_STACK: Final = 512 * 1024


def make_engine() -> Engine:
    """An engine whose code can be interrupted; without fuel, which costs time at every instruction."""
    config = Config()
    config.epoch_interruption = True
    config.max_wasm_stack = _STACK
    config.cranelift_nan_canonicalization = False
    # Signal handlers belong to the program that we are in: `faulthandler` takes them, and a trap would end the process.
    ffi.wasmtime_config_signals_based_traps_set(config.ptr(), False)
    return Engine(config)


def fingerprint() -> str:
    """What compiled code depends on besides its source: this engine, its configuration and the kind of processor.

    The engine itself refuses code for instructions that the processor does not have.
    """
    return f"wasmtime {version('wasmtime')}, epochs, no signals, stack {_STACK}, {platform.system()} {platform.machine()}, {_processor()}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(("flags", "Features"))), platform.processor())


def to_binary(source: bytes) -> bytes:
    """The binary form of a component or of its text. Raises `NotAComponent`, `CoreModule`."""
    if source.lstrip()[:1] in (b"(", b";"):
        try:
            source = bytes(wasmtime.wat2wasm(source))
        except WasmtimeError as error:
            raise NotAComponent(f"it looks like component text, but {_first(error)}") from None
    if not source:
        raise NotAComponent("it is empty")
    if source[:4] != _MAGIC:
        raise NotAComponent(f"it begins with {source[:4]!r}")
    if len(source) < 8:
        raise NotAComponent("it ends within its header")
    if source[4:8] != _COMPONENT:
        if source[6:8] == b"\0\0":
            raise CoreModule
        raise NotAComponent(f"its version is {source[4:8].hex(' ')}")
    return source


def compile_component(engine: Engine, binary: bytes) -> Code:
    """Compile; seconds of work on all cores, without the interpreter's lock. Raises `CannotCompile`."""
    try:
        return Code(engine, binary)
    except WasmtimeError as error:
        raise CannotCompile(
            ": ".join(line.strip() for line in str(error).splitlines() if line.strip(" ")).replace(": Caused by:", "")
        ) from None


def load_compiled(engine: Engine, path: Path) -> Code:
    """Map code that was compiled before. It is executed as it is: trust the file first. Raises `WasmtimeError`."""
    return Code.deserialize_file(engine, str(path))


def compiled_bytes(component: Code) -> bytearray:
    return component.serialize()


def _first(error: WasmtimeError) -> str:
    """The line of an engine's text that says what is wrong, and where."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:2])


__all__ = [
    "Code",
    "Engine",
    "WasmtimeError",
    "compile_component",
    "compiled_bytes",
    "fingerprint",
    "load_compiled",
    "make_engine",
    "to_binary",
]
