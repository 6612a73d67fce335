"""Rows 4, 8, 18 and 19: a turn as a task, its seed, its artifacts, how often it is reopened, and what is held for the next prompt."""

from typing import Any

import pytest

from tests.support.nest import Nest, bash, texts
from tests.support.rows import Rows
from treblehook.agent.policy import Policy
from treblehook.lifecycle import (
    AddContext,
    Artifact,
    Block,
    ContextAssembled,
    Continue,
    Decision,
    Inject,
    Message,
    ModelResponse,
    PromptSubmitted,
    Reopen,
    Replace,
    SeedContext,
    TaskEnd,
    TaskStart,
    ToolProposed,
    TurnComplete,
    TurnEnding,
)

MAP = Message("user", "Here is the map.")
RHYME = Message("assistant", "Fifteen men.")


# The seed


async def test_a_seed_stands_at_the_head_of_the_task(nest: Nest, rows: Rows) -> None:
    nest.plays({"text": "One."}, {"text": "Two."})
    rows.on(TaskStart, lambda event: SeedContext((MAP, RHYME)) if len(rows.of(TaskStart)) == 2 else None)
    rows.on(PromptSubmitted, AddContext("context"))
    session = await nest.open(hooks=rows.hooks)
    await session.prompt("first")

    await session.prompt("second")

    said = [(message.role, message.text) for message in nest.queries[-1].messages]
    assert said[2:] == [
        ("assistant", "One."),
        ("user", MAP.text),
        ("assistant", RHYME.text),
        ("user", "second"),
        ("user", "context"),
    ]


async def test_the_first_seed_counts_and_is_there_after_a_resume(nest: Nest, rows: Rows) -> None:
    nest.plays({"text": "One."}, {"text": "Two."})
    rows.on(TaskStart, SeedContext((MAP,)))
    rows.on(TaskStart, SeedContext((RHYME,)))
    session = await nest.open(hooks=rows.hooks)
    await session.prompt("first")
    await session.finish("detached")

    resumed = await nest.open(resume=session.id)
    await resumed.prompt("second")

    assert texts(nest.queries[-1]) == [MAP.text, "first", "second"]


async def test_what_a_task_is_told_of_its_start(nest: Nest, rows: Rows) -> None:
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("grün", "x")

    start, end = rows.only(TaskStart), rows.only(TaskEnd)
    assert (start.source, start.input_bytes) == ("prompt", len("grün\n\nx".encode()))
    assert start.task == end.task
    assert end.exit_status == "ok"


async def test_each_turn_is_a_task_of_its_own(nest: Nest, rows: Rows) -> None:
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("one")
    await session.prompt("two")
    session.deliver(Message("user", "found it", source="subagent"))
    await session.prompt()

    tasks = [event.task for event in rows.of(TaskStart)]
    assert len(set(tasks)) == 3
    assert [event.task for event in rows.of(TaskEnd)] == tasks


# Artifacts


async def test_artifacts_are_records(nest: Nest, rows: Rows) -> None:
    nest.plays(bash("echo 1", text="I dig."), {"text": "Done."})
    rows.on(ModelResponse, lambda event: Artifact(f"heard {event.text}"), name="scribe")
    rows.on(ModelResponse, Artifact("always"), name="clock")
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("dig")

    assert [(record["hook"], record["content"]) for record in nest.ears.of("artifact")] == [
        ("scribe", "heard I dig."),
        ("clock", "always"),
        ("scribe", "heard Done."),
        ("clock", "always"),
    ]


# Reopening


async def test_a_reopened_task_starts_afresh_with_the_feedback(nest: Nest, rows: Rows) -> None:
    afresh = {"match": "there is no chest", "where": "any", "turns": [{"text": "Really done."}]}
    nest.plays(bash("echo sand"), {"text": "Done."}, routes=[afresh])
    rows.on(TaskStart, SeedContext((MAP,)))
    rows.on(PromptSubmitted, AddContext("under a palm"))
    rows.on(TaskEnd, lambda event: Reopen("there is no chest") if len(rows.of(TaskEnd)) == 1 else None, name="captain")
    session = await nest.open(hooks=rows.hooks)

    end = await session.prompt("dig")

    assert (end.status, end.text) == ("finished", "Really done.")
    attempt = rows.log()[rows.log().index("TaskEnd") + 1 :]
    assert attempt == ["ModelRequest", "ContextAssembled", "ModelResponse", "TurnEnding", "TaskEnd", "TurnComplete"]
    assert nest.ears.rows()[-1] == "captain reopened the task"
    assert [(m.role, m.text) for m in rows.of(ContextAssembled)[1].messages] == [
        ("user", MAP.text),
        ("user", "dig"),
        ("user", "under a palm"),
        ("user", "there is no chest"),
    ]
    assert rows.only(TurnComplete).outcome == "completed"


async def test_beyond_its_budget_a_reopened_task_has_failed(nest: Nest, rows: Rows) -> None:
    nest.plays({"text": "Done."}, {"text": "Done again."})
    rows.on(TaskEnd, Reopen("there is no chest"), name="captain")
    session = await nest.open(hooks=rows.hooks)

    end = await session.prompt("dig")

    assert end.status == "failed"
    assert "captain" in end.reason
    assert "there is no chest" in end.reason
    assert [event.exit_status for event in rows.of(TaskEnd)] == ["ok"] * (session.state.policy.max_reopens + 1)
    assert rows.only(TurnComplete).outcome == "error"


async def test_the_first_wish_to_reopen_counts_and_all_are_asked(nest: Nest, rows: Rows) -> None:
    nest.plays({"text": "Done."}, {"text": "Done again."})
    rows.on(TaskEnd, lambda event: Reopen("first") if len(rows.of(TaskEnd)) == 1 else None)
    rows.on(TaskEnd, lambda event: Reopen("second") if len(rows.of(TaskEnd)) == 1 else None)
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("dig")

    assert texts(nest.queries[-1]) == ["dig", "first"]


async def test_a_task_that_failed_is_not_reopened(nest: Nest, rows: Rows) -> None:
    nest.plays({"status": 400})
    rows.on(TaskEnd, Reopen("try again"))
    session = await nest.open(hooks=rows.hooks)

    assert (await session.prompt("dig")).status == "failed"
    assert rows.only(TaskEnd).exit_status == "failed"


async def test_a_reopen_keeps_the_budget_of_continuations(nest: Nest, rows: Rows) -> None:
    nest.plays({"text": "1"}, {"text": "2"}, {"text": "3"})
    rows.on(TurnEnding, Continue("draw the map"))
    rows.on(TaskEnd, lambda event: Reopen("again") if len(rows.of(TaskEnd)) == 1 else None)
    session = await nest.open(hooks=rows.hooks)

    end = await session.prompt("dig")

    assert [event.continuations for event in rows.of(TurnEnding)] == [0, 1, 1]
    assert end.text == rows.of(TurnEnding)[-1].reply
    assert len(nest.queries) == 3


async def test_a_reopened_session_is_resumed_as_it_was(nest: Nest, rows: Rows) -> None:
    nest.plays(bash("echo sand"), {"text": "Done."})
    rows.on(TaskEnd, lambda event: Reopen("no chest") if len(rows.of(TaskEnd)) == 1 else None)
    session = await nest.open(hooks=rows.hooks)
    await session.prompt("dig")
    before = [(message.role, message.text) for message in session.state.conversation.messages]
    await session.finish("detached")

    resumed = await nest.open(resume=session.id)

    assert [(message.role, message.text) for message in resumed.state.conversation.messages] == before


# What is held for the next prompt


@pytest.mark.parametrize(("position", "text"), [("user_prefix", "Listen.\n\nnext"), ("user_suffix", "next\n\nListen.")])
async def test_held_text_joins_the_next_prompt_before_hooks_see_it(nest: Nest, rows: Rows, position: Any, text: str) -> None:
    nest.plays({"text": "1"}, {"text": "2"}, {"text": "3"})
    rows.on(TurnComplete, lambda event: Inject("Listen.", position) if event.turns == 1 else None)
    session = await nest.open(hooks=rows.hooks)

    for prompt in ("first", "next", "last"):
        await session.prompt(prompt)

    assert [event.prompt for event in rows.of(PromptSubmitted)] == ["first", text, "last"]
    assert [record["text"] for record in nest.ears.of("prompt")] == ["first", text, "last"]
    assert texts(nest.queries[-1]) == ["first", text, "last"]


async def test_the_last_hook_that_holds_text_wins(nest: Nest, rows: Rows) -> None:
    rows.on(TurnComplete, lambda event: Inject("one") if event.turns == 1 else None)
    rows.on(TurnComplete, lambda event: Inject("two") if event.turns == 1 else None)
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("first")
    await session.prompt("next")

    assert rows.of(PromptSubmitted)[1].prompt == "two\n\nnext"


async def test_an_empty_text_is_held_too_and_adds_nothing(nest: Nest, rows: Rows) -> None:
    rows.on(TurnComplete, lambda event: Inject("one") if event.turns == 1 else None)
    rows.on(TurnComplete, lambda event: Inject("") if event.turns == 1 else None)
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("first")
    await session.prompt("next")

    assert rows.of(PromptSubmitted)[1].prompt == "next"


async def test_held_text_waits_for_the_user_through_a_delivery(nest: Nest, rows: Rows) -> None:
    rows.on(TurnComplete, lambda event: Inject("Listen.") if len(rows.of(TurnComplete)) == 1 else None)
    session = await nest.open(hooks=rows.hooks)
    await session.prompt("first")
    session.deliver(Message("user", "found it", source="subagent"))

    await session.prompt()
    await session.prompt("next", "and more")

    assert [event.prompt for event in rows.of(PromptSubmitted)] == ["first", "Listen.\n\nnext", "and more"]


# Ending early


async def test_terminating_calls_end_the_turn_when_all_of_the_batch_ask_for_it(nest: Nest, rows: Rows) -> None:
    nest.plays(bash("one", "two"), bash("three", "four"), {"text": "never"})
    ends = {
        "one": Replace("1", terminate=True),
        "two": Replace("2"),
        "three": Replace("3", terminate=True),
        "four": Replace("4", terminate=True),
    }
    rows.on(ToolProposed, lambda event: ends[event.call.input["command"]])
    session = await nest.open(hooks=rows.hooks)

    end = await session.prompt("dig")

    assert end.status == "finished"
    assert len(nest.queries) == 2
    assert rows.of(TurnEnding) == []
    assert (rows.only(TaskEnd).exit_status, rows.only(TurnComplete).outcome) == ("ok", "completed")


async def test_a_blocked_sibling_keeps_the_turn_going(nest: Nest, rows: Rows) -> None:
    nest.plays(bash("one", "two"), {"text": "Done."})
    ends: dict[str, Decision] = {"one": Replace("1", terminate=True), "two": Block("no")}
    rows.on(ToolProposed, lambda event: ends[event.call.input["command"]])
    session = await nest.open(hooks=rows.hooks)

    assert (await session.prompt("dig")).text == "Done."


async def test_a_model_that_never_stops_is_stopped(nest: Nest, rows: Rows) -> None:
    nest.plays(after=bash("echo 1"))
    session = await nest.open(hooks=rows.hooks)
    session.state.policy = Policy(max_requests=3)

    end = await session.prompt("dig")

    assert (end.status, end.reason) == ("failed", "stopped after 3 requests in one turn")
    assert len(nest.queries) == 3
    assert rows.only(TaskEnd).exit_status == "max_turns_reached"
    assert (await session.prompt("again")).reason == end.reason
