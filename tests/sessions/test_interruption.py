"""Esc at every point of a turn: it stops at once, late results are dropped, the history stays valid and the next turn works."""

import asyncio
from typing import Any

import pytest

from tests.support.nest import HELD, OBSERVE, Deaf, Nest, Prompts, bash, check_answered, says, unnamed
from tests.support.processes import until
from treblehook.agent.models.model import ModelQuery, ModelReply
from treblehook.agent.session import Session
from treblehook.contracts.python import Hooks
from treblehook.host.calls import INTERRUPTED
from treblehook.host.tool import ToolContext, ToolOutput, ToolSpec
from treblehook.lifecycle import (
    Allow,
    BeforeExecute,
    Block,
    ContextAssembled,
    Continue,
    Decision,
    Environment,
    Event,
    Inject,
    ModelRequest,
    ModelResponse,
    PermissionRequest,
    PreToolCall,
    PromptSubmitted,
    Refuse,
    Rewrite,
    ShellGate,
    TaskEnd,
    TaskStart,
    ToolCall,
    ToolFinished,
    ToolProposed,
    ToolRan,
    ToolShown,
    ToolStarted,
    TurnComplete,
    TurnEnding,
)

LATE: list[tuple[type[Event], Decision | None]] = [
    (PromptSubmitted, Block("late")),
    (TaskStart, None),
    (ModelRequest, Block("late")),
    (ContextAssembled, Rewrite(messages=())),
    (ModelResponse, None),
    (ToolProposed, Block("late")),
    (PreToolCall, Rewrite(input={"command": "touch late"})),
    (PermissionRequest, Allow()),
    (ToolStarted, None),
    (BeforeExecute, Environment({"LATE": "1"})),
    (ShellGate, Refuse("late")),
    (ToolFinished, Rewrite(content="late")),
    (ToolRan, None),
    (ToolShown, None),
    (TurnEnding, Continue("late")),
    (TaskEnd, None),
    (TurnComplete, Inject("late")),
]


async def stopped(nest: Nest, session: Session, turn: "asyncio.Task[Any]") -> None:
    """Stop the turn, and see that it is over and that the session goes on, in this life and in the next."""
    await session.interrupt()
    assert turn.done() or (await turn) is not None
    assert (await turn).status == "interrupted"
    check_answered(session.state.conversation.messages)
    nest.before_reply = None
    nest.replies.clear()
    nest.plays(after={"text": "Aye."})

    assert (await session.prompt("still there?")).text == "Aye."

    check_answered(list(nest.queries[-1].messages))
    check_answered(session.state.conversation.messages)


async def resumes(nest: Nest, session: Session) -> None:
    """What the file tells is what the session had."""
    await session.finish("detached")
    again = await nest.open(resume=session.id)
    mine, stored = unnamed(session.state.conversation.messages), unnamed(again.state.conversation.messages)
    assert [(m.role, m.text, m.call_id, [c.id for c in m.calls]) for m in stored] == [
        (m.role, m.text, m.call_id, [c.id for c in m.calls]) for m in mine
    ]


@pytest.mark.parametrize(("kind", "decision"), LATE, ids=lambda value: getattr(value, "__name__", ""))
async def test_esc_while_a_function_is_asked(nest: Nest, kind: type[Event], decision: Decision | None) -> None:
    """One that does not even heed that it is cancelled; what it answers in the next turn's middle counts for nothing."""
    deaf, calls = Deaf(), 0
    hooks = Hooks()

    @hooks.on(kind)
    async def hook(event: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 1:
            await deaf.wait()
            return decision
        return None

    nest.plays(bash("echo hi", text="Looking."), {"text": "Done."})
    session = await nest.open(hooks=hooks)
    turn = asyncio.ensure_future(session.prompt("go"))
    await deaf.reached.wait()

    await stopped(nest, session, turn)

    before, records = list(session.state.conversation.messages), nest.ears.types(without=("hook",))
    deaf.go.set()
    await deaf.ended.wait()
    for _ in range(5):
        await asyncio.sleep(0)
    assert session.state.conversation.messages == before
    assert nest.ears.types(without=("hook",)) == records
    assert not (nest.workspace / "late").exists()
    await resumes(nest, session)


@pytest.mark.parametrize("phase", ["pre_turn", "pre_tool_use", "post_tool_use", "turn_ending"])
async def test_esc_while_an_executable_is_asked(nest: Nest, phase: str) -> None:
    answers = {
        "pre_turn": {"power": "block", "reason": "late"},
        "pre_tool_use": {"power": "block", "reason": "late"},
        "post_tool_use": {"power": "mutate", "patch": {"content": [{"type": "text", "text": "late"}]}},
        "turn_ending": {"power": "continue", "context": "late"},
    }
    nest.hook(phase, "held", HELD + says(answers[phase]))
    nest.plays(bash("echo hi"), {"text": "Done."})
    session = await nest.open()
    turn = asyncio.ensure_future(session.prompt("go"))
    await nest.started("held")
    nest.script("held", OBSERVE)

    await stopped(nest, session, turn)

    nest.release("held")
    assert not any("late" in message.text for message in session.state.conversation.messages)
    await resumes(nest, session)


async def test_what_was_said_before_a_call_that_no_hook_has_passed_stays(nest: Nest) -> None:
    nest.hook("pre_tool_use", "held", HELD + OBSERVE)
    nest.plays(bash("echo hi", text="Looking."))
    session = await nest.open()
    turn = asyncio.ensure_future(session.prompt("go"))
    await nest.started("held")
    nest.script("held", OBSERVE)

    await stopped(nest, session, turn)

    assert [(m.text, m.calls) for m in session.state.conversation.messages[:2]] == [("go", ()), ("Looking.", ())]
    assert b"echo hi" not in nest.on_disk()


async def test_esc_while_the_model_is_asked(nest: Nest) -> None:
    session = await nest.open()
    asked, _ = nest.hold_model()
    turn = asyncio.ensure_future(session.prompt("go"))
    await asked.wait()

    await stopped(nest, session, turn)

    assert [message.text for message in session.state.conversation.messages] == ["go", "still there?", "Aye."]
    await resumes(nest, session)


async def test_esc_while_a_deaf_model_is_asked(nest: Nest) -> None:
    deaf = Deaf()

    async def hold(query: ModelQuery) -> None:
        await deaf.wait()

    nest.before_reply = hold
    nest.replies.append(ModelReply("late"))
    session = await nest.open()
    turn = asyncio.ensure_future(session.prompt("go"))
    await deaf.reached.wait()

    await stopped(nest, session, turn)

    deaf.go.set()
    await deaf.ended.wait()
    await asyncio.sleep(0)
    assert [message.text for message in session.state.conversation.messages] == ["go", "still there?", "Aye."]


async def test_esc_at_the_permission_prompt(nest: Nest) -> None:
    prompts = Prompts(held=True)
    nest.plays(bash("touch late", "true"))
    session = await nest.open(approver=prompts)
    turn = asyncio.ensure_future(session.prompt("go"))
    await prompts.asked.wait()

    await stopped(nest, session, turn)

    prompts.go.set()
    await asyncio.sleep(0)
    assert [m.text for m in session.state.conversation.messages if m.role == "tool"] == [INTERRUPTED, INTERRUPTED]
    assert nest.ears.of("tool_result") == []
    assert not (nest.workspace / "late").exists()
    await resumes(nest, session)


async def test_esc_while_a_tool_runs(nest: Nest) -> None:
    """The first call has its result, the second one runs, the third one never began."""
    nest.recorder("post_tool_use")
    nest.plays(bash("echo one", "touch here; sleep 600; touch late", "touch late"))
    session = await nest.open()
    turn = asyncio.ensure_future(session.prompt("go"))
    await until((nest.workspace / "here").exists)

    await stopped(nest, session, turn)

    assert [m.text for m in session.state.conversation.messages if m.role == "tool"] == ["one\n", INTERRUPTED, INTERRUPTED]
    results = [(record["content"], record["is_error"]) for record in nest.ears.of("tool_result")]
    assert results == [("one\n", False), (INTERRUPTED, True)]
    assert len(nest.ears.of("tool_call")) == len(results)
    assert len(nest.sent("post_tool_use")) == 1
    assert not (nest.workspace / "late").exists()
    await resumes(nest, session)


async def test_esc_at_a_deaf_permission_prompt(nest: Nest) -> None:
    deaf = Deaf()

    class Approver(Prompts):
        async def approve(self, call: ToolCall, spec: ToolSpec, reason: str = "") -> bool:
            await deaf.wait()
            return True

    nest.plays(bash("touch late"))
    session = await nest.open(approver=Approver())
    turn = asyncio.ensure_future(session.prompt("go"))
    await deaf.reached.wait()

    await stopped(nest, session, turn)

    deaf.go.set()
    await deaf.ended.wait()
    await asyncio.sleep(0)
    assert not (nest.workspace / "late").exists()


class DeafTool:
    """A tool that cannot be stopped."""

    spec = ToolSpec(name="deaf", description="Takes its time.", parameters={"type": "object"})

    def __init__(self) -> None:
        self.deaf = Deaf()

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        await self.deaf.wait()
        return ToolOutput("late")


async def test_esc_while_a_deaf_tool_runs(nest: Nest) -> None:
    tool = (await nest.home.tools())["deaf"] = DeafTool()
    nest.plays({"tools": [{"name": "deaf"}]})
    session = await nest.open()
    turn = asyncio.ensure_future(session.prompt("go"))
    await tool.deaf.reached.wait()

    await stopped(nest, session, turn)

    tool.deaf.go.set()
    await tool.deaf.ended.wait()
    await asyncio.sleep(0)
    assert [m.text for m in session.state.conversation.messages if m.role == "tool"] == [INTERRUPTED]
    assert b"late" not in nest.on_disk()
    await resumes(nest, session)


async def test_what_joined_a_stopped_turn_is_given_back(nest: Nest) -> None:
    session = await nest.open()
    asked, _ = nest.hold_model()
    turn = asyncio.ensure_future(session.prompt("go"))
    await asked.wait()
    session.join("and this")

    await session.interrupt()
    await turn

    assert session.left_over() == ["and this"]
    assert session.left_over() == []
    assert not session.join("too late")


async def test_a_caller_that_stops_waiting_stops_the_turn(nest: Nest) -> None:
    session = await nest.open()
    asked, _ = nest.hold_model()
    turn = asyncio.ensure_future(session.prompt("go"))
    await asked.wait()

    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn

    assert not session.busy
    nest.before_reply = None
    assert (await session.prompt("again")).status == "finished"


async def test_an_interruption_of_nothing_is_nothing(nest: Nest) -> None:
    session = await nest.open()
    await session.interrupt()
    assert (await session.prompt("go")).status == "finished"
    await session.interrupt()
    assert (await session.prompt("go")).status == "finished"
