"""What tells that a file is still the one that was read."""

import os
from typing import Final

from msgspec import Struct

_TICK_NS: Final = 20_000_000
"""Two writes nearer to each other than this may leave the same times."""


class Stamp(Struct, frozen=True):
    """Size, times in nanoseconds and inode of a file."""

    size: int
    modified_ns: int
    changed_ns: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> "Stamp":
        """The stamp of a file."""
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)

    def same_file(self, other: "Stamp") -> bool:
        """Whether a file that was moved is this one; an inode alone may have been used again."""
        return (self.inode, self.size, self.modified_ns) == (other.inode, other.size, other.modified_ns)

    def settled(self, read_at_ns: int) -> bool:
        """Whether a later write would show, for a file that was read at this time."""
        return self.changed_ns + _TICK_NS < read_at_ns
