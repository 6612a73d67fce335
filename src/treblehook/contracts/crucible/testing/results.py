"""What a run of a plugin's tests comes to."""

from typing import Literal

from msgspec import Struct


class TestResult(Struct, frozen=True):
    """One test, or with `name` "" a file that could not be run.

    `file` is relative to the plugin's folder; `line` is that of the failure, or where the test begins. `expected` and `actual` are as Lua
    would write them, None where the failure is no comparison. `output` is what the plugin and the test printed and logged.
    """

    __test__ = False

    file: str
    name: str
    status: Literal["passed", "failed"]
    line: int = 0
    message: str = ""
    expected: str | None = None
    actual: str | None = None
    ms: float = 0.0
    output: tuple[str, ...] = ()


class Failure(Struct, frozen=True):
    """Why a test failed; `line` is one of the test's file, 0 where it arose elsewhere (the message says where)."""

    message: str
    line: int = 0
    expected: str | None = None
    actual: str | None = None
