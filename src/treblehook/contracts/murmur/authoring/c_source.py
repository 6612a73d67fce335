"""hook.c to a component, with the C compiler of ziglang and what is in `c/`."""

import tempfile
from pathlib import Path
from typing import Final

from treblehook.contracts.murmur.authoring.component import make_component
from treblehook.contracts.murmur.authoring.core_module import CoreModuleInvalid
from treblehook.contracts.murmur.authoring.errors import BuildFailed
from treblehook.contracts.murmur.authoring.project import Project
from treblehook.contracts.murmur.authoring.tools import zig_cc

HEADERS: Final = Path(__file__).parent / "c"
_LIBRARY: Final = HEADERS / "lifecycle.c"
_OPTIONS: Final = (
    "--target=wasm32-freestanding",
    "-std=c11",
    "-Os",
    "-s",
    "-nostdlib",
    "-ffreestanding",
    "-Wall",
    "-Wl,--no-entry",
    "-Wl,-z,stack-size=1048576",
)


def build_c(project: Project) -> bytes:
    """The component. Raises `BuildFailed`."""
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch, "made.wasm")
        sources = [str(project.source.resolve()), str(_LIBRARY)]
        ran = zig_cc(project.source, [*_OPTIONS, "-I", str(HEADERS), "-o", str(made), *sources])
        if ran.status != 0:
            raise BuildFailed(project.source, "", f"it does not compile:\n{ran.said.rstrip()}\n", "mend it and build again")
        module = made.read_bytes()
    try:
        return make_component(module)
    except CoreModuleInvalid as error:
        raise BuildFailed(project.source, "", f"no component can be made of it: {error}", "use what lifecycle.h declares") from error
