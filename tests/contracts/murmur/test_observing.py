"""Hooks that are told of what has happened: commits, faults, errors, limits (murmur.md 2.8, 4, cases 36 to 55)."""

import asyncio
import json

import pytest

from tests.support.guests import python_scripted
from tests.support.hooks import given_by
from tests.support.murmur_guests import DEFECTS, GROW, NONE, SPIN, TRAP, Arm, Errs, hook, older
from tests.support.murmur_rig import END, FULL, OBSERVED, RAN, RESPONSE, SHELL_RAN, START, TASK, TASK_END, MurmurRig, Stall
from treblehook.contracts.murmur.grant import Grant
from treblehook.contracts.murmur.launch import HookLimits
from treblehook.engine import Mode
from treblehook.lifecycle import Artifact, Event, Reopen, ReplaceContext, SeedContext, SessionStart

SEED = Arm("seed-context", [("user", '"remember"')])
REPLACEMENT = Arm("replace-context", [("user", '"in short"')])


async def test_case_036_an_error_is_logged_and_the_others_are_called(rig: MurmurRig) -> None:
    rig.hook("a", hook({"on-tool-call": Errs("no shovel")}))
    rig.hook("b", hook())
    rig.hook("c", hook(), binding="on-tool-call")
    await rig.start()

    await rig.fire(RAN)

    assert [call.handler.name for call in rig.journal.calls] == ["a", "b", "c"]
    assert rig.sink.lines == [("a", "no shovel")]
    assert rig.sink.faults == []


async def test_case_037_a_hook_that_traps_says_so_at_every_later_event(rig: MurmurRig) -> None:
    rig.hook("a", hook({"on-session-start": TRAP}))
    rig.hook("b", hook({"on-session-end": Errs("still here")}))
    await rig.start()

    for event in (START, RAN, END):
        await rig.fire(event)

    lines = rig.sink.of("a")
    assert [line.split(" trapped: ")[0] for line in lines] == [
        f"hook 'a' {name}" for name in ("on-session-start", "on-tool-call", "on-session-end")
    ]
    assert all("cannot enter" in line for line in lines[1:])
    assert rig.sink.of("b") == ["still here"]
    assert rig.sink.faults == []


async def test_case_038_a_hook_that_spins_is_interrupted(rig: MurmurRig) -> None:
    rig.limits = HookLimits(deadline_seconds=0.5)
    rig.hook("a", hook({"on-shell": SPIN}))
    rig.hook("b", hook({"on-shell": Errs("called")}))
    await rig.start()

    await rig.fire(SHELL_RAN)

    assert rig.sink.lines == [
        ("a", "hook 'a' on-shell exceeded its deadline of 0.5 seconds and was interrupted (capabilities.limits.deadline_seconds)"),
        ("b", "called"),
    ]


async def test_case_039_every_call_has_the_whole_deadline(rig: MurmurRig) -> None:
    code = {"on-shell": "until = time.monotonic() + 0.45\nwhile time.monotonic() < until: pass"}
    rig.limits = HookLimits(deadline_seconds=2)
    rig.hook("a", python_scripted().read_bytes(), binding="on-shell", grant=Grant(config=json.dumps(code)))
    await rig.start()

    for _ in range(5):
        await rig.fire(SHELL_RAN)

    assert rig.sink.lines == []


async def test_case_040_the_deadline_of_the_operator_is_the_hooks(rig: MurmurRig) -> None:
    rig.limits = HookLimits(deadline_seconds=600)
    rig.hook("a", hook())
    hooks = await rig.start()

    assert {handler.timeout for handler in hooks.handlers()} == {600}
    assert HookLimits().deadline_seconds == 30


async def test_case_041_a_hook_that_is_given_no_more_memory(rig: MurmurRig) -> None:
    rig.limits = HookLimits(memory_bytes=1024 * 1024)
    rig.hook("a", hook({"on-shell": GROW}))
    await rig.start()

    for event in (SHELL_RAN, END):
        await rig.fire(event)

    # What ended it is told again.
    for line in rig.sink.of("a"):
        assert "resource limits" in line
        assert "capabilities.limits.memory_bytes: 1048576" in line


HONOURED = {"on-task-start": "seed-context", "on-inference": "artifact", "on-compaction": "replace-context", "on-task-end": "reopen-task"}
VALUES = {"replace-context": [], "write-manifests": [], "artifact": "{}", "reopen-task": "x", "seed-context": [], "deny": "x"}


@pytest.mark.parametrize("binding", OBSERVED)
async def test_case_042_043_and_044_an_arm_that_is_not_honoured_is_a_fault(rig: MurmurRig, binding: str) -> None:
    for arm, value in VALUES.items():
        rig.hook(arm, hook({binding: Arm(arm, value)}))
    await rig.start()

    outcome = await rig.fire(OBSERVED[binding])

    wrong = [arm for arm in VALUES if arm != HONOURED.get(binding)]
    assert rig.sink.faults == [(arm, binding, arm) for arm in wrong]
    assert [name for name, _ in rig.sink.lines] == wrong
    assert all(name in line and binding in line for name, line in rig.sink.lines)
    # An artifact needs no policy.
    assert [name for name, _ in given_by(outcome)] == (["artifact"] if binding == "on-inference" else [])


async def test_the_arm_of_a_policy_is_committed_at_its_event(rig: MurmurRig) -> None:
    for policy, answer in (("seed-context", SEED), ("replace-context", REPLACEMENT), ("reopen-task", Arm("reopen-task", "again"))):
        function = next(name for name, arm in HONOURED.items() if arm == policy)
        rig.hook(policy, hook({function: answer, "on-inference": Arm("artifact", '{"by": 1}')}), policy=policy)
    await rig.start()

    (seed,) = given_by(await rig.fire(TASK))
    (full,) = given_by(await rig.fire(FULL))
    (end,) = given_by(await rig.fire(TASK_END))
    artifacts = given_by(await rig.fire(RESPONSE))

    assert isinstance(seed[1], SeedContext)
    assert [(one.text, one.source, one.hook) for one in seed[1].messages] == [("remember", "on-task-start", "seed-context")]
    assert isinstance(full[1], ReplaceContext)
    assert [one.text for one in full[1].messages] == ["in short"]
    assert end == ("reopen-task", Reopen("again"))
    assert [decision for _, decision in artifacts] == [Artifact('{"by": 1}')] * 3
    assert rig.sink.lines == []
    assert rig.sink.faults == []


async def test_all_hooks_are_called_and_the_first_seed_wins(rig: MurmurRig) -> None:
    for name in ("first", "second"):
        rig.hook(name, hook({"on-task-start": SEED}), binding="on-task-start", policy="seed-context")
    rig.hook("third", hook({"on-task-start": Errs("called")}))
    await rig.start()

    assert [name for name, _ in given_by(await rig.fire(TASK))] == ["first"]
    assert rig.sink.lines == [("third", "called")]


async def test_case_120_and_126_an_error_of_a_committer_commits_nothing(rig: MurmurRig) -> None:
    rig.hook("seed", hook({"on-task-start": Errs("no memory")}), binding="on-task-start", policy="seed-context")
    rig.hook("compact", hook({"on-compaction": Errs("no summary")}), binding="on-compaction", policy="replace-context")
    await rig.start()

    assert (await rig.fire(TASK)).contributions == ()
    assert (await rig.fire(FULL)).contributions == ()
    assert rig.sink.lines == [("seed", "no memory"), ("compact", "no summary")]


async def test_case_045_an_unbound_hook_hears_of_the_whole_session(rig: MurmurRig) -> None:
    code = {name: f"said('{name}')" for name in OBSERVED}
    rig.hook("any", python_scripted().read_bytes(), grant=Grant(config=json.dumps(code)))
    await rig.start()

    for event in OBSERVED.values():
        await rig.fire(event)

    assert rig.sink.of("any") == list(OBSERVED)


async def test_a_compaction_starts_no_session(rig: MurmurRig) -> None:
    rig.hook("any", hook({"on-session-start": Errs("started")}))
    await rig.start()

    for reason in ("compacted", "resume", "start"):
        await rig.fire(SessionStart(reason=reason))

    assert rig.sink.of("any") == ["started"] * 2


async def test_case_048_memory_lasts_as_long_as_the_launch(rig: MurmurRig) -> None:
    code = {"on-task-start": "seen.append(event.task_id)", "on-session-end": "said(seen)"}
    rig.hook("counts", python_scripted().read_bytes(), grant=Grant(config=json.dumps(code)))
    await rig.start()

    for _ in range(3):
        await rig.fire(TASK)
        await rig.fire(TASK_END)
    await rig.fire(END)

    assert rig.sink.of("counts") == ["['tsk_1', 'tsk_1', 'tsk_1']"]


async def test_case_054_no_two_calls_of_a_hook_overlap(rig: MurmurRig) -> None:
    code = {"on-tool-call": "seen.append('in'); seen.append('out')", "on-session-end": "said(''.join(seen))"}
    rig.hook("one", python_scripted().read_bytes(), grant=Grant(config=json.dumps(code)))
    await rig.start()

    await asyncio.gather(*(rig.fire(RAN) for _ in range(10)))
    await rig.fire(END)

    assert rig.sink.of("one") == ["inout" * 10]


@pytest.mark.parametrize("body", DEFECTS.values(), ids=DEFECTS)
async def test_case_055_whatever_breaks_in_an_observer_the_event_goes_on(rig: MurmurRig, body: str) -> None:
    rig.limits = HookLimits(deadline_seconds=0.5, memory_bytes=1024 * 1024)
    rig.hook("broken", hook(dict.fromkeys(OBSERVED, body)))
    rig.hook("last", hook({"on-shell": Errs("called")}))
    await rig.start()

    outcome = await rig.fire(SHELL_RAN)

    assert (outcome.value, outcome.decision, outcome.contributions) == (SHELL_RAN, None, ())
    assert [name for name, _ in rig.sink.lines] == ["broken", "last"]
    assert rig.sink.faults == []


async def test_a_function_of_another_type_fails_its_call_only(rig: MurmurRig) -> None:
    rig.hook("old", hook({"on-session-end": Errs("alive")}, types={"on-shell": older("on-shell")}))
    await rig.start()

    for event in (SHELL_RAN, END):
        await rig.fire(event)

    wrong, alive = rig.sink.of("old")
    assert all(word in wrong for word in ("hook 'old' on-shell", "another type", "deny"))
    assert alive == "alive"


async def test_who_stops_waiting_does_not_end_the_hook(rig: MurmurRig) -> None:
    stall = Stall(rig)
    code = {"on-shell": "tokens.count('x'); seen.append(1)", "on-session-end": "said(len(seen))"}
    rig.hook("slow", python_scripted().read_bytes(), grant=Grant(config=json.dumps(code)))
    await rig.start()

    waiting = asyncio.ensure_future(rig.fire(SHELL_RAN))
    await stall.entered()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    stall.release.set()
    await rig.fire(END)

    assert rig.sink.of("slow") == ["1"]


async def test_a_closed_hook_is_silent(rig: MurmurRig) -> None:
    rig.hook("any", hook(dict.fromkeys(OBSERVED, NONE)))
    hooks = await rig.start()

    await hooks.close()
    for event in OBSERVED.values():
        await rig.fire(event)

    assert rig.sink.lines == []


async def test_a_hook_in_report_mode_is_asked_and_not_obeyed(rig: MurmurRig) -> None:
    rig.hook("reopens", hook({"on-task-end": Arm("reopen-task", "again")}), binding="on-task-end", policy="reopen-task")
    rig.modes = {"reopens": Mode.REPORT}
    await rig.start()

    assert (await rig.fire(TASK_END)).contributions == ()
    assert [call.decision for call in rig.journal.calls] == [Reopen("again")]


def test_every_event_is_there() -> None:
    assert all(isinstance(event, Event) for event in OBSERVED.values())
