"""A function that the guest may call, and how the library is told that it failed."""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from wasmtime import _ffi as ffi

from treblehook.runtimes.wasm.types import FunctionType


class Host(Struct, frozen=True):
    name: str
    """Within its interface."""
    type: FunctionType
    run: Callable[[Sequence[Any]], Any]
    failed: Callable[[BaseException], str]
    """Told what `run` raised, or how its value does not fit; answers what the guest's trap says."""


def new_error(text: str) -> int:
    """An error that the library takes over from a callback."""
    return ctypes.cast(ffi.wasmtime_error_new(text.replace("\0", "").encode("utf-8", "replace")), ctypes.c_void_p).value or 0
