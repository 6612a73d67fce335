"""A policy hook can in no way be made to open by breaking it (murmur.md 5.3)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.guests import CODE
from tests.support.murmur_guests import ARMS, DEFECTS, FUNCTIONS, NONE, Arm, Errs, hook, narrower, older
from tests.support.murmur_rig import GATES, OBSERVED, MurmurRig
from treblehook.contracts.murmur.launch import HookLimits
from treblehook.lifecycle import Refuse
from treblehook.runtimes.wasm import FunctionType, WasmRuntime
from treblehook.runtimes.wasm.types import STRING, U32, U64, Field, ResultType

Break = Callable[[MurmurRig, str], Awaitable[None]]
LIMITS = HookLimits(memory_bytes=1024 * 1024)
IMPATIENT = HookLimits(deadline_seconds=0.5, memory_bytes=1024 * 1024)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
records = st.lists(st.tuples(texts, texts), max_size=3)
other_arms = st.one_of(
    st.tuples(st.sampled_from(["replace-context", "seed-context", "write-manifests"]), records),
    st.tuples(st.sampled_from(["artifact", "reopen-task"]), texts),
).map(lambda arm: Arm(*arm))
answers = st.one_of(
    other_arms,
    texts.map(Errs),
    st.text(" \t\n", max_size=3).map(lambda blank: Arm("deny", blank)),
    texts.map(lambda reason: Arm("deny", reason)),
)
"""Everything that can be answered but for a clean none."""

SIGNATURES: dict[str, Callable[[str], FunctionType]] = {
    "six cases": older,
    "a field less": narrower,
    "no error": lambda name: FunctionType(FUNCTIONS[name].params, _result(name).ok),
    "nothing": lambda name: FunctionType(FUNCTIONS[name].params, None),
    "a number": lambda name: FunctionType(FUNCTIONS[name].params, U32),
    "another error": lambda name: FunctionType(FUNCTIONS[name].params, ResultType(_result(name).ok, U64)),
    "no event": lambda name: FunctionType((), FUNCTIONS[name].result),
    "another event": lambda name: FunctionType((Field("event", STRING),), FUNCTIONS[name].result),
    "the event of another": lambda name: FUNCTIONS["on-tool-call" if name == "on-shell" else "on-shell"],
}


def _result(name: str) -> ResultType:
    result = FUNCTIONS[name].result
    assert isinstance(result, ResultType)
    return result


async def refuses(rig: MurmurRig, binding: str) -> str:
    outcome = await rig.fire(GATES[binding])
    assert isinstance(outcome.blocked, Refuse)
    assert outcome.blocked.reason.strip()
    assert outcome.by is not None
    assert outcome.by.name == "guard"
    return outcome.blocked.reason


@pytest.fixture
async def runtime() -> AsyncIterator[WasmRuntime]:
    async with WasmRuntime(CODE) as runtime:
        yield runtime


async def guarded(tmp_path: Path, runtime: WasmRuntime, payload: bytes, binding: str, limits: HookLimits = LIMITS) -> MurmurRig:
    rig = MurmurRig(tmp_path, runtime)
    rig.limits = limits
    rig.hook("guard", payload, binding=binding, policy="deny")
    await rig.start()
    return rig


@given(answer=answers, binding=st.sampled_from(sorted(GATES)))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_it_answers_but_none(answer: Arm | Errs, binding: str, tmp_path: Path) -> None:
    async def run() -> None:
        async with WasmRuntime() as runtime:
            rig = await guarded(tmp_path, runtime, hook({binding: answer}), binding)
            reason = await refuses(rig, binding)
            if isinstance(answer, Errs):
                assert answer.text in reason
            elif answer.name == "deny" and answer.value.strip():
                assert reason == answer.value
            else:
                assert "guard" in reason
            await refuses(rig, binding)
            await rig.close()

    asyncio.run(run())


@pytest.mark.parametrize("binding", sorted(GATES))
@pytest.mark.parametrize("defect", DEFECTS)
async def test_however_it_ends(tmp_path: Path, runtime: WasmRuntime, defect: str, binding: str) -> None:
    rig = await guarded(tmp_path, runtime, hook({binding: DEFECTS[defect]}), binding, IMPATIENT)

    for _ in range(3):
        assert "guard" in await refuses(rig, binding)
    await rig.close()


@pytest.mark.parametrize("binding", sorted(GATES))
@pytest.mark.parametrize("signature", SIGNATURES)
async def test_whatever_its_type_is(tmp_path: Path, runtime: WasmRuntime, signature: str, binding: str) -> None:
    """Its core code says none, where it says anything."""
    types = {binding: SIGNATURES[signature](binding)}
    body = "" if types[binding].result is None else NONE
    rig = await guarded(tmp_path, runtime, hook({binding: body}, types=types), binding)

    for _ in range(2):
        assert "another type" in await refuses(rig, binding)
    await rig.close()


async def poisoned(rig: MurmurRig, binding: str) -> None:
    """Another event has broken it before."""
    await rig.fire(OBSERVED[binding])


async def closed(rig: MurmurRig, binding: str) -> None:
    assert rig.hooks is not None
    await rig.hooks.close()


async def runtime_closed(rig: MurmurRig, binding: str) -> None:
    await rig.runtime.close()


async def given_up_by_its_caller(rig: MurmurRig, binding: str) -> None:
    """What it says then counts for nobody."""
    asking = asyncio.ensure_future(rig.fire(GATES[binding]))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


@pytest.mark.parametrize("binding", sorted(GATES))
@pytest.mark.parametrize(
    ("body", "breaks"),
    [(DEFECTS["trap"], poisoned), (NONE, closed), (NONE, runtime_closed), (DEFECTS["trap"], given_up_by_its_caller)],
    ids=lambda value: getattr(value, "__name__", ""),
)
async def test_however_it_was_broken_before(tmp_path: Path, runtime: WasmRuntime, body: Arm | str, breaks: Break, binding: str) -> None:
    rig = await guarded(tmp_path, runtime, hook({binding: body}), binding)

    await breaks(rig, binding)

    for _ in range(2):
        assert "guard" in await refuses(rig, binding)
    await rig.close()


async def test_before_it_was_started(tmp_path: Path, runtime: WasmRuntime) -> None:
    rig = MurmurRig(tmp_path, runtime)
    rig.hook("guard", hook(), binding="on-shell", policy="deny")
    await rig.stage()

    assert "was not started" in await refuses(rig, "on-shell")
    await rig.close()


async def test_a_log_that_fails_does_not_open_it(tmp_path: Path, runtime: WasmRuntime) -> None:
    rig = await guarded(tmp_path, runtime, hook({"on-shell": Errs("x")}), "on-shell")

    def fails(hook: str, message: str) -> None:
        raise OSError("the disk is full")

    rig.sink.log = fails  # type: ignore[method-assign]  # a failure that cannot be produced otherwise

    await refuses(rig, "on-shell")
    await rig.close()


def test_every_arm_is_tried() -> None:
    assert {"none", "deny", "replace-context", "seed-context", "write-manifests", "artifact", "reopen-task"} == set(ARMS)
