"""`registerCommand`: an extension's executables (vera.md 5.4)."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.extension_rig import ExtensionRig
from tests.support.needs import needs
from tests.support.sample_events import compacting, ending, proposed, submitted
from treblehook.contracts.vera.phases import PHASES
from treblehook.engine import Ended, OnFailure, Tier
from treblehook.lifecycle import AddContext, Block, Continue

pytestmark = needs("node")


def script(folder: Path, name: str, body: str) -> str:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)
    return str(file)


def command(spec: dict[str, Any]) -> str:
    return f"vera.hooks.registerCommand({json.dumps(spec)});"


async def test_every_command_phase_can_be_registered_with_the_one_capability(rig: ExtensionRig) -> None:
    rig.js("one", "".join(command({"phase": phase, "argv": ["/bin/true"]}) for phase in PHASES), capabilities=["hooks.command"])

    handlers = (await rig.session()).handlers

    assert {handler.origin.event for handler in handlers} == set(PHASES)
    assert {(handler.name, handler.origin.file, handler.tier, handler.on_failure, handler.timeout) for handler in handlers} == {
        ("one", "/bin/true", Tier.EXTENSION, OnFailure.OPEN, 1.0)
    }


async def test_an_executable_answers_under_the_extensions_name(rig: ExtensionRig) -> None:
    file = script(rig.place, "remember", 'cat >/dev/null; echo \'{"power":"mutate","context":"caw"}\'')
    rig.js("one", command({"phase": "pre_turn", "argv": [file, "an argument"], "timeoutMs": 30000}))

    [contribution] = (await rig.fire(submitted())).contributions

    assert (contribution.handler.name, contribution.decision) == ("one", AddContext("caw"))


@pytest.mark.parametrize("body", ["exit 1", "cat >/dev/null", "echo no json", "echo '{}'"])
async def test_a_failed_executable_is_ignored(rig: ExtensionRig, body: str) -> None:
    rig.js("one", command({"phase": "pre_tool_use", "argv": [script(rig.place, "bad", body)], "timeoutMs": 30000}))
    session = await rig.session()

    assert (await session.fire(proposed())).decision is None
    assert session.ends == [("one", Ended.FAILED)]


async def test_a_missing_executable_is_ignored(rig: ExtensionRig) -> None:
    rig.js("one", command({"phase": "pre_turn", "argv": ["/no/such/file"]}))
    session = await rig.session()

    assert (await session.fire(submitted())).decision is None
    assert session.ends == [("one", Ended.NOT_STARTED)]


async def test_a_failed_observer_is_logged_with_the_extensions_id(rig: ExtensionRig) -> None:
    rig.js("one", command({"phase": "pre_compact", "argv": [script(rig.place, "bad", "exit 3")], "timeoutMs": 30000}))
    session = await rig.session()

    await session.fire(compacting())
    await session.settle()

    assert rig.log() == [{"type": "pre_compact_hook_failed", "level": "warn", "message": "exited with status 3", "extensionId": "one"}]


async def test_the_claude_protocol(rig: ExtensionRig) -> None:
    guard = script(rig.place, "guard", "cat >/dev/null; echo no >&2; exit 2")
    for phase in ("PreToolUse", "Stop", "SubagentStop"):
        rig.js(phase.lower(), command({"phase": phase, "protocol": "claude", "argv": [guard], "timeoutMs": 30000}))
    user, subagent = await rig.session(), await rig.session(spawned=True)

    assert (await user.fire(proposed())).decision == Block("no")
    assert (await user.fire(ending())).decision == Continue("no")
    assert (await subagent.fire(ending(spawned=True))).decision == Continue("no")
    assert [call.handler.name for call in (*user.calls, *subagent.calls)] == ["pretooluse", "stop", "subagentstop"]
    assert user.calls[0].handler.origin.contract == "claude"


@pytest.mark.parametrize(
    "spec",
    [
        None,
        5,
        {},
        {"phase": "pre_turn"},
        {"phase": "pre_turn", "argv": []},
        {"phase": "pre_turn", "argv": "/bin/true"},
        {"phase": "pre_turn", "argv": ["/bin/true", ""]},
        {"phase": "pre_turn", "argv": ["/bin/true", 1]},
        {"phase": "pre_turn", "argv": ["x"] * 17},
        {"phase": "pre_turn", "argv": ["x" * 8189]},
        {"phase": "pre_turn", "argv": ["é" * 4095]},
        {"phase": "turn_finished", "argv": ["/bin/true"]},
        {"phase": "PRE_TURN", "argv": ["/bin/true"]},
        {"phase": "Stop", "argv": ["/bin/true"]},
        {"phase": "post_tool_use", "protocol": "claude", "argv": ["/bin/true"]},
        {"phase": "pre_turn", "protocol": "shell", "argv": ["/bin/true"]},
        {"phase": "pre_turn", "protocol": None, "argv": ["/bin/true"]},
        *({"phase": "pre_turn", "argv": ["/bin/true"], "timeoutMs": value} for value in (0, -1, 1.5, 30001, "1000", True, None)),
    ],
)
async def test_a_bad_spec_throws_inside_activate(rig: ExtensionRig, spec: Any) -> None:
    rig.js("bad", f"{command(spec)}")
    rig.js("caught", f"try {{ {command(spec)} keep('registered'); }} catch (error) {{ keep(error.message); }}")

    assert await rig.load() == ["vera.command-hooks", "caught"]
    [message] = rig.kept("caught")
    assert message.startswith("registerCommand: ")
    assert (await rig.session()).handlers == []


async def test_limits_are_allowed_to_be_reached(rig: ExtensionRig) -> None:
    rig.js(
        "one",
        command({"phase": "pre_turn", "argv": ["x"] * 16, "timeoutMs": 30000})
        + command({"phase": "pre_turn", "argv": ["x" * 8188]})
        + command({"phase": "turn_ending", "protocol": "claude", "argv": ["x"], "timeoutMs": 1}),
    )

    assert len((await rig.session()).handlers) == 3
