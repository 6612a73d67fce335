"""A VM whose output is kept, and a way to run code in it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from treblehook.runtimes.lua import LuaLimits, LuaVM


@pytest.fixture
def printed() -> list[str]:
    return []


@pytest.fixture
def vm(printed: list[str]) -> Iterator[LuaVM]:
    made = LuaVM("test", output=printed.append, limits=LuaLimits(memory_bytes=32 * 1024 * 1024))
    yield made
    made.close()


@pytest.fixture
def do(vm: LuaVM) -> Callable[..., list[Any]]:
    """Loads code and runs it to its end."""

    def run(code: str | bytes, *arguments: Any, file: str = "/home/code.lua", **named: Any) -> list[Any]:
        return vm.run_now(vm.load(code.encode() if isinstance(code, str) else code, file), *arguments, **named)

    return run


@pytest.fixture
def start(vm: LuaVM) -> Callable[..., Any]:
    """Loads code and runs it as a coroutine."""

    async def run(code: str, *arguments: Any, file: str = "/home/code.lua", **named: Any) -> list[Any]:
        return await vm.run(vm.load(code.encode(), file), *arguments, **named)

    return run
