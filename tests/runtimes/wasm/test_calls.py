"""A call gets its answer, in its turn; what a component is asked for it must have, under the expected type."""

import asyncio
import threading

import pytest

from tests.support.component_text import MEMORY, component
from tests.support.guests import LIFECYCLE, WIT, c_guard, hook_interfaces, python_guard
from tests.support.hook_calls import CALL, ON_SHELL, OUTCOME, PASSED, REFUSED, hook_grants
from tests.support.processes import held
from tests.support.small_guests import COUNT, DOUBLE, EXPORTS, GO, Open, guest
from treblehook.runtimes.wasm import (
    CannotStart,
    FunctionType,
    NotExported,
    Ok,
    RuntimeClosed,
    Variant,
    WasmRuntime,
    WrongType,
)
from treblehook.runtimes.wasm.types import STRING, U32, U64, Field
from treblehook.runtimes.wasm.wit import read_text


async def test_a_function_answers(opened: Open) -> None:
    instance = await opened(DOUBLE, EXPORTS)

    assert [await instance.call("go", n, seconds=30) for n in (0, 21, 4_000_000_000)] == [0, 42, 3_705_032_704]


async def test_calls_are_made_one_after_the_other_in_their_order(opened: Open) -> None:
    instance = await opened(COUNT, EXPORTS)

    sums = await asyncio.gather(*(instance.call("go", n, seconds=30) for n in range(200)))

    assert sums == [n * (n + 1) // 2 for n in range(200)]


async def test_instances_of_one_component_share_nothing(runtime: WasmRuntime) -> None:
    component = await runtime.load(COUNT.encode())
    one, other = [await runtime.open(component, EXPORTS) for _ in range(2)]

    assert [await one.call("go", 5, seconds=30), await one.call("go", 5, seconds=30)] == [5, 10]
    assert await other.call("go", 1, seconds=30) == 1


async def test_a_function_of_another_type_is_not_called(opened: Open) -> None:
    instance = await opened(COUNT, {"go": FunctionType((Field("n", U32),), U64)})

    with pytest.raises(WrongType, match="go has another type than the one that is called: result is u32, expected is u64") as raised:
        await instance.call("go", 1, seconds=30)

    assert (raised.value.name, raised.value.where) == ("go", "result")
    assert instance.ended is None


async def test_a_function_that_is_not_exported_is_told(opened: Open) -> None:
    instance = await opened(DOUBLE, {"run": GO})

    with pytest.raises(NotExported, match=r"the component does not export run$"):
        await instance.call("run", 1, seconds=30)


async def test_another_version_of_the_interface_is_told(runtime: WasmRuntime) -> None:
    text = component(f'{MEMORY} (func (export "go") (param i32) (result i32) (local.get 0))', {"go": GO}, "a:b/c@1.0.1")
    instance = await runtime.open(await runtime.load(text.encode()), {"a:b/c@1.0.0#go": GO})

    with pytest.raises(NotExported, match=r"does not export a:b/c@1\.0\.0#go; it exports a:b/c@1\.0\.1, and no other") as raised:
        await instance.call("a:b/c@1.0.0#go", 1, seconds=30)

    assert raised.value.others == ("a:b/c@1.0.1",)


@pytest.mark.parametrize(
    ("newer", "older", "difference"),
    [
        ("    deny(string),\n", "", "result.ok has no case deny"),
        ("script: option<string>, recipe: option<string>", "script: option<string>", "event has no field recipe"),
        (
            "    none,\n    replace-context(list<message>)",
            "    replace-context(list<message>),\n    none",
            "its cases in the order",
        ),
    ],
)
async def test_an_older_hook_that_passes_everything_is_not_believed(runtime: WasmRuntime, newer: str, older: str, difference: str) -> None:
    """Under the same name and version: only its type tells that its `none` is not ours."""
    text = (WIT / "deps" / "murmur-hook" / "lifecycle.wit").read_text()
    assert newer in text
    on_shell = read_text(text.replace(newer, older))[LIFECYCLE].functions["on-shell"]
    core = f'{MEMORY} (func (export "on-shell") (param i32) (result i32) (i32.const 64))'
    hook = component(core, {"on-shell": on_shell}, LIFECYCLE)
    believed = await runtime.open(await runtime.load(hook.encode()), {ON_SHELL: on_shell})
    asked = await runtime.open(await runtime.load(hook.encode()), hook_interfaces()[LIFECYCLE].exports())

    if "recipe" in text.replace(newer, older):
        assert await believed.call(ON_SHELL, CALL, seconds=30) in (PASSED, Ok(Variant("replace-context", [])))
    with pytest.raises(WrongType, match=difference):
        await asked.call(ON_SHELL, CALL, seconds=30)


async def test_a_name_that_was_not_announced_cannot_be_called(opened: Open) -> None:
    instance = await opened(DOUBLE, {})

    with pytest.raises(KeyError):
        await instance.call("go", 1, seconds=30)


async def test_exports_and_imports_are_told_before_anything_runs(runtime: WasmRuntime) -> None:
    component = await runtime.load(c_guard())

    assert component.exports == tuple(hook_interfaces()[LIFECYCLE].exports())
    assert component.imports == ()
    for name, type in hook_interfaces()[LIFECYCLE].exports().items():
        component.check_export(name, type)


async def test_a_hook_in_c_decides(runtime: WasmRuntime) -> None:
    instance = await runtime.open(await runtime.load(c_guard()), hook_interfaces()[LIFECYCLE].exports())

    assert await instance.call(ON_SHELL, CALL, seconds=30) == PASSED
    assert await instance.call(ON_SHELL, CALL | {"argv": ["rm"], "outcome": OUTCOME}, seconds=30) == REFUSED


async def test_a_hook_in_python_decides_and_calls_its_host(warm_runtime: WasmRuntime) -> None:
    component = await warm_runtime.load(python_guard())
    instance = await warm_runtime.open(component, hook_interfaces()[LIFECYCLE].exports(), hook_grants())
    inference = {"turn": 1, "input-tokens": 5, "output-tokens": 6, "decision": "text", "tool-name": None, "prompt": None, "tools": None}
    message = {"role": "user", "content": "[]", "id": "m1", "source-id": None, "inserted-by": "seed-context"}
    compaction = {"messages": [message | {"id": None}, message], "session-tokens": 9, "threshold": 0.5, "model": "m", "system-prompt": None}

    assert await instance.call(ON_SHELL, CALL, seconds=30) == PASSED
    assert await instance.call(ON_SHELL, CALL | {"argv": ["rm"], "outcome": OUTCOME}, seconds=30) == REFUSED
    answer = await instance.call(f"{LIFECYCLE}#on-inference", inference | {"output": "12345"}, seconds=30)
    assert answer == Ok(Variant("artifact", "5"))
    assert await instance.call(f"{LIFECYCLE}#on-compaction", compaction, seconds=30) == Ok(Variant("replace-context", [message]))


async def test_a_thousand_idle_instances_are_cheap(runtime: WasmRuntime) -> None:
    component = await runtime.load(DOUBLE.encode())
    instances = [await runtime.open(component, EXPORTS) for _ in range(1000)]

    assert held().threads >= 1000
    answers = await asyncio.gather(*(instance.call("go", n, seconds=30) for n, instance in enumerate(instances)))
    assert answers == [2 * n for n in range(1000)]


async def test_an_instance_for_which_there_is_no_thread_is_told(runtime: WasmRuntime, monkeypatch: pytest.MonkeyPatch) -> None:
    component = await runtime.load(DOUBLE.encode())

    def no_more(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", no_more)
        with pytest.raises(CannotStart, match="can't start new thread"):
            await runtime.open(component, EXPORTS)

    assert await (await runtime.open(component, EXPORTS)).call("go", 2, seconds=30) == 4


async def test_a_closed_runtime_opens_nothing() -> None:
    async with WasmRuntime() as runtime:
        component = await runtime.load(guest("(local.get $n)").encode())

    with pytest.raises(RuntimeClosed):
        await runtime.load(b"")
    with pytest.raises(RuntimeClosed):
        await runtime.open(component, EXPORTS)


async def test_a_function_without_arguments_or_answer_is_called(opened: Open) -> None:
    nothing = FunctionType(())
    text = component(
        f'{MEMORY} (func (export "nothing")) (func (export "say") (result i32) (i32.const 64))',
        {"nothing": nothing, "say": FunctionType((), STRING)},
    )
    instance = await opened(text, {"nothing": nothing, "say": FunctionType((), STRING)})

    assert await instance.call("nothing", seconds=30) is None
    assert await instance.call("say", seconds=30) == ""
