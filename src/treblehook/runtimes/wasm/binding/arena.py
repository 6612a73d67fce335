"""One piece of memory in which C values are laid out next to what they point to, used again for every call."""

import ctypes
from collections.abc import Callable
from typing import Final

_FIRST: Final = 4096
_KEPT: Final = 1 << 20
"""A call with large values needs more for a moment; no more than this is kept."""


class Full(Exception):
    """It does not fit; `fill` begins again with more memory."""


class Arena:
    """`memory` begins at the address `base`; below `top` it is taken."""

    __slots__ = ("_pin", "base", "memory", "size", "top")

    def __init__(self) -> None:
        self.top = 0
        self._grow(_FIRST)

    def take(self, size: int) -> int:
        """Where `size` bytes begin that are free, at a multiple of 8."""
        start: int = self.top
        end = start + (size + 7 & -8)
        if end > self.size:
            raise Full
        self.top = end
        return start

    def fill(self, write: Callable[["Arena"], None]) -> None:
        """Have `write` write from the start of the arena, with as much memory as it turns out to need."""
        if self.size > _KEPT:
            self._grow(_FIRST)
        while True:
            self.top = 0
            try:
                return write(self)
            except Full:
                self._grow(self.size * 4)

    def _grow(self, size: int) -> None:
        self.memory = bytearray(size)
        # While this exists the bytearray keeps its address.
        self._pin = (ctypes.c_char * size).from_buffer(self.memory)
        self.base = ctypes.addressof(self._pin)
        self.size = size
