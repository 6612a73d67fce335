"""The functions between a hook and its host, as the WIT files beside this module have them (murmur.md 3)."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from treblehook.contracts.murmur.bindings import Binding
from treblehook.runtimes.wasm import FunctionType
from treblehook.runtimes.wasm.wit import Interface, read_folder

WIT: Final = Path(__file__).parent / "wit"
"""For authors: what a hook is built against."""

LIFECYCLE: Final = "murmur:hook/lifecycle@0.9.0"
INFERENCE: Final = "murmur:runtime/inference@0.4.0"
TOKENS: Final = "murmur:runtime/tokens@0.4.0"
TASK_IO: Final = "murmur:task-io/read@0.1.0"
CONVERSATION: Final = "murmur:conversation/read@0.2.0"

REQUIRED: Final = (
    Binding.SESSION_START,
    Binding.INFERENCE,
    Binding.TOOL_CALL,
    Binding.SHELL,
    Binding.COMPACTION,
    Binding.SESSION_END,
)
"""Every hook has these functions, whatever it is bound to."""


@cache
def interface(name: str) -> Interface:
    """One of the interfaces above."""
    return _interfaces()[name]


@cache
def exports() -> Mapping[str, FunctionType]:
    """The nine functions, by the names under which they are called."""
    return interface(LIFECYCLE).exports()


def export(binding: Binding) -> str:
    """The name under which the function of `binding` is called."""
    return f"{LIFECYCLE}#{binding.value}"


@cache
def _interfaces() -> Mapping[str, Interface]:
    return read_folder(WIT)
