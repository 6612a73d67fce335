"""What goes wrong inside a call: a tool that raises, and being stopped at any point of the way."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.call_rig import CallRig
from treblehook.host.calls import INTERRUPTED
from treblehook.host.permission import Verdict
from treblehook.host.tool import ToolContext, ToolInputInvalid, ToolOutput
from treblehook.lifecycle import (
    BeforeExecute,
    PermissionRequest,
    PreToolCall,
    Replace,
    ShellGate,
    ToolCall,
    ToolFinished,
    ToolGate,
    ToolProposed,
    ToolRan,
    ToolShown,
    ToolStarted,
)
from treblehook.lifecycle.tool_events import ToolEvent


def raises(rig: CallRig, error: BaseException) -> None:
    async def work(arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        raise error

    rig.dig.work = work


@pytest.mark.parametrize("error", [ValueError("no shovel"), AssertionError("no shovel"), asyncio.CancelledError("no shovel")])
async def test_a_tool_that_raises_has_failed_and_its_hooks_are_asked(rig: CallRig, error: BaseException) -> None:
    raises(rig, error)

    outcome = await rig.take("dig")

    assert outcome.content == f"The tool dig failed: {type(error).__name__}: no shovel"
    assert (outcome.is_error, outcome.ran) == (True, True)
    assert rig.log[-4:] == ["ToolFinished", "ToolRan", "ToolShown", "tells"]


async def test_an_input_that_does_not_fit_is_told_in_the_tools_words(rig: CallRig) -> None:
    raises(rig, ToolInputInvalid("`place` is missing"))

    outcome = await rig.take("dig")

    assert (outcome.content, outcome.is_error) == ("`place` is missing", True)


@pytest.mark.parametrize(
    ("problem", "text"),
    [(ToolInputInvalid("`command` is missing"), "`command` is missing"), (OSError("no shell"), "The tool shell failed: OSError: no shell")],
)
async def test_a_command_that_cannot_be_prepared_has_failed(rig: CallRig, problem: Exception, text: str) -> None:
    rig.shell.fails = problem

    outcome = await rig.take("shell", command="ls")

    assert (outcome.content, outcome.is_error) == (text, True)
    assert "ToolGate" in rig.log
    assert "ShellRan" not in rig.log
    assert rig.shell.ran == []


async def test_what_is_no_exception_goes_through(rig: CallRig) -> None:
    class Outside(BaseException):
        pass

    raises(rig, Outside())

    with pytest.raises(Outside):
        await rig.take("dig")


# Being stopped


class Gate:
    """Something that waits, once it is reached, until it is told to go."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.go = asyncio.Event()

    async def wait(self, *_: Any) -> Any:
        self.reached.set()
        await self.go.wait()

    async def deaf(self, *_: Any) -> Any:
        """Wait on, whoever asks to stop."""
        self.reached.set()
        while not self.go.is_set():
            try:
                await self.go.wait()
            except asyncio.CancelledError:
                continue


async def stop(rig: CallRig, gate: Gate, tool: str = "dig") -> None:
    """Take a call, stop it when it has reached the gate, and then let whoever was left behind go."""
    task = asyncio.ensure_future(rig.take(tool, command="ls"))
    await gate.reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    log = list(rig.log)
    gate.go.set()
    for _ in range(20):
        await asyncio.sleep(0)
    assert rig.log == log


BEFORE = [ToolProposed, PreToolCall, PermissionRequest, ToolStarted]
AFTER = [BeforeExecute, ToolGate, ToolFinished, ToolRan, ToolShown]
WAYS: list[Callable[[Gate], Any]] = [lambda gate: gate.wait, lambda gate: gate.deaf]


@pytest.mark.parametrize("way", WAYS, ids=["heeds", "deaf"])
@pytest.mark.parametrize("row", BEFORE)
async def test_a_call_stopped_before_it_was_announced_says_nothing(rig: CallRig, row: type[ToolEvent], way: Callable[[Gate], Any]) -> None:
    gate = Gate()
    rig.verdict_of = lambda call: Verdict("ask")
    rig.on(row, way(gate))

    await stop(rig, gate)

    assert (rig.announced, rig.told) == ([], [])
    assert "runs" not in rig.log


@pytest.mark.parametrize("way", WAYS, ids=["heeds", "deaf"])
@pytest.mark.parametrize("row", AFTER)
async def test_an_announced_call_is_told_as_over(rig: CallRig, row: type[ToolEvent], way: Callable[[Gate], Any]) -> None:
    gate = Gate()
    rig.on(row, way(gate))

    await stop(rig, gate)

    ((outcome, _),) = rig.told
    assert (outcome.content, outcome.is_error) == (INTERRUPTED, True)
    assert len(rig.announced) == 1


@pytest.mark.parametrize("way", WAYS, ids=["heeds", "deaf"])
async def test_a_stopped_tool_is_left_behind(rig: CallRig, way: Callable[[Gate], Any]) -> None:
    gate = Gate()
    rig.dig.work = way(gate)

    await stop(rig, gate)

    assert rig.log[-1] == "tells"
    assert rig.told[0][0].content == INTERRUPTED


async def test_a_prompt_that_nobody_answers_can_be_stopped(rig: CallRig) -> None:
    gate = Gate()
    rig.verdict_of = lambda call: Verdict("ask")
    rig.approves = gate.wait

    await stop(rig, gate)

    assert rig.told == []


async def test_a_stopped_replacement_did_not_run(rig: CallRig) -> None:
    gate = Gate()
    rig.on(ToolProposed, Replace("no need"))
    rig.on(ToolFinished, gate.wait)

    await stop(rig, gate)

    ((outcome, _),) = rig.told
    assert not outcome.ran


async def test_a_stopped_gate_does_not_let_the_call_run_later(rig: CallRig) -> None:
    gate = Gate()
    rig.on(ShellGate, gate.wait)

    await stop(rig, gate, "shell")

    assert rig.shell.ran == []


async def test_the_next_call_is_not_disturbed(rig: CallRig) -> None:
    gate = Gate()
    hook = rig.on(BeforeExecute, gate.deaf)
    await stop(rig, gate)
    rig.registry.remove(hook)

    outcome = await rig.path.run(await rig.path.propose(ToolCall("c2", "dig", {}), frozenset({"dig"})))

    assert outcome.ran
