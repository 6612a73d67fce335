"""The two compilers, as commands of the Python packages that bring them."""

import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from msgspec import Struct

from treblehook.contracts.murmur.authoring.errors import BuildFailed

INSTALL: Final = "pip install 'treblehook[wasm-build]'"


class Ran(Struct, frozen=True):
    """What a compiler left."""

    status: int
    said: str


def componentize(source: Path, arguments: Sequence[str]) -> Ran:
    """Run componentize-py, which makes components of Python. Raises `BuildFailed` where it is not installed."""
    _needs("componentize_py", "componentize-py", source)
    return _run([sys.executable, "-c", "import sys, componentize_py; sys.exit(componentize_py.script())", *arguments], source.parent)


def zig_cc(source: Path, arguments: Sequence[str]) -> Ran:
    """Run the C compiler of ziglang. Raises `BuildFailed` where it is not installed."""
    _needs("ziglang", "ziglang", source)
    return _run([sys.executable, "-m", "ziglang", "cc", *arguments], source.parent)


def _needs(module: str, package: str, source: Path) -> None:
    if find_spec(module) is None:
        raise BuildFailed(source, "", f"{package}, which makes a component of it, is not installed", INSTALL)


def _run(command: Sequence[str], folder: Path) -> Ran:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, cwd=folder, stdin=subprocess.DEVNULL)
    return Ran(done.returncode, done.stdout + done.stderr)
