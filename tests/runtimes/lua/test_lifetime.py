"""VMs are cheap, freed when closed, independent of each other, and unmoved by child processes."""

import asyncio
import gc
import resource
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import Any

import pytest

from treblehook.runtimes.lua import LuaFailed, LuaLimits, LuaVM

KIB = 1024


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def make(printed: list[str]) -> LuaVM:
    vm = LuaVM("one of many", output=printed.append)
    vm.provide("f", lambda value: value)
    vm.provide_async("wait", asyncio.sleep)
    return vm


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_closed_vms_leave_no_memory(printed: list[str]) -> None:
    def round_of(count: int) -> None:
        for _ in range(count):
            vm = make(printed)
            vm.run_now(vm.load(b"kept = ('x'):rep(1000000) return f(function() end)", "x.lua"))
            vm.close()

    round_of(100)
    gc.collect()
    before = resident()
    round_of(300)
    gc.collect()
    assert resident() - before < 30 * KIB * KIB


def test_a_closed_vm_is_freed_without_the_collector(printed: list[str]) -> None:
    gc.disable()
    try:
        vm = make(printed)
        vm.run_now(vm.load(b"return f(function() end)", "x.lua"))
        runtime = vm._machine.state.runtime
        count = sys.getrefcount(runtime)
        vm.close()
        assert sys.getrefcount(runtime) < count
        assert count > 2
        assert sys.getrefcount(runtime) <= 3
    finally:
        gc.enable()


def test_a_forgotten_vm_is_freed_by_the_collector(printed: list[str]) -> None:
    vm = make(printed)
    seen = weakref.ref(vm)
    del vm
    gc.collect()
    assert seen() is None


def test_an_idle_vm_is_small(printed: list[str]) -> None:
    assert LuaVM("idle", output=printed.append).memory < 100 * KIB


def test_functions_are_let_go_with_their_python_side(vm: LuaVM) -> None:
    make_one = vm.load(b"local big = ('x'):rep(100000) .. ... return function() return #big end", "x.lua")
    for number in range(1000):
        vm.run_now(make_one, number)
    vm.run_now(vm.load(b"collectgarbage()", "x.lua"))

    assert vm.memory < 5 * KIB * KIB


def test_vms_run_in_parallel_threads(printed: list[str]) -> None:
    results: list[Any] = []

    def work(number: int) -> None:
        vm = LuaVM(f"thread {number}", output=printed.append, limits=LuaLimits(cpu_seconds=30))
        vm.provide("add", lambda a, b: a + b)
        results.append(vm.run_now(vm.load(b"local n = 0 for i = 1, 20000 do n = add(n, 1) end return n", "x.lua")))
        vm.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[20000]] * 4


def test_vms_do_not_share_globals(printed: list[str]) -> None:
    one, other = make(printed), make(printed)
    one.run_now(one.load(b"x = 1 string.trim = 1 getmetatable('').y = 1", "x.lua"))

    assert other.run_now(other.load(b"return x, string.trim, getmetatable('').y", "x.lua")) == []
    one.close()
    other.close()


async def test_child_processes_that_start_meanwhile_do_not_matter(vm: LuaVM) -> None:
    async def child() -> int:
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", "pass")
        return await process.wait()

    vm.provide_async("child", child)
    vm.provide("child_now", lambda: subprocess.run([sys.executable, "-c", "pass"], check=True).returncode)
    code = vm.load(b"return child(), child_now(), child()", "x.lua")

    assert await asyncio.gather(vm.run(code), vm.run(code)) == [[0, 0, 0]] * 2


@pytest.mark.parametrize("place", ["body", "coroutine", "after a wait", "closer", "callback", "argument"])
async def test_an_error_at_any_place_leaves_the_vm_usable(vm: LuaVM, place: str) -> None:
    code = {
        "body": "error('x')",
        "coroutine": "coroutine.wrap(error)('x')",
        "after a wait": "wait(0) error('x')",
        "closer": "local c <close> = setmetatable({}, {__close = function() error('x') end})",
        "callback": "call(function() error('x') end)",
        "argument": "call(coroutine.create(print))",
    }[place]
    vm.provide_async("wait", asyncio.sleep)
    vm.provide("call", lambda function: vm.run_now(function))
    handler = vm.handler(vm.run_now(vm.load(f"return function() {code} end".encode(), "x.lua"))[0])

    for _ in range(50):
        with pytest.raises(LuaFailed):
            await handler({}, {})
    assert vm.run_now(vm.load(b"return 1", "x.lua")) == [1]
