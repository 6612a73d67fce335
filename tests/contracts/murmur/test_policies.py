"""Policy hooks on the path of a tool call (murmur.md 5, cases 68 to 99)."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.support.call_rig import CallRig
from tests.support.guests import c_guard, python_guard, python_scripted
from tests.support.murmur_guests import GROW, SPIN, TRAP, Arm, Errs, hook, older
from tests.support.murmur_rig import SHELL_GATE, MurmurRig, Stall
from treblehook.contracts.murmur.grant import Grant
from treblehook.contracts.murmur.launch import HookLimits
from treblehook.engine import BindError, Mode
from treblehook.lifecycle import ToolGate, ToolRan

DENIES = hook({"on-shell": Arm("deny", "protected branch"), "on-tool-call": Arm("deny", "protected place")})


class Guarded:
    """The path of a tool call with hooks in front of it."""

    def __init__(self, rig: MurmurRig, calls: CallRig) -> None:
        self.rig = rig
        self.calls = calls

    async def start(self) -> None:
        hooks = await self.rig.start()
        for handler in hooks.handlers():
            self.calls.registry.add(handler)

    async def refused(self, name: str = "shell", **arguments: str) -> str:
        """A call of which nothing may run; answers what the model is told."""
        before = len(self.calls.log)
        outcome = await self.calls.take(name, **(arguments or {"command": "ls", "place": "x"}))
        happened = self.calls.log[before:]
        assert "runs" not in happened
        assert "ToolFinished" not in happened
        assert not {"ToolRan", "ShellRan"} & set(happened)
        assert (outcome.ran, outcome.is_error) == (False, True)
        return outcome.content

    async def runs(self, name: str = "shell") -> None:
        before = len(self.calls.log)
        outcome = await self.calls.take(name, command="ls", place="x")
        assert outcome.ran
        assert self.calls.log[before:].count("runs") == 1


@pytest.fixture
def guarded(rig: MurmurRig, tmp_path: Path) -> Guarded:
    return Guarded(rig, CallRig(tmp_path / "results"))


async def test_case_068_a_denied_command_does_not_run_and_the_model_is_told_why(guarded: Guarded) -> None:
    guarded.rig.hook("guard", DENIES, binding="on-shell", policy="deny")
    await guarded.start()

    text = await guarded.refused()

    assert text == (
        "The policy guard refused this call: protected branch\n\n"
        "The call was not run. Making the same call again unchanged will be refused again."
    )
    assert guarded.rig.sink.lines == []
    assert guarded.rig.sink.faults == []


async def test_case_069_a_denied_tool_has_no_effect(guarded: Guarded) -> None:
    guarded.rig.hook("guard", DENIES, binding="on-tool-call", policy="deny")
    await guarded.start()

    assert "protected place" in await guarded.refused("dig")


async def test_case_070_what_it_lets_pass_it_sees_afterwards(guarded: Guarded) -> None:
    code = {"on-shell": "seen.append(event.outcome is not None)\nif len(seen) == 3: answer = deny(str(seen))"}
    guarded.rig.hook("guard", python_scripted().read_bytes(), binding="on-shell", policy="deny", grant=Grant(config=json.dumps(code)))
    await guarded.start()

    await guarded.runs()

    assert "[False, True, False]" in await guarded.refused()


@pytest.mark.parametrize("reason", ["", "  \n"])
async def test_case_071_a_denial_without_a_reason_refuses(guarded: Guarded, reason: str) -> None:
    guarded.rig.hook("guard", hook({"on-shell": Arm("deny", reason)}), binding="on-shell", policy="deny")
    await guarded.start()

    text = await guarded.refused()

    assert all(word in text for word in ("guard", "on-shell", "empty reason"))
    assert guarded.rig.sink.lines == []


BROKEN: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "072 trap": (hook({"on-shell": TRAP}), ("trapped",)),
    "073 deadline": (hook({"on-shell": SPIN}), ("deadline of 0.5 seconds", "capabilities.limits.deadline_seconds")),
    "074 memory": (hook({"on-shell": GROW}), ("resource limits", "capabilities.limits.memory_bytes")),
    "075 older variant": (hook(types={"on-shell": older("on-shell")}), ("another type", "no case deny")),
    "078 error": (hook({"on-shell": Errs("no map")}), ("no map",)),
}


@pytest.mark.parametrize("case", BROKEN)
async def test_case_072_to_078_a_policy_that_breaks_refuses_this_call_and_every_later_one(guarded: Guarded, case: str) -> None:
    payload, words = BROKEN[case]
    guarded.rig.limits = HookLimits(deadline_seconds=0.5, memory_bytes=1024 * 1024)
    guarded.rig.hook("guard", payload, binding="on-shell", policy="deny")
    await guarded.start()

    for _ in range(3):
        text = await guarded.refused()
        assert all(word in text for word in ("guard", "on-shell", *words))

    assert len(guarded.rig.sink.of("guard")) == 3
    assert guarded.rig.sink.faults == []
    # What it has no say in goes on.
    await guarded.runs("dig")


async def test_case_077_another_arm_refuses_and_is_a_fault(guarded: Guarded) -> None:
    guarded.rig.hook("guard", hook({"on-shell": Arm("artifact", "{}")}), binding="on-shell", policy="deny")
    await guarded.start()

    assert "artifact" in await guarded.refused()
    assert guarded.rig.sink.faults == [("guard", "on-shell", "artifact")]
    assert len(guarded.rig.sink.lines) == 1


async def test_case_078_an_error_is_logged_word_for_word(guarded: Guarded) -> None:
    guarded.rig.hook("guard", hook({"on-shell": Errs("x")}), binding="on-shell", policy="deny")
    await guarded.start()

    assert "x" in await guarded.refused()
    assert guarded.rig.sink.lines == [("guard", "x")]


async def test_case_079_a_trap_after_the_call_refuses_the_next_one(guarded: Guarded) -> None:
    code = {"on-shell": "if event.outcome is not None: os.abort()"}
    guarded.rig.hook("guard", python_scripted().read_bytes(), binding="on-shell", policy="deny", grant=Grant(config=json.dumps(code)))
    await guarded.start()

    await guarded.runs()
    text = await guarded.refused()

    assert "cannot enter" in text


async def test_case_080_the_first_refusal_ends_the_walk(guarded: Guarded) -> None:
    guarded.rig.hook("passes", hook(), binding="on-shell", policy="deny")
    guarded.rig.hook("denies", DENIES, binding="on-shell", policy="deny")
    guarded.rig.hook("never", hook({"on-shell": Errs("asked")}), binding="on-shell", policy="deny")
    await guarded.start()

    assert "The policy denies refused this call" in await guarded.refused()
    assert guarded.rig.sink.lines == []


async def test_case_081_and_083_a_denial_after_the_call_is_a_fault(guarded: Guarded) -> None:
    guarded.rig.hook("observes", DENIES, binding="on-shell")
    await guarded.start()

    await guarded.runs()

    assert guarded.rig.sink.faults == [("observes", "on-shell", "deny")]


async def test_case_084_and_085_what_is_not_there_no_policy_is_asked_about(guarded: Guarded) -> None:
    guarded.rig.hook("passes", hook(), binding="on-shell", policy="deny")
    guarded.rig.hook("denies", hook({"on-tool-call": Errs("asked")}), binding="on-tool-call", policy="deny")
    await guarded.start()

    outcome = await guarded.calls.take("curl", command="curl x")

    assert outcome.content == "There is no tool named 'curl' to call here."
    assert not {"ToolGate", "ShellGate"} & set(guarded.calls.log)
    # It only sees that the call failed.
    assert guarded.calls.event(ToolRan).is_error
    assert guarded.rig.sink.lines == [("denies", "asked")]


async def test_case_086_a_tool_policy_is_not_asked_about_a_command(guarded: Guarded) -> None:
    code = {"on-tool-call": "said(event.tool_name + ('' if event.outcome is None else ' ran'))"}
    guarded.rig.hook("guard", python_scripted().read_bytes(), binding="on-tool-call", policy="deny", grant=Grant(config=json.dumps(code)))
    await guarded.start()

    await guarded.runs("shell")
    assert guarded.rig.sink.of("guard") == ["shell ran"]
    assert "dig" in await guarded.refused("dig")


async def test_case_087_an_observer_is_not_asked_before_the_call(guarded: Guarded) -> None:
    for name, binding in (("bound", {"binding": "on-shell"}), ("any", {}), ("async", {"mode": "async"})):
        guarded.rig.hook(name, hook({"on-shell": Errs("told")}), **binding)
    await guarded.start()
    hooks = guarded.rig.hooks
    assert hooks is not None

    assert not [handler for handler in hooks.handlers() if handler.event.__name__ in ("ShellGate", "ToolGate")]


async def test_case_091_it_decides_on_the_whole_arguments(guarded: Guarded) -> None:
    code = {"on-shell": "answer = deny(f'{len(event.argv[1])} {len(event.script)} {len(event.command)}')"}
    guarded.rig.hook("guard", python_scripted().read_bytes(), binding="on-shell", policy="deny", grant=Grant(config=json.dumps(code)))
    await guarded.start()

    assert "300 300 200" in await guarded.refused(command="é" * 300)


async def test_case_094_and_095_a_denied_call_is_not_counted_and_the_next_is_made(guarded: Guarded) -> None:
    code = {"on-shell": "answer = deny('not this') if 'rm' in event.script else lifecycle.HookOutput_None_()"}
    guarded.rig.hook("guard", python_scripted().read_bytes(), binding="on-shell", policy="deny", grant=Grant(config=json.dumps(code)))
    await guarded.start()

    await guarded.refused(command="rm x")
    await guarded.runs()

    assert (guarded.calls.path.execution.ran, guarded.calls.path.execution.shells) == (1, 1)


async def test_case_096_nothing_makes_a_policy_permissive(rig: MurmurRig) -> None:
    rig.limits = HookLimits(deadline_seconds=1e9, memory_bytes=2**40, table_elements=2**30, instances=2**20)
    rig.environment = {"MURMUR_EVAL_CONFIG": "{}", "MURMUR_FORMATION_ID": "f"}
    rig.hook("guard", hook({"on-shell": TRAP}), overflow="drop", binding="on-shell", policy="deny")
    hooks = await rig.start()

    assert (await rig.fire(SHELL_GATE)).blocked is not None
    for mode in (Mode.REPORT, Mode.OFF):
        with pytest.raises(BindError, match="guard"):
            hooks.handlers({"guard": mode})


@pytest.mark.parametrize("guard", [c_guard, python_guard], ids=["c", "python"])
async def test_case_098_a_policy_of_either_toolchain_needs_no_grant(rig: MurmurRig, guard: object) -> None:
    assert callable(guard)
    rig.hook("guard", guard().read_bytes(), binding="on-shell", policy="deny")
    await rig.start()

    from msgspec.structs import replace

    prepared = SHELL_GATE.prepared
    denied = await rig.fire(replace(SHELL_GATE, prepared=replace(prepared, argv=("rm", "x"), script=None)))
    passed = await rig.fire(replace(SHELL_GATE, prepared=replace(prepared, argv=("ls",), script=None)))

    assert denied.blocked is not None
    assert denied.blocked.reason == "leave the treasure where it is"
    assert passed.blocked is None
    assert rig.sink.lines == []


async def test_case_099_an_event_that_cannot_be_handed_over_refuses(rig: MurmurRig) -> None:
    rig.hook("guard", hook(), binding="on-tool-call", policy="deny")
    await rig.start()

    outcome = await rig.fire(ToolGate(call=SHELL_GATE.call, input_json="\ud800"))

    assert outcome.blocked is not None
    assert "cannot be handed this event" in outcome.blocked.reason
    # It was never asked, so it can be asked again.
    assert (await rig.fire(ToolGate(call=SHELL_GATE.call, input_json="{}"))).blocked is None


async def test_a_caller_who_gives_up_gets_no_answer_and_the_policy_stays_whole(guarded: Guarded) -> None:
    stall = Stall(guarded.rig)
    code = {"on-shell": "tokens.count('x')"}
    guarded.rig.hook("guard", python_scripted().read_bytes(), binding="on-shell", policy="deny", grant=Grant(config=json.dumps(code)))
    await guarded.start()

    calling = asyncio.ensure_future(guarded.calls.take("shell", command="ls"))
    await stall.entered()
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    stall.release.set()

    assert "runs" not in guarded.calls.log
    await guarded.runs()
