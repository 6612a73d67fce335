"""Runs that wait: through coroutines and protected calls, interleaved, cancelled, timed out, closed."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from treblehook.runtimes.lua import LuaClosed, LuaFailed, LuaLimits, LuaRaise, LuaTimedOut, LuaVM

Start = Callable[..., Any]


class Gate:
    """An async function that waits until it is let go."""

    def __init__(self) -> None:
        self.entered: dict[Any, asyncio.Event] = {}
        self.answers: dict[Any, asyncio.Future[Any]] = {}
        self.cancelled: list[Any] = []

    async def wait(self, name: Any = None) -> Any:
        future = self.answers.setdefault(name, asyncio.get_running_loop().create_future())
        self.entered.setdefault(name, asyncio.Event()).set()
        try:
            return await future
        except asyncio.CancelledError:
            self.cancelled.append(name)
            raise

    async def reached(self, name: Any = None) -> None:
        await self.entered.setdefault(name, asyncio.Event()).wait()

    def answer(self, name: Any, value: Any) -> None:
        self.answers[name].set_result(value)


@pytest.fixture
def gate(vm: LuaVM) -> Gate:
    made = Gate()
    vm.provide_async("wait", made.wait)
    return made


async def go_on() -> None:
    await asyncio.sleep(0)


@pytest.mark.parametrize(
    "code",
    [
        "return wait('a')",
        "return coroutine.wrap(function() return wait('a') end)()",
        "local co = coroutine.create(function() return coroutine.wrap(function() return wait('a') end)() end)"
        " return select(2, coroutine.resume(co))",
        "return select(2, pcall(wait, 'a'))",
        "return select(2, pcall(function() return select(2, xpcall(wait, print, 'a')) end))",
        "local r do local x <close> = setmetatable({}, {__close = function() r = wait('a') end}) end return r",
        "for i, v in (function() return nil, wait('a') end) do end return wait('a')",
        "local t = setmetatable({}, {__index = function(_, k) return wait('a') end}) return t.x",
    ],
)
async def test_a_wait_travels_up(start: Start, gate: Gate, code: str) -> None:
    run = asyncio.ensure_future(start(code))
    await gate.reached("a")
    gate.answer("a", {"list": [1, 2], "text": "done"})

    assert await run == [{"list": [1, 2], "text": "done"}]


@pytest.mark.parametrize(
    "code",
    [
        "table.sort({3, 2, 1}, function(a, b) wait() return a < b end)",
        "('x'):gsub('.', wait)",
        "table.sort({3, 2, 1}, function(a, b) coroutine.wrap(function() wait() end)() return a < b end)",
        "tostring(setmetatable({}, {__tostring = function() wait() return '' end}))",
    ],
)
async def test_a_wait_where_c_is_on_the_way_is_an_error(start: Start, gate: Gate, code: str) -> None:
    with pytest.raises(LuaFailed, match=r"code.lua:1: .*cannot wait here"):
        await start(code)
    assert await start("return 1") == [1]


def test_a_run_to_the_end_cannot_wait(vm: LuaVM, do: Start, gate: Gate) -> None:
    with pytest.raises(LuaFailed, match=r"code.lua:1: cannot wait here"):
        do("wait()")
    assert do("return (pcall(coroutine.wrap(wait)))") == [False]


async def test_many_runs_interleave_and_end_in_any_order(start: Start, gate: Gate) -> None:
    runs = {
        name: asyncio.ensure_future(start("local n = ... local a = wait(n) order = (order or '') .. n return n, a", name)) for name in "abc"
    }
    for name in "abc":
        await gate.reached(name)
    for name in "cab":
        gate.answer(name, name.upper())
        assert await runs[name] == [name, name.upper()]

    assert await start("return order") == ["cab"]


async def test_errors_of_what_is_awaited(vm: LuaVM, start: Start) -> None:
    async def fails(kind: str) -> None:
        await go_on()
        raise {"said": LuaRaise("said"), "value": ValueError("bad"), "time": TimeoutError("late")}[kind]

    vm.provide_async("fails", fails)

    assert await start("local ok, e = pcall(fails, 'said') return e") == ["/home/code.lua:1: said"]
    assert await start("local ok, e = pcall(fails, 'value') return e") == ["ValueError: bad"]
    with pytest.raises(LuaFailed, match="TimeoutError: late"):
        await start("fails('time')")


@pytest.mark.parametrize(
    "wrap", ["{}", "pcall(function() {} end)", "coroutine.wrap(function() {} end)()", "while true do pcall(function() {} end) end"]
)
async def test_cancelling_ends_the_run_inside_too(vm: LuaVM, start: Start, gate: Gate, wrap: str) -> None:
    body = "local x <close> = setmetatable({}, {__close = function() closed = (closed or 0) + 1 end}) wait('a') after = true"
    run = asyncio.ensure_future(start(wrap.replace("{}", body)))
    await gate.reached("a")

    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run

    assert gate.cancelled == ["a"]
    assert await start("return closed, after") == [1]


async def test_a_run_can_be_cancelled_at_every_wait(vm: LuaVM, start: Start, gate: Gate) -> None:
    for stop in range(1, 6):
        code = "local n = ... for i = 1, n do wait(n .. ':' .. i) end"
        run = asyncio.ensure_future(start(code, 5 if stop == 6 else stop))
        for at in range(1, stop):
            await gate.reached(f"{stop}:{at}")
            gate.answer(f"{stop}:{at}", None)
        await gate.reached(f"{stop}:{stop}")
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
    assert await start("return 1") == [1]


async def test_a_closer_that_waits_or_loops_cannot_hold_a_cancelled_run(start: Start, gate: Gate) -> None:
    for number, body in enumerate(("wait('b')", "while true do end")):
        run = asyncio.ensure_future(start(f"local x <close> = setmetatable({{}}, {{__close = function() {body} end}}) wait({number})"))
        await gate.reached(number)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run


async def test_waiting_too_long_ends_the_run(printed: list[str]) -> None:
    vm = LuaVM("slow", output=printed.append, limits=LuaLimits(wait_seconds=0.01))
    gate = Gate()
    vm.provide_async("wait", gate.wait)

    with pytest.raises(LuaTimedOut, match="waited longer"):
        await vm.run(vm.load(b"while true do pcall(wait) end", "x.lua"))
    assert gate.cancelled == [None]
    assert await vm.run(vm.load(b"return 1", "x.lua")) == [1]
    vm.close()


async def test_all_waits_of_a_run_count_together(printed: list[str]) -> None:
    seconds = [0]
    vm = LuaVM("slow", output=printed.append, clock=lambda: seconds[0])

    async def asleep() -> None:
        seconds[0] += 10
        # Never over by itself once no time is left.
        await (asyncio.sleep(0) if seconds[0] <= 30 else asyncio.Event().wait())

    vm.provide_async("wait", asleep)
    with pytest.raises(LuaTimedOut):
        await vm.run(vm.load(b"while true do wait() end", "x.lua"))
    assert seconds == [40]
    vm.close()


async def test_a_yield_that_nobody_resumes_is_an_error(start: Start) -> None:
    with pytest.raises(LuaFailed, match=r"code.lua:1: attempt to yield from outside a coroutine"):
        await start("while true do coroutine.yield() end")
    with pytest.raises(LuaFailed, match=r"attempt to yield from outside"):
        await start("coroutine.yield(1, {}, print, 'garbage', nil)")


async def test_closing_a_vm_ends_its_runs(printed: list[str]) -> None:
    vm = LuaVM("closing", output=printed.append)
    gate = Gate()
    vm.provide_async("wait", gate.wait)
    code = b"local x <close> = setmetatable({}, {__close = function() print('closed') end}) pcall(wait, ...)"
    runs = [asyncio.ensure_future(vm.run(vm.load(code, "x.lua"), name)) for name in "ab"]
    failures: list[LuaFailed] = []
    task = vm.spawn(vm.load(b"wait('c')", "x.lua"), failed=failures.append)
    for name in "abc":
        await gate.reached(name)

    vm.close()

    for run in runs:
        with pytest.raises(LuaClosed, match="closing: the VM was closed while the run waited"):
            await run
    await task
    assert [type(failure) for failure in failures] == [LuaClosed]
    assert printed == ["closed", "closed"]
    with pytest.raises(LuaClosed):
        vm.load(b"", "x.lua")


async def test_about_is_the_runs_own_at_every_step(vm: LuaVM, gate: Gate) -> None:
    seen: list[Any] = []
    vm.provide("note", lambda: seen.append(vm.about))

    async def steps() -> None:
        seen.append(vm.about)
        await go_on()
        seen.append(vm.about)

    vm.provide_async("steps", steps)
    code = vm.load(b"note() wait(...) note() steps() coroutine.wrap(note)()", "x.lua")
    first = asyncio.ensure_future(vm.run(code, 1, about="one"))
    second = asyncio.ensure_future(vm.run(code, 2, about="two"))
    await gate.reached(1)
    await gate.reached(2)
    assert seen == ["one", "two"]
    assert vm.about is None
    gate.answer(2, None)
    await second
    assert seen[2:] == ["two"] * 4
    gate.answer(1, None)
    await first
    assert seen[6:] == ["one"] * 4


async def test_spawned_runs_inherit_about_and_tell_how_they_failed(vm: LuaVM, start: Start) -> None:
    seen: list[Any] = []
    failures: list[LuaFailed] = []
    tasks: list[asyncio.Task[None]] = []
    vm.provide("note", lambda: seen.append(vm.about))
    vm.provide("spawn", lambda function: tasks.append(vm.spawn(function, failed=failures.append)))

    await start("spawn(function() note() error('lost') end) note()", about="me")
    await asyncio.gather(*tasks)

    assert seen == ["me", "me"]
    assert [failure.message for failure in failures] == ["/home/code.lua:1: lost"]


async def test_another_run_cannot_disturb_a_coroutine_that_waits(start: Start, gate: Gate) -> None:
    run = asyncio.ensure_future(start("co = coroutine.create(function() return wait('a') end) return coroutine.resume(co)"))
    await gate.reached("a")

    assert await start("return coroutine.resume(co, 'garbage')") == [False, "cannot resume non-suspended coroutine"]
    assert await start("return coroutine.status(co), (pcall(coroutine.close, co))") == ["normal", False]
    gate.answer("a", "right")
    assert await run == [True, "right"]


async def test_ten_thousand_calls_leave_nothing_behind(vm: LuaVM) -> None:
    vm.provide_async("wait", go_on)
    vm.provide("take", lambda value: [value])
    handler = vm.handler(
        vm.run_now(
            vm.load(
                b"return function(ctx, event) wait() local t = take({event.args, function() end}) return {args = event.args, n = #t} end",
                "x.lua",
            )
        )[0]
    )

    async def calls(count: int) -> int:
        for number in range(count):
            await handler(
                {"session_id": "s"}, {"type": "pre_tool_call", "tool": "bash", "args": {"command": f"ls {number}", "list": [1, 2]}}
            )
        vm.run_now(vm.load(b"collectgarbage() collectgarbage()", "x.lua"))
        return vm.memory

    before = await calls(1000)
    assert await calls(9000) < before + 20_000
