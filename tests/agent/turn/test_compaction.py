"""Row 9: who is asked before a conversation is shortened, and who may do it."""

from typing import Any

from tests.support.nest import Nest, bash, check_answered, texts
from tests.support.rows import Rows
from treblehook.lifecycle import (
    AddContext,
    CompactionStarting,
    ContextFull,
    Message,
    PromptSubmitted,
    ReplaceContext,
    SessionStart,
    ToolCall,
)

FULL = {"usage": {"input": 90_000, "output": 1_000}}
WINDOW = "[model]\ncontext_window = 100000\n"


def digs(nest: Nest, **more: Any) -> None:
    nest.settings(WINDOW)
    nest.plays(bash("echo sand"), bash("echo gold", text="I dig.") | FULL, {"text": "Found."}, **{"aux": {"text": "It was sand."}, **more})


async def test_the_rows_of_a_compaction_in_the_middle_of_a_turn(nest: Nest, rows: Rows) -> None:
    digs(nest)
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("dig")

    at = rows.log().index("CompactionStarting")
    assert rows.log()[at - 1 : at + 4] == [
        "ModelResponse",
        "CompactionStarting",
        "ContextFull",
        "SessionStart",
        "ToolProposed echo gold",
    ]
    starting, full = rows.only(CompactionStarting), rows.only(ContextFull)
    assert (starting.reason, starting.tokens, starting.capacity) == ("automatic", 91_000, 100_000)
    assert (full.tokens, full.ratio) == (91_000, 0.91)
    # Nobody has configured how a summary is to be made.
    assert (full.model, full.system_prompt) == (None, None)
    assert [message.role for message in full.messages] == ["user", "assistant", "tool"]
    assert rows.of(SessionStart)[1].reason == "compacted"
    check_answered(session.state.conversation.messages)


async def test_a_hook_may_replace_the_conversation_and_no_summary_is_asked_for(nest: Nest, rows: Rows) -> None:
    digs(nest)
    rows.on(ContextFull, ReplaceContext((Message("user", "Dig on."),)))
    rows.on(ContextFull, ReplaceContext((Message("user", "too late"),)))
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("dig")

    assert len(nest.queries) == 3
    assert [(m.role, m.text) for m in nest.queries[-1].messages] == [("user", "Dig on."), ("assistant", "I dig."), ("tool", "gold\n")]
    await session.finish("detached")
    resumed = await nest.open(resume=session.id)
    assert resumed.state.conversation.messages[0].text == "Dig on."


async def test_an_empty_replacement_is_none(nest: Nest, rows: Rows) -> None:
    digs(nest)
    rows.on(ContextFull, ReplaceContext(()))
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("dig")

    assert texts(nest.queries[-1])[0].endswith("It was sand.")


async def test_a_replacement_with_half_a_call_is_none(nest: Nest, rows: Rows) -> None:
    digs(nest)
    half = Message("assistant", "", calls=(ToolCall("c1", "bash", {"command": "ls"}),))
    rows.on(ContextFull, ReplaceContext((Message("user", "Dig on."), half)))
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("dig")

    assert texts(nest.queries[-1])[0].endswith("It was sand.")
    check_answered(session.state.conversation.messages)


async def test_what_this_turn_was_asked_stays_as_it_is(nest: Nest, rows: Rows) -> None:
    digs(nest)
    rows.on(PromptSubmitted, AddContext("under a palm"))
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("dig", "deep")

    summary, *rest = texts(nest.queries[-1])
    assert summary.endswith("It was sand.")
    assert rest == ["dig", "deep", "under a palm", "under a palm"]


async def test_a_delivered_result_stays_as_it_is_in_the_turn_that_it_started(nest: Nest, rows: Rows) -> None:
    digs(nest)
    session = await nest.open(hooks=rows.hooks)
    session.deliver(Message("user", "found a chest", source="subagent"))

    await session.prompt()

    assert texts(nest.queries[-1])[1:] == ["found a chest"]


async def test_a_conversation_that_cannot_get_shorter_is_not_compacted_over_and_over(nest: Nest, rows: Rows) -> None:
    nest.settings("[model]\ncontext_window = 2000\n")
    full = {"usage": {"input": 1900, "output": 10}}
    nest.plays(bash("echo 1") | full, bash("echo 2") | full, bash("echo 3") | full, {"text": "Done."}, aux={"text": "short"})
    session = await nest.open(hooks=rows.hooks)

    end = await session.prompt("x" * 20_000)

    assert end.text == "Done."
    assert len(rows.of(CompactionStarting)) == 1
