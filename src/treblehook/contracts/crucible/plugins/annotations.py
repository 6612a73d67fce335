"""The declarations of all that a plugin and its tests are given, for the Lua language server."""

from pathlib import Path
from typing import Final

_CONTRACT: Final = Path(__file__).parent.parent

ANNOTATIONS: Final = (
    _CONTRACT / "library" / "annotations" / "cru.lua",
    _CONTRACT / "testing" / "annotations" / "testing.lua",
)
