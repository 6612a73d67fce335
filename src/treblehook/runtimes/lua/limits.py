"""What one VM may use."""

from msgspec import Struct

MIB = 1024 * 1024


class LuaLimits(Struct, frozen=True):
    """`memory_bytes` for all that the VM holds; `cpu_seconds` for a stretch of a run between two waits; `wait_seconds` for all the waits
    of one run together."""

    memory_bytes: int = 64 * MIB
    cpu_seconds: float = 0.1
    wait_seconds: float = 30.0
