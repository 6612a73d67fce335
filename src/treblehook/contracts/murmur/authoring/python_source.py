"""hook.py to a component, with componentize-py."""

import re
import tempfile
from pathlib import Path
from typing import Final

from treblehook.contracts.murmur.authoring.errors import BuildFailed
from treblehook.contracts.murmur.authoring.project import Project
from treblehook.contracts.murmur.authoring.tools import componentize
from treblehook.contracts.murmur.interfaces import WIT

_BASE: Final = Path(__file__).parent / "python"
_SUFFIX: Final = ".txt"
_ENTRY: Final = "murmur_entry"
WORLD: Final = "hook"
_LAST_FRAME: Final = re.compile(r'File "/1/(?P<file>[^"]+)", line (?P<line>\d+)')
_INVALID: Final = "murmur_checks.HookInvalid: "


def build_python(project: Project) -> bytes:
    """The component. Raises `BuildFailed`, for a source that does not import too."""
    with tempfile.TemporaryDirectory() as scratch:
        base, made = Path(scratch, "base"), Path(scratch, "made.wasm")
        base.mkdir()
        for file in _BASE.glob(f"*{_SUFFIX}"):
            (base / file.name.removesuffix(_SUFFIX)).write_bytes(file.read_bytes())
        (base / "murmur_wanted.py").write_text(f"WANTED = {_wanted(project)!r}\n")
        paths = ["-p", str(base), "-p", str(project.folder.resolve())]
        ran = componentize(project.source, ["-q", "-d", str(WIT), "-w", WORLD, "componentize", *paths, "-o", str(made), _ENTRY])
        if ran.status != 0 or not made.exists():
            raise _failed(project, ran.said)
        return made.read_bytes()


def _wanted(project: Project) -> str:
    """The function without which the hook would be bound to nothing."""
    binding = project.manifest.binding
    return "" if binding is None else binding.value.replace("-", "_")


def _failed(project: Project, said: str) -> BuildFailed:
    """What the author has to know of a traceback that is mostly about other people's code."""
    traceback = said.partition("\nCaused by:")[0].strip()
    last = traceback.splitlines()[-1] if traceback else "componentize-py failed and did not say why"
    if last.startswith(_INVALID):
        problem, _, remedy = last.removeprefix(_INVALID).partition("; ")
        return BuildFailed(project.source, "", problem, remedy or "write one of them")
    frames = list(_LAST_FRAME.finditer(traceback))
    if not frames:
        return BuildFailed(project.source, "", f"it cannot be made a component: {last}", "mend it and build again")
    file, line = project.folder / frames[-1]["file"], frames[-1]["line"]
    return BuildFailed(file, f"line {line}", f"it does not import: {last}", "mend it and build again; it is run once as it is built")
