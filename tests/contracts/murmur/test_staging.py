"""Hooks as they are staged: what is wrong with one is told before anything of it runs (murmur.md 2.5, 3.1 to 3.3)."""

from pathlib import Path

import pytest
from wasmtime import wat2wasm

from tests.support.guests import LIFECYCLE, c_guard, hook_interfaces, python_guard
from tests.support.murmur_guests import FUNCTIONS, SPIN, TRAP, hook, older
from tests.support.murmur_rig import OBSERVED, SHELL_GATE, MurmurRig
from treblehook.contracts.murmur.artifact import Artifact
from treblehook.contracts.murmur.errors import HookConfigInvalid, HookUnusable, StagingFailed
from treblehook.contracts.murmur.interfaces import REQUIRED, WIT
from treblehook.contracts.murmur.staging import HookEntry, stage_hooks
from treblehook.runtimes.wasm import Compiling, WasmRuntime

REQUIRED_NAMES = [binding.value for binding in REQUIRED]


def importing(name: str, inside: str = "") -> bytes:
    """A component that imports an interface and exports nothing of a hook."""
    return f'(component (import "{name}" (instance {inside})))'.encode()


async def refused(rig: MurmurRig, payload: bytes, **manifest: str) -> str:
    rig.hook("guard", payload, **manifest)
    with pytest.raises(HookUnusable) as caught:
        await rig.stage()
    assert (caught.value.artifact, caught.value.version) == ("guard", "1.0.0")
    text = str(caught.value)
    assert text.startswith("hook guard@1.0.0: ")
    assert caught.value.remedy
    return text


async def test_hooks_of_two_toolchains_are_staged(rig: MurmurRig) -> None:
    rig.hook("in-c", c_guard().read_bytes(), binding="on-shell", policy="deny")
    rig.hook("in-python", python_guard().read_bytes(), binding="on-shell", policy="deny")
    await rig.start()

    outcome = await rig.fire(SHELL_GATE)

    # Both look for the word among the arguments, and here it is inside of a script.
    assert outcome.blocked is None
    assert rig.sink.lines == []


async def test_case_017_what_is_wrong_with_one_hook_is_told_before_any_is_compiled(rig: MurmurRig) -> None:
    compiled: list[str] = []
    valid = Artifact("valid", "1", Path("v.zip"), b"binding: on-stage", "v.wasm", hook({}, before="(global i32 (i32.const 17))"))
    broken = Artifact("broken", "2", Path("b.zip"), b"binding: on-foo", "b.wasm", b"")

    with pytest.raises(HookConfigInvalid, match="broken@2"):
        await stage_hooks(
            [(HookEntry("valid", "1"), valid), (HookEntry("broken", "2"), broken)],
            rig.runtime,
            lambda name, compiling: compiled.append(name),
        )

    assert compiled == []


async def test_the_first_compilation_shows_its_progress(tmp_path: Path) -> None:
    told: list[tuple[str, Compiling]] = []
    artifact = Artifact("guard", "1", Path("g.zip"), b"{}", "g.wasm", hook())

    async with WasmRuntime(tmp_path / "code") as runtime:
        for _ in range(2):
            await stage_hooks([(HookEntry("guard", "1"), artifact)], runtime, lambda name, compiling: told.append((name, compiling)))

    assert [name for name, compiling in told if compiling.done] == ["guard"]


async def test_a_hook_that_is_listed_twice(rig: MurmurRig) -> None:
    rig.hook("guard", hook())
    rig.hook("guard", hook())

    with pytest.raises(StagingFailed, match="guard is listed twice"):
        await rig.stage()


@pytest.mark.parametrize("binding", ["on-shell", "on-task-end", "on-stage"])
@pytest.mark.parametrize("function", REQUIRED_NAMES)
async def test_case_020_a_required_function_is_missing(rig: MurmurRig, function: str, binding: str) -> None:
    text = await refused(rig, hook(without=[function]), binding=binding)

    assert f"does not export {function} of {LIFECYCLE}" in text


async def test_case_021_the_optional_functions_are_not_missed(rig: MurmurRig) -> None:
    rig.hook("guard", hook(without=["on-task-start", "on-task-end", "on-stage"]))
    await rig.start()

    for event in OBSERVED.values():
        await rig.fire(event)

    assert rig.sink.lines == []
    assert [call.handler.origin.event for call in rig.journal.calls] == [name for name in OBSERVED if name in REQUIRED_NAMES]


async def test_case_019_another_version_of_the_lifecycle(rig: MurmurRig) -> None:
    types = {name: older(name) for name in FUNCTIONS}
    text = await refused(rig, hook(types=types, interface="murmur:hook/lifecycle@0.6.0"))

    assert f"does not export {LIFECYCLE}, the only version that is served" in text
    assert "it exports murmur:hook/lifecycle@0.6.0" in text
    assert f"rebuild it for {LIFECYCLE}" in text


@pytest.mark.parametrize("name", ["lifecycle", "murmur:hook/lifecycle", "murmur:hook/lifecycle@0.9.1"])
async def test_there_is_no_other_name_for_the_lifecycle(rig: MurmurRig, name: str) -> None:
    assert LIFECYCLE in await refused(rig, hook(interface=name))


async def test_the_signature_of_a_function_is_a_matter_of_its_call(rig: MurmurRig) -> None:
    rig.hook("guard", hook(types={"on-compaction": older("on-compaction")}), binding="on-session-end")
    await rig.start()

    await rig.fire(OBSERVED["on-session-end"])

    assert rig.sink.lines == []


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (b"", "it is empty"),
        (b"#!/bin/sh\n", "it begins with"),
        (b"\0asm", "ends within its header"),
        (bytes(wat2wasm("(module)")), "core module"),
        (b"(component", "component text"),
        (hook()[:-40], "component text"),
        (bytes(wat2wasm(hook().decode()))[:-20], "cannot be compiled"),
    ],
)
async def test_a_payload_that_is_no_component(rig: MurmurRig, payload: bytes, words: str) -> None:
    text = await refused(rig, payload)

    assert words in text
    assert "hook.wasm" in text


async def test_a_component_that_is_no_hook(rig: MurmurRig) -> None:
    assert LIFECYCLE in await refused(rig, b"(component)")


MORE = '(export "more" (func))'


def with_import(name: str, inside: str) -> bytes:
    return hook().replace(b"(component\n", f'(component\n(import "{name}" (instance {inside}))\n'.encode(), 1)


@pytest.mark.parametrize(
    ("name", "inside", "words"),
    [
        ("murmur:runtime/tokens@0.3.0", '(export "count" (func (param "text" string) (result u64)))', "murmur:runtime/tokens@0.4.0"),
        ("murmur:runtime/tokens@0.4.0", '(export "count" (func (param "text" string) (result u32)))', "another type"),
        ("murmur:runtime/tokens@0.4.0", MORE, "murmur:runtime/tokens@0.4.0#more"),
        ("tests:own/thing@1.0.0", MORE, "not served"),
        ("wasi:sockets/tcp@0.3.0", MORE, "not served"),
    ],
)
async def test_an_import_that_is_not_served(rig: MurmurRig, name: str, inside: str, words: str) -> None:
    text = await refused(rig, with_import(name, inside))

    assert name in text
    assert words in text
    assert "rebuild it for" in text


@pytest.mark.parametrize("at_start", [TRAP, SPIN])
async def test_a_hook_that_does_not_start_ends_the_launch(rig: MurmurRig, at_start: str) -> None:
    from treblehook.contracts.murmur.launch import HookLimits

    rig.limits = HookLimits(deadline_seconds=0.5)
    rig.hook("first", hook())
    rig.hook("guard", hook(before=f"(func $begin {at_start}) (start $begin)"))
    hooks = await rig.stage()

    with pytest.raises(HookUnusable, match=r"guard@1\.0\.0: it does not start: ") as caught:
        await hooks.open()

    assert caught.value.__cause__ is not None
    # Nothing is left running, and what has not begun only says so.
    assert (await rig.fire(SHELL_GATE)).blocked is None


def test_the_wit_files_come_with_the_package() -> None:
    assert set(hook_interfaces()) >= {LIFECYCLE, "murmur:runtime/tokens@0.4.0"}
    assert (WIT / "world.wit").is_file()
