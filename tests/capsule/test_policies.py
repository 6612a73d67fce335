"""Policy hooks around a capsule's calls (murmur.md 5, cases 68 to 98 as far as a launch decides them)."""

import asyncio
import errno
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.capsule_rig import CapsuleRig, call, calls
from tests.support.murmur_guests import DEFECTS, SPIN, Arm, Errs, hook
from treblehook.agent.transcript import TranscriptFailed
from treblehook.agent.transcript.transcript import Transcript
from treblehook.capsule.launch import CapsuleLaunch

DENIES = {"on-shell": Arm("deny", "protected branch"), "on-tool-call": Arm("deny", "protected branch")}


def policy(rig: CapsuleRig, binding: str, answer: Any, name: str = "guard", **more: Any) -> None:
    rig.hook(name, hook({binding: answer}), binding=binding, policy="deny", **more)


async def test_case_068_a_denied_command(rig: CapsuleRig) -> None:
    policy(rig, "on-shell", DENIES["on-shell"])
    rig.plays(calls(call("bash", command="touch x")), {"text": "Done."})

    assert (await rig.launch()).exit_status == "ok"

    (result,) = rig.results()
    assert result["is_error"]
    assert all(word in result["content"] for word in ("guard", "protected branch", "not run", "refused again"))
    assert not (rig.work / "x").exists()
    denied = rig.only("call_denied")
    assert {key: denied[key] for key in ("turn", "event", "hook_name", "reason")} == {
        "turn": 0,
        "event": "on-shell",
        "hook_name": "guard",
        "reason": "protected branch",
    }
    assert os.path.isabs(denied["target"])
    assert denied["parent_id"] == rig.trace("inference")[0]["event_id"]
    assert rig.trace("tool_call", "shell") == []
    assert len(rig.queries) == 2
    assert rig.log("guard") == []


async def test_case_069_a_denied_tool(rig: CapsuleRig) -> None:
    policy(rig, "on-tool-call", DENIES["on-tool-call"])
    rig.plays(calls(call("write", path="x", content="y")), {"text": "Done."})

    await rig.launch()

    assert not (rig.work / "x").exists()
    assert (rig.only("call_denied")["event"], rig.only("call_denied")["target"]) == ("on-tool-call", "write")
    assert rig.trace("tool_call") == []


@pytest.mark.parametrize(("binding", "answer"), [("on-shell", Arm("none")), ("on-tool-call", DENIES["on-tool-call"])])
async def test_case_084_and_085_what_is_not_declared_is_refused_by_the_manifest(rig: CapsuleRig, binding: str, answer: Arm) -> None:
    policy(rig, binding, answer)
    rig.hook("watch", hook({"on-tool-call": Errs("saw it")}), binding="on-tool-call")
    rig.plays(calls(call("curl", command="-O x")), {"text": "Done."})

    await rig.launch()

    assert "'curl' is not declared" in rig.results()[0]["content"]
    assert "capabilities.shell.allow" in rig.results()[0]["content"]
    assert rig.trace("call_denied") == []
    # Seen afterwards by those who observe, the policy among them where it is bound there.
    assert rig.log("watch") == ["saw it"]
    called = rig.only("tool_call")
    assert (called["tool_name"], called["status"]) == ("curl", "error")


async def test_case_086_a_policy_of_tools_is_not_asked_about_a_command(rig: CapsuleRig) -> None:
    policy(rig, "on-tool-call", DENIES["on-tool-call"])
    rig.plays(calls(call("bash", command="touch x")), {"text": "Done."})

    await rig.launch()

    assert (rig.work / "x").exists()
    assert rig.trace("call_denied") == []
    # It sees the run, and its denial comes too late.
    fault = rig.only("hook_dispatch_error")
    assert (fault["hook_name"], fault["event"], fault["arm"]) == ("guard", "on-tool-call", "deny")


@pytest.mark.parametrize("arguments", [{"command": "  "}, {}, {"command": 7}, {"command": None}])
async def test_case_088_without_a_usable_command_there_is_no_command(rig: CapsuleRig, arguments: dict[str, Any]) -> None:
    policy(rig, "on-shell", DENIES["on-shell"])
    rig.plays(calls(call("bash", **arguments)), {"text": "Done."})

    await rig.launch()

    (result,) = rig.results()
    assert result["is_error"]
    assert "`command`" in result["content"]
    assert "Nothing was run" in result["content"]
    assert rig.trace("call_denied", "shell") == []


async def test_case_093_a_tool_artifact_named_like_a_program_is_a_tool(rig: CapsuleRig) -> None:
    rig.tool("bash", "#!/bin/sh\necho never > ran\n")
    policy(rig, "on-shell", Arm("deny", "as a command"), "shells")
    policy(rig, "on-tool-call", Arm("deny", "as a tool"), "tools")
    rig.plays(calls(call("bash", command="touch x")), {"text": "Done."})

    await rig.launch()

    assert (rig.session / "tools" / "bash" / "bash").exists()
    assert (rig.only("call_denied")["hook_name"], rig.only("call_denied")["target"]) == ("tools", "bash")
    assert not (rig.work / "ran").exists()


async def test_case_094_a_denied_call_is_counted_nowhere_and_nobody_observes_it(rig: CapsuleRig) -> None:
    policy(rig, "on-shell", DENIES["on-shell"])
    rig.hook("watch", hook({"on-tool-call": Errs("a tool"), "on-shell": Errs("a command")}))
    rig.plays(calls(call("bash", command="touch x")), {"text": "Done."})

    await rig.launch()

    end, over = rig.only("session_end"), rig.only("task_end")
    assert (end["total_tool_calls"], end["total_shell_calls"], over["tool_calls"], over["shell_calls"]) == (0, 0, 0, 0)
    assert rig.log("watch") == []


LIMITS = [
    {},
    {"limits": {"deadline_seconds": 0.2}},
    {"limits": {"memory_bytes": 1 << 20}},
    {"limits": {"table_elements": 10, "instances": 10}},
]


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("overflow", ["drop", "block"])
@pytest.mark.parametrize("defect", ["trap", "memory", "discriminant"])
async def test_case_096_no_key_of_the_manifest_opens_a_broken_gate(
    rig: CapsuleRig, limits: dict[str, Any], overflow: str, defect: str
) -> None:
    policy(rig, "on-shell", DEFECTS[defect], entry={"on_overflow": overflow, "config": {"open": True}})
    rig.sets(capabilities=limits)
    (rig.home.folder / "config.toml").write_text('[hooks."other"]\nmode = "off"\n[permissions]\nallow = ["bash"]\n')
    rig.plays(calls(call("bash", command="touch x"), call("bash", command="touch y")), {"text": "Done."})

    assert (await rig.launch()).exit_status == "ok"

    assert [line["hook_name"] for line in rig.trace("call_denied")] == ["guard", "guard"]
    assert not (rig.work / "x").exists()
    assert not (rig.work / "y").exists()


@pytest.mark.parametrize("mode", ["off", "report"])
async def test_case_096_a_homes_mode_does_not_open_a_gate(rig: CapsuleRig, mode: str) -> None:
    policy(rig, "on-shell", DENIES["on-shell"])
    (rig.home.folder / "config.toml").write_text(f'[hooks."guard"]\nmode = "{mode}"\n')
    rig.plays(calls(call("bash", command="touch x")), {"text": "Done."})

    await rig.launch()

    assert not (rig.work / "x").exists()


async def test_case_073_a_policy_that_spins(rig: CapsuleRig) -> None:
    policy(rig, "on-shell", SPIN)
    rig.sets(capabilities={"limits": {"deadline_seconds": 0.2}})
    rig.plays(calls(call("bash", command="touch x")), {"text": "Done."})

    await rig.launch()

    assert "capabilities.limits.deadline_seconds" in rig.only("call_denied")["reason"]


async def test_case_077_a_wrong_arm_is_a_refusal_and_a_fault_right_behind_it(rig: CapsuleRig) -> None:
    policy(rig, "on-shell", Arm("artifact", "{}"))
    rig.plays(calls(call("bash", command="touch x"), call("echo", command="y")), {"text": "Done."})

    await rig.launch()

    at = rig.types().index("call_denied")
    assert rig.types()[at : at + 4] == ["call_denied", "hook_dispatch_error", "call_denied", "hook_dispatch_error"]
    fault = rig.trace("hook_dispatch_error")[0]
    assert (fault["arm"], fault["event"], fault["parent_id"]) == ("artifact", "on-shell", rig.trace("session_start")[0]["event_id"])


def full_disk(monkeypatch: pytest.MonkeyPatch, *event_types: str) -> None:
    """Let lines of these types not be written."""
    append = Transcript.append

    def fails(self: Transcript, record: dict[str, Any]) -> None:
        if record.get("event_type") in event_types:
            raise TranscriptFailed(Path("trace.jsonl"), os.strerror(errno.ENOSPC))
        append(self, record)

    monkeypatch.setattr(Transcript, "append", fails)


async def test_case_097_a_refusal_that_cannot_be_written_down_ends_the_session(rig: CapsuleRig, monkeypatch: pytest.MonkeyPatch) -> None:
    policy(rig, "on-shell", DENIES["on-shell"])
    rig.plays(calls(call("bash", command="touch x"), call("echo", command="y")), {"text": "Done."})
    full_disk(monkeypatch, "call_denied")

    with pytest.raises(TranscriptFailed, match="No space left"):
        await rig.launch()

    assert len(rig.queries) == 1
    assert rig.types()[-2:] == ["task_end", "session_end"]
    assert (rig.only("task_end")["exit_status"], rig.only("session_end")["exit_status"]) == ("failed", "failed")
    assert rig.ears.of("end")[0]["status"] == "failed"


@pytest.mark.parametrize("event_type", ["session_start", "task_start", "inference", "tool_call", "shell", "session_end"])
async def test_a_line_that_must_be_there_ends_the_session(rig: CapsuleRig, monkeypatch: pytest.MonkeyPatch, event_type: str) -> None:
    rig.plays(calls(call("bash", command="echo x")), {"text": "Done."})
    full_disk(monkeypatch, event_type)

    with pytest.raises(TranscriptFailed, match="No space left"):
        await rig.launch()


@pytest.mark.parametrize("event_type", ["task_end", "hook_dispatch_error"])
async def test_a_line_without_which_a_session_goes_on(rig: CapsuleRig, monkeypatch: pytest.MonkeyPatch, event_type: str) -> None:
    rig.hook("odd", hook({"on-session-start": Arm("seed-context", [])}), binding="on-session-start")
    full_disk(monkeypatch, event_type)

    assert (await rig.launch()).exit_status == "ok"
    assert event_type not in rig.types()
    assert "No space left" in rig.bootstrap()


async def test_the_homes_denials_hold_and_nothing_else_of_its_rules(rig: CapsuleRig) -> None:
    (rig.home.folder / "config.toml").write_text('[permissions]\nask = ["bash", "write"]\ndeny = ["bash(rm *)", "bash(echo secret*)"]\n')
    rig.plays(
        calls(
            call("bash", command="rm -rf map"),
            call("bash", command="echo gold"),
            call("echo", command="secret"),
            call("echo", command="gold"),
            call("write", path="map", content="x"),
        ),
        {"text": "Done."},
    )

    await rig.launch()

    assert [result["is_error"] for result in rig.results()] == [True, False, True, False, False]


async def test_a_launch_that_is_stopped_tells_its_end_hooks(rig: CapsuleRig) -> None:

    rig.hook("ends", hook({"on-task-end": Errs("task"), "on-session-end": Errs("session")}))
    rig.plays(calls(call("bash", command="sleep 60")), {"text": "never"})
    running: list[asyncio.Task[Any] | None] = []

    def staged(launch: CapsuleLaunch) -> None:
        running.append(asyncio.current_task())

    rig.on_staged = staged

    async def stop() -> None:
        while not rig.ears.of("tool_call"):
            await asyncio.sleep(0.01)
        assert running[0] is not None
        running[0].cancel()

    stopping = asyncio.ensure_future(stop())
    ended = await rig.launch("one", "two")
    await stopping

    assert (ended.exit_status, ended.end.status) == ("canceled", "interrupted")
    assert rig.log("ends") == ["task", "session"]
    assert [line["exit_status"] for line in rig.trace("task_end", "session_end")] == ["canceled", "canceled"]
    assert len(rig.trace("task_start")) == 1
