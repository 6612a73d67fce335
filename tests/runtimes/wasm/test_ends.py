"""A guest that spins, traps, allocates without end or answers nonsense ends with a typed error, within bounds, and is not entered again."""

import asyncio
import sys
from asyncio.subprocess import PIPE

import pytest

from tests.support import small_guests
from tests.support.component_text import MEMORY, component
from tests.support.small_guests import EXPORTS, TELL, Open
from treblehook.runtimes.wasm import (
    AnswerTooBig,
    CallEnded,
    DeadlineExceeded,
    InstanceEnded,
    Limits,
    StackExhausted,
    TooManyResources,
    Trapped,
    WasmRuntime,
)
from treblehook.runtimes.wasm.types import STRING, FunctionType, ListType


@pytest.mark.parametrize(
    ("text", "kind", "why"),
    [
        (small_guests.SPIN, DeadlineExceeded, r"its deadline of 0\.1 s was exceeded and it was interrupted"),
        (small_guests.TRAP_IF_ZERO, Trapped, r"trapped: .*unreachable"),
        (small_guests.DIVIDE, Trapped, "trapped: .*integer divide by zero"),
        (small_guests.RECURSE, StackExhausted, "call stack exhausted"),
        (small_guests.OUT_OF_BOUNDS, Trapped, "out of bounds memory access"),
        (small_guests.GROW_OR_TRAP, Trapped, "unreachable"),
    ],
)
async def test_a_call_that_ends_without_an_answer_ends_the_instance(opened: Open, text: str, kind: type[CallEnded], why: str) -> None:
    instance = await opened(text, EXPORTS)

    with pytest.raises(kind, match=why) as raised:
        await instance.call("go", 0, seconds=0.1 if kind is DeadlineExceeded else 30)

    assert isinstance(instance.ended, InstanceEnded)
    with pytest.raises(InstanceEnded, match="cannot enter the instance, which an earlier call ended") as again:
        await instance.call("go", 1, seconds=30)
    assert again.value.why is raised.value


async def test_calls_that_wait_behind_a_trap_are_not_made(opened: Open) -> None:
    instance = await opened(small_guests.TRAP_IF_ZERO, EXPORTS)

    first, *others = await asyncio.gather(*(instance.call("go", 0, seconds=30) for _ in range(3)), return_exceptions=True)

    assert isinstance(first, Trapped)
    assert [type(other) for other in others] == [InstanceEnded, InstanceEnded]


async def test_a_trap_in_one_instance_is_no_other_s(runtime: WasmRuntime) -> None:
    component = await runtime.load(small_guests.TRAP_IF_ZERO.encode())
    one, other = [await runtime.open(component, EXPORTS) for _ in range(2)]

    with pytest.raises(Trapped):
        await one.call("go", 0, seconds=30)

    assert await other.call("go", 3, seconds=30) == 3


async def test_the_loop_goes_on_while_a_guest_spins(opened: Open) -> None:
    instance = await opened(small_guests.SPIN, EXPORTS)
    call = asyncio.ensure_future(instance.call("go", 0, seconds=0.3))

    turns = 0
    while not call.done():
        await asyncio.sleep(0.001)
        turns += 1

    assert turns > 2
    with pytest.raises(DeadlineExceeded):
        await call


async def test_deadlines_of_many_guests_are_each_its_own(runtime: WasmRuntime) -> None:
    component = await runtime.load(small_guests.SPIN_IF_ZERO.encode())
    instances = [await runtime.open(component, EXPORTS) for _ in range(6)]
    seconds = [0.05, 0.1, 0.15, 0.1, 0.05]

    spinning = (instance.call("go", 0, seconds=each) for instance, each in zip(instances, seconds, strict=False))
    *late, fine = await asyncio.gather(*spinning, instances[5].call("go", 7, seconds=30), return_exceptions=True)

    assert [error.seconds for error in late if isinstance(error, DeadlineExceeded)] == seconds
    assert fine == 7
    assert await instances[5].call("go", 8, seconds=30) == 8


async def test_a_deadline_that_is_over_at_once_interrupts(opened: Open) -> None:
    instance = await opened(small_guests.SPIN, EXPORTS)

    with pytest.raises(DeadlineExceeded):
        await instance.call("go", 0, seconds=0)


@pytest.mark.parametrize("seconds", [1e30, float("inf")])
async def test_a_deadline_may_be_as_far_as_one_likes(opened: Open, seconds: float) -> None:
    instance = await opened(small_guests.SPIN_IF_ZERO, EXPORTS)
    spinning = asyncio.ensure_future(instance.call("go", 0, seconds=seconds))
    await asyncio.sleep(0.05)
    spinning.cancel()

    with pytest.raises(asyncio.CancelledError):
        await spinning


@pytest.mark.parametrize(
    ("text", "kind", "why"),
    [
        (small_guests.SPIN_AT_START, DeadlineExceeded, r"its deadline of 0\.2 s was exceeded"),
        (small_guests.TRAP_AT_START, Trapped, "unreachable"),
        (small_guests.HUGE_TABLE, TooManyResources, "table"),
        (small_guests.HUGE_MEMORY, TooManyResources, "memory"),
    ],
)
async def test_a_start_that_fails_is_told(opened: Open, text: str, kind: type[CallEnded], why: str) -> None:
    with pytest.raises(kind, match=why):
        await opened(text, EXPORTS, seconds=0.2 if kind is DeadlineExceeded else 30)


async def test_memory_is_not_given_beyond_the_limit(opened: Open) -> None:
    instance = await opened(small_guests.GROW, EXPORTS, limits=Limits(memory_bytes=8 * 1024 * 1024))

    pages = await instance.call("go", 0, seconds=30)

    assert pages * 65536 <= 8 * 1024 * 1024
    assert instance.ended is None


async def test_tables_do_not_grow_beyond_the_limit(opened: Open) -> None:
    instance = await opened(small_guests.GROW_TABLE, EXPORTS, limits=Limits(table_elements=5000))

    assert 4000 <= await instance.call("go", 0, seconds=30) <= 5000


async def test_more_core_instances_than_allowed_are_not_started(opened: Open) -> None:
    extra = "".join(f"(core instance $more{n} (instantiate $m))" for n in range(5))
    text = small_guests.DOUBLE.replace("(core instance $i", f"{extra} (core instance $i")

    assert await (await opened(text, EXPORTS, limits=Limits(instances=6))).call("go", 1, seconds=30) == 2
    with pytest.raises(TooManyResources, match="instance count too high at 6"):
        await opened(text, EXPORTS, limits=Limits(instances=5))


@pytest.mark.parametrize(("text", "why"), [(small_guests.BAD_POINTER, "out of bounds"), (small_guests.NOT_UTF8, "utf-8")])
async def test_an_answer_that_cannot_be_read_is_a_trap(opened: Open, text: str, why: str) -> None:
    instance = await opened(text, {"tell": TELL})

    with pytest.raises(Trapped, match=why):
        await instance.call("tell", seconds=30)

    assert instance.ended is not None


async def test_an_answer_of_one_long_text_many_times_costs_no_memory(opened: Open) -> None:
    """A list of 1,000 texts, each of which is the same megabyte of the guest's memory."""
    many = FunctionType((), ListType(STRING))
    body = """(local $i i32)
      (loop $l
        (i32.store (i32.add (i32.const 16) (i32.mul (local.get $i) (i32.const 8))) (i32.const 65536))
        (i32.store (i32.add (i32.const 20) (i32.mul (local.get $i) (i32.const 8))) (i32.const 1048576))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br_if $l (i32.lt_u (local.get $i) (i32.const 1000))))
      (i32.store (i32.const 8) (i32.const 16)) (i32.store (i32.const 12) (i32.const 1000)) (i32.const 8)"""
    text = component(MEMORY.replace('"memory") 4)', '"memory") 32)') + f'(func (export "many") (result i32) {body})', {"many": many})
    instance = await opened(text, {"many": many})

    with pytest.raises(AnswerTooBig):
        await instance.call("many", seconds=30)


TRAPS = """
import asyncio, faulthandler, signal
from tests.support.small_guests import EXPORTS, TRAP_IF_ZERO, OUT_OF_BOUNDS, DIVIDE, RECURSE
from treblehook.runtimes.wasm import WasmError, WasmRuntime

async def main():
    async with WasmRuntime() as runtime:
        for body in (TRAP_IF_ZERO, OUT_OF_BOUNDS, DIVIDE, RECURSE):
            instance = await runtime.open(await runtime.load(body.encode()), EXPORTS)
            faulthandler.enable()
            faulthandler.disable()
            for number in (signal.SIGSEGV, signal.SIGILL, signal.SIGFPE, signal.SIGBUS, signal.SIGTRAP):
                signal.signal(number, signal.SIG_DFL)
            try:
                await instance.call("go", 0, seconds=30)
            except WasmError as error:
                print(type(error).__name__)

asyncio.run(main())
"""


async def test_traps_do_without_the_signal_handlers_of_the_program() -> None:
    program = await asyncio.create_subprocess_exec(sys.executable, "-c", TRAPS, stdout=PIPE)
    said, _ = await program.communicate()
    assert (program.returncode, said.split()) == (0, [b"Trapped", b"Trapped", b"Trapped", b"StackExhausted"])
