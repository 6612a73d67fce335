"""Components for tests and benchmarks, built from their sources by two independent toolchains and kept between runs by what is in them."""

import hashlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Final

import pytest

from tests.support.component_text import wrapped
from treblehook.runtimes.wasm.wit import Interface, read_folder

ROOT: Final = Path(__file__).parent.parent.parent
SOURCES: Final = ROOT / "tests" / "runtimes" / "wasm" / "guests"
KEPT: Final = ROOT / ".cache" / "guests"
WIT: Final = ROOT / "src" / "treblehook" / "contracts" / "murmur" / "wit"
CODE: Final = KEPT / "compiled"
"""A cache of compiled code for tests that are about something else than compiling."""


def hook_interfaces() -> dict[str, Interface]:
    """The interfaces between a hook and its host, by name."""
    return read_folder(WIT)


LIFECYCLE: Final = "murmur:hook/lifecycle@0.9.0"


def python_guard() -> Path:
    """A hook that componentize-py made: about 18 MB."""
    _needs("componentize_py")
    return _python(SOURCES / "guard", WIT, "hook", "guard")


def python_probe() -> Path:
    """A component that runs the Python that it is given."""
    _needs("componentize_py")
    return _python(SOURCES / "probe", SOURCES / "probe" / "probe.wit", "probe", "probe")


def python_scripted() -> Path:
    """A hook that runs the Python of its configuration."""
    _needs("componentize_py")
    return _python(ROOT / "tests" / "contracts" / "murmur" / "guests" / "scripted", WIT, "hook", "scripted")


def c_guard() -> Path:
    """The same hook in C, without a library: about 2 kB."""
    _needs("ziglang")
    source = SOURCES / "guard" / "guard.c"

    def build(target: Path) -> None:
        module = target.with_suffix(".core")
        options = ["--target=wasm32-freestanding", "-Os", "-nostdlib", "-Wl,--no-entry"]
        _run([sys.executable, "-m", "ziglang", "cc", *options, "-o", str(module), str(source)])
        target.write_bytes(wrapped(module.read_bytes(), hook_interfaces()[LIFECYCLE].functions, LIFECYCLE))
        module.unlink()

    return _kept([source, *sorted(WIT.rglob("*.wit")), Path(__file__)], version("ziglang"), build)


def _python(folder: Path, wit: Path, world: str, module: str) -> Path:
    program = str(Path(sys.executable).with_name("componentize-py"))

    def build(target: Path) -> None:
        _run([program, "-q", "-d", str(wit), "-w", world, "componentize", "-p", str(folder), "-o", str(target), module])

    sources = [folder / f"{module}.py", *(sorted(wit.rglob("*.wit")) if wit.is_dir() else [wit])]
    return _kept(sources, version("componentize-py"), build)


def _kept(sources: list[Path], toolchain: str, build: Callable[[Path], None]) -> Path:
    content = hashlib.sha256(toolchain.encode())
    for source in sources:
        content.update(source.read_bytes())
    path = KEPT / f"{content.hexdigest()[:32]}.wasm"
    if not path.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        new = KEPT / f"new-{os.getpid()}.wasm"
        build(new)
        new.replace(path)
    return path


def _needs(module: str) -> None:
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"not installed: {module}")


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} failed: {done.stdout}{done.stderr}")
