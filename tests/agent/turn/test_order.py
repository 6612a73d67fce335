"""One turn, and every row in its order."""

from tests.support.nest import Nest, bash
from tests.support.rows import Rows
from treblehook.lifecycle import Block, ModelRequest, ModelResponse, PromptSubmitted, Replace, ToolProposed, TurnComplete, TurnEnding

OPENED = ["SessionStart", "PromptSubmitted", "TaskStart"]
ASKED = ["ModelRequest", "ModelResponse"]
ENDED = ["TurnEnding", "TaskEnd", "TurnComplete"]


def call(command: str) -> list[str]:
    """The rows of one command that runs, but for the first."""
    before = ["PreToolCall", "PermissionRequest", "ToolStarted", "BeforeExecute", "ShellGate"]
    return [f"{row} {command}" for row in [*before, "ToolFinished", "ToolRan", "ShellRan", "ToolShown"]]


async def test_every_row_of_a_turn_in_its_order(nest: Nest, rows: Rows) -> None:
    nest.plays(bash("echo 1", "echo 2"), {"text": "Done."})
    session = await nest.open(hooks=rows.hooks)

    end = await session.prompt("dig")
    await session.finish("closed", end)

    assert rows.log() == [
        *OPENED,
        "ModelRequest",
        "ContextAssembled",
        "ModelResponse",
        "ToolProposed echo 1",
        "ToolProposed echo 2",
        *call("echo 1"),
        *call("echo 2"),
        *ASKED,
        *ENDED,
        "SessionEnd",
    ]
    assert {event.session for event in rows.events} == {session.id}
    assert {event.workspace for event in rows.events} == {str(nest.workspace)}


async def test_a_call_settled_at_its_first_row_does_not_hold_up_its_siblings(nest: Nest, rows: Rows) -> None:
    nest.plays(bash("echo 1", "echo 2", "echo 3"), {"text": "Done."})
    settle = {"echo 1": Block("no"), "echo 2": Replace("two")}
    rows.on(ToolProposed, lambda event: settle.get(event.call.input["command"]))
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("dig")

    proposed = [f"ToolProposed echo {number}" for number in (1, 2, 3)]
    told = ["ToolFinished echo 2", "ToolShown echo 2", *call("echo 3")]
    assert [name for name in rows.log() if "echo" in name] == [*proposed, *told]
    assert [(record["content"], record["ran"]) for record in nest.ears.of("tool_result")] == [
        ("no", False),
        ("two", False),
        ("3\n", True),
    ]


async def test_the_second_turn_of_a_session_starts_at_the_prompt(nest: Nest, rows: Rows) -> None:
    nest.plays({"text": "One."}, {"text": "Two."})
    session = await nest.open(hooks=rows.hooks)
    await session.prompt("dig")
    rows.events.clear()

    await session.prompt("dig more")

    assert rows.log() == ["PromptSubmitted", "TaskStart", "ModelRequest", "ContextAssembled", "ModelResponse", *ENDED]


async def test_what_the_rows_are_told_of_a_turn(nest: Nest, rows: Rows) -> None:
    nest.plays(
        bash("echo 1", text="I dig.") | {"usage": {"input": 20, "output": 3}}, {"text": "Done.", "usage": {"input": 30, "output": 2}}
    )
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("dig")

    first, second = rows.of(ModelResponse)
    assert (first.turn, first.text, first.decision, first.tool) == (0, "I dig.", "tool_call", "bash")
    assert (first.input_tokens, first.output_tokens, first.model) == (20, 3, session.state.model.spec)
    assert (second.turn, second.text, second.decision, second.tool) == (1, "Done.", "end_turn", None)
    assert '"echo 1"' in str(first.output)
    assert '"dig"' in str(first.prompt)
    assert '"bash"' in str(first.tools)
    ending = rows.only(TurnEnding)
    assert (ending.prompt, ending.reply, ending.continuations) == ("dig", "Done.", 0)
    complete = rows.only(TurnComplete)
    assert (complete.outcome, complete.turns, complete.prompt, complete.reply) == ("completed", 1, "dig", "I dig.\n\nDone.")


async def test_a_blocked_prompt_starts_no_task(nest: Nest, rows: Rows) -> None:
    rows.on(PromptSubmitted, Block("not now"))
    session = await nest.open(hooks=rows.hooks)

    end = await session.prompt("dig")

    assert (end.status, end.reason) == ("blocked", "not now")
    assert rows.log() == ["SessionStart", "PromptSubmitted", "TurnComplete"]
    assert rows.only(TurnComplete).outcome == "error"
    assert nest.queries == []


async def test_a_blocked_request_ends_the_task_that_has_begun(nest: Nest, rows: Rows) -> None:
    rows.on(ModelRequest, Block("the provider is asleep"))
    session = await nest.open(hooks=rows.hooks)

    end = await session.prompt("dig")

    assert (end.status, end.reason) == ("blocked", "the provider is asleep")
    assert rows.log() == [*OPENED, "ModelRequest", "TaskEnd", "TurnComplete"]
    assert nest.queries == []


async def test_a_failed_model_ends_the_task_and_the_turn(nest: Nest, rows: Rows) -> None:
    nest.plays({"status": 400, "error": "no such island"})
    session = await nest.open(hooks=rows.hooks)

    end = await session.prompt("dig")

    assert end.status == "failed"
    assert rows.log() == [*OPENED, "ModelRequest", "ContextAssembled", "TaskEnd", "TurnComplete"]
    assert rows.only(TurnComplete).outcome == "error"
