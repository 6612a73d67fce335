"""`on-stage`: a throw-away instance, and a trace that does not exist yet (murmur.md 4.6, cases 24 to 35)."""

import pytest

from tests.support.guests import python_scripted
from tests.support.hooks import given_by
from tests.support.murmur_guests import NONE, SPIN, TRAP, Arm, Errs, counted, hook
from tests.support.murmur_rig import OBSERVED, SHELL_RAN, STAGE, MurmurRig
from treblehook.contracts.murmur.errors import HookUnusable
from treblehook.contracts.murmur.grant import Grant
from treblehook.contracts.murmur.launch import HookLimits
from treblehook.engine import Ended
from treblehook.lifecycle import ToolManifest, WriteManifests


async def test_case_024_and_025_manifests_in_the_order_of_the_list(rig: MurmurRig) -> None:
    for name, content in (("first", "X"), ("second", "Y")):
        answer = Arm("write-manifests", [("rg", content), ("fd", content)])
        rig.hook(name, hook({"on-stage": answer}), binding="on-stage", policy="write-manifests")
    await rig.stage()

    outcome = await rig.fire(STAGE)

    assert given_by(outcome) == [
        (name, WriteManifests((ToolManifest("rg", content), ToolManifest("fd", content))))
        for name, content in (("first", "X"), ("second", "Y"))
    ]
    assert rig.sink.lines == []


async def test_case_026_no_manifests(rig: MurmurRig) -> None:
    rig.hook("writes", hook({"on-stage": Arm("write-manifests", [])}), binding="on-stage", policy="write-manifests")
    await rig.stage()

    assert given_by(await rig.fire(STAGE)) == [("writes", WriteManifests(()))]
    assert rig.sink.lines == []


async def test_case_028_another_arm_is_logged_and_not_traced(rig: MurmurRig) -> None:
    rig.hook("writes", hook({"on-stage": Arm("replace-context", [])}), binding="on-stage", policy="write-manifests")
    await rig.stage()

    assert (await rig.fire(STAGE)).contributions == ()
    (line,) = rig.sink.of("writes")
    assert all(word in line for word in ("writes", "on-stage", "replace-context"))
    assert rig.sink.faults == []


async def test_case_029_an_error_is_logged_word_for_word(rig: MurmurRig) -> None:
    rig.hook("writes", hook({"on-stage": Errs("boom")}), binding="on-stage")
    hooks = await rig.stage()

    await rig.fire(STAGE)
    await hooks.open()

    assert rig.sink.lines == [("writes", "boom")]
    assert rig.sink.faults == []


@pytest.mark.parametrize(("body", "words"), [(TRAP, "trapped"), (SPIN, "capabilities.limits.deadline_seconds")])
async def test_case_031_a_broken_one_does_not_keep_the_launch_from_going_on(rig: MurmurRig, body: str, words: str) -> None:
    rig.limits = HookLimits(deadline_seconds=0.5)
    rig.hook("broken", hook({"on-stage": body}), binding="on-stage")
    rig.hook("writes", hook({"on-stage": Arm("write-manifests", [])}), binding="on-stage", policy="write-manifests")
    hooks = await rig.stage()

    assert [name for name, _ in given_by(await rig.fire(STAGE))] == ["writes"]
    await hooks.open()

    (line,) = rig.sink.of("broken")
    assert line.startswith("hook 'broken' on-stage ")
    assert words in line
    assert rig.sink.faults == []


@pytest.mark.parametrize("mode", ["blocking", "async"])
async def test_case_030_and_066_an_unbound_hook_is_not_asked(rig: MurmurRig, mode: str) -> None:
    rig.hook("any", hook({"on-stage": Errs("asked")}), mode=mode)
    await rig.stage()

    await rig.fire(STAGE)

    assert rig.sink.lines == []
    assert not rig.journal.calls


async def test_case_032_manifests_that_no_policy_names_are_dropped_silently(rig: MurmurRig) -> None:
    rig.hook("writes", hook({"on-stage": Arm("write-manifests", [("rg", "X")])}), binding="on-stage", policy="none")
    await rig.stage()

    assert (await rig.fire(STAGE)).contributions == ()
    assert rig.sink.lines == []


async def test_case_033_its_memory_is_gone_afterwards(rig: MurmurRig) -> None:
    rig.hook("counts", hook({"on-stage": counted("unreachable") + "(i32.const 4096)", "on-task-end": NONE}), binding="on-stage")
    await rig.stage()

    for _ in range(3):
        await rig.fire(STAGE)

    assert rig.sink.lines == []


async def test_case_033_nothing_of_it_is_seen_later(rig: MurmurRig) -> None:
    code = {"on-stage": "seen.append(1); answer = lifecycle.HookOutput_WriteManifests([])", "on-shell": "said(seen)"}
    rig.hook("stage", python_scripted().read_bytes(), binding="on-stage", policy="write-manifests", grant=Grant(config=config(code)))
    rig.hook("later", python_scripted().read_bytes(), binding="on-shell", grant=Grant(config=config(code)))
    hooks = await rig.stage()

    await rig.fire(STAGE)
    await hooks.open()
    await rig.fire(SHELL_RAN)

    assert rig.sink.lines == [("later", "[]")]


async def test_case_035_without_the_function_there_is_one_line(rig: MurmurRig) -> None:
    rig.hook("missing", hook(without=["on-stage"]), binding="on-stage")
    hooks = await rig.stage()

    await rig.fire(STAGE)
    await hooks.open()

    assert rig.sink.lines == [("missing", "hook missing@1.0.0 missing on-stage")]


async def test_a_stage_hook_hears_of_nothing_else(rig: MurmurRig) -> None:
    rig.hook("stage", hook(), binding="on-stage")
    await rig.start()

    for event in OBSERVED.values():
        await rig.fire(event)

    assert not rig.journal.calls


async def test_a_scope_that_is_no_folder_is_logged_and_ends_the_launch(rig: MurmurRig) -> None:
    rig.hook("stage", hook(), binding="on-stage", grant=Grant(scope="hook-state"))
    hooks = await rig.stage()
    (rig.session / "hook-state").write_text("in the way")

    await rig.fire(STAGE)
    assert "hook-state" in rig.sink.of("stage")[0]
    assert rig.journal.calls[0].ended is Ended.FAILED

    with pytest.raises(HookUnusable, match=r"filesystem\.scope: hook-state"):
        await hooks.open()


def config(code: dict[str, str]) -> str:
    import json

    return json.dumps(code)
