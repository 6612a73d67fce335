"""Rows 6 and 7: what hooks make of a request, and for how long it stands."""

from msgspec.structs import replace

from tests.support.hooks import stub
from tests.support.nest import Nest, bash
from tests.support.rows import Rows
from treblehook.engine import Tier
from treblehook.lifecycle import (
    AddContext,
    Block,
    ContextAssembled,
    Decision,
    Event,
    Message,
    ModelRequest,
    ModelResponse,
    PromptSubmitted,
    Rewrite,
)


def said(nest: Nest) -> list[list[str]]:
    """The texts of the user's and the tools' side, request by request."""
    return [[message.text for message in query.messages if message.role in ("user", "tool")] for query in nest.queries]


async def test_each_request_starts_from_the_original_prompt(nest: Nest, rows: Rows) -> None:
    nest.plays(bash("echo 1"), bash("echo 2"), {"text": "Done."})
    rows.on(ModelRequest, lambda event: Rewrite(prompt=f"{event.prompt}!"))
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("dig")

    assert [event.prompt for event in rows.of(ModelRequest)] == ["dig"] * 3
    assert [texts[0] for texts in said(nest)] == ["dig!"] * 3
    # What was said stays what was said.
    assert session.state.conversation.messages[0].text == "dig"


async def test_hooks_of_one_request_see_what_those_before_made(nest: Nest, rows: Rows) -> None:
    rows.on(ModelRequest, lambda event: Rewrite(prompt=f"{event.prompt} deep"))
    rows.on(ModelRequest, lambda event: Rewrite(prompt=f"{event.prompt} and wide"))
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("dig")

    assert said(nest) == [["dig deep and wide"]]


async def test_the_context_is_assembled_once_a_turn_and_what_comes_out_stands(nest: Nest, rows: Rows) -> None:
    nest.plays(bash("echo 1"), bash("echo 2"), {"text": "Done."}, {"text": "Again."})
    chart = Message("system", "Here be dragons.")

    def add_chart(event: ContextAssembled) -> Decision:
        return Rewrite(messages=(chart, *event.messages))

    rows.on(ContextAssembled, add_chart)
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("dig")

    assert len(rows.of(ContextAssembled)) == 1
    assert all(query.messages[0] == chart for query in nest.queries)
    assert said(nest) == [["dig"], ["dig", "1\n"], ["dig", "1\n", "2\n"]]
    assert chart not in session.state.conversation.messages

    await session.prompt("dig more")

    assert len(rows.of(ContextAssembled)) == 2
    assert [message.text for message in rows.of(ContextAssembled)[1].messages if message.role == "user"] == ["dig", "dig more"]


async def test_what_a_hook_left_out_stays_out_for_the_turn(nest: Nest, rows: Rows) -> None:
    nest.plays(bash("echo 1"), {"text": "Done."}, {"text": "Again."})

    def drop_secret(event: ContextAssembled) -> Decision:
        return Rewrite(messages=tuple(m for m in event.messages if "secret" not in m.text))

    rows.on(PromptSubmitted, lambda event: AddContext("the secret") if event.prompt == "dig" else None)
    rows.on(ContextAssembled, drop_secret)
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("dig")

    assert said(nest) == [["dig"], ["dig", "1\n"]]


async def test_row_6_replaces_the_prompt_in_the_list_that_row_7_made(nest: Nest, rows: Rows) -> None:
    nest.plays(bash("echo 1"), {"text": "Done."})
    rows.on(ModelRequest, lambda event: Rewrite(prompt=f"{event.prompt} ({len(rows.of(ModelRequest))})"))
    rows.on(ContextAssembled, lambda event: Rewrite(messages=(Message("user", "Listen."), *event.messages)))
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("dig")

    assert said(nest) == [["Listen.", "dig (1)"], ["Listen.", "dig (2)", "1\n"]]
    # Row 7 sees what the user said.
    assert [message.text for message in rows.only(ContextAssembled).messages] == ["dig"]


async def test_a_prompt_that_row_7_has_taken_out_does_not_come_back(nest: Nest, rows: Rows) -> None:
    rows.on(ModelRequest, Rewrite(prompt="dig deep"))
    rows.on(ContextAssembled, Rewrite(messages=(Message("user", "Do nothing."),)))
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("dig")

    assert said(nest) == [["Do nothing."]]


async def test_a_prompt_that_joined_does_not_undo_what_was_made_of_the_first(nest: Nest, rows: Rows) -> None:
    nest.plays(bash("echo 1"), bash("echo 2"), {"text": "Done."})
    rows.on(ModelRequest, lambda event: Rewrite(prompt=event.prompt.replace("hunter2", "***")))
    session = await nest.open(hooks=rows.hooks)

    def join(event: Event) -> None:
        if len(rows.of(ModelResponse)) == 1:
            session.join("hunter2 again")

    session.state.dispatcher.registry.add(stub(ModelResponse, join, tier=Tier.SESSION))

    await session.prompt("dig with hunter2")

    assert [event.prompt for event in rows.of(ModelRequest)] == ["dig with hunter2", "hunter2 again", "hunter2 again"]
    assert "hunter2" not in str(said(nest))
    assert said(nest)[-1] == ["dig with ***", "1\n", "*** again", "2\n"]


async def test_row_7_is_asked_again_after_a_compaction(nest: Nest, rows: Rows) -> None:
    nest.settings("[model]\ncontext_window = 100000\n")
    full = {"usage": {"input": 90_000, "output": 0}}
    nest.plays(bash("echo 1"), bash("echo 2") | full, {"text": "Done."}, aux={"text": "It was sand."})
    rows.on(ContextAssembled, lambda event: Rewrite(messages=(Message("user", f"list {len(rows.of(ContextAssembled))}"), *event.messages)))
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("dig")

    first, second, summary, last = said(nest)
    assert (first[0], second[0], last[0]) == ("list 1", "list 1", "list 2")
    assert "list 1" not in summary
    again = rows.of(ContextAssembled)[1].messages
    assert [message.role for message in again] == ["user", "user", "assistant", "tool"]
    assert again[0].text.endswith("It was sand.")
    assert again[1].text == "dig"


async def test_a_block_at_row_6_or_7_ends_the_turn_without_a_request(nest: Nest) -> None:
    for kind in (ModelRequest, ContextAssembled):
        rows = Rows()
        rows.on(kind, Block("enough"), name="miser")
        nest.ears.records.clear()
        session = await nest.open(hooks=rows.hooks)

        end = await session.prompt("dig")

        assert (end.status, end.reason) == ("blocked", "enough")
        assert nest.ears.rows() == [f"{kind.__name__} blocked this turn: enough"]
        assert not rows.of(ModelResponse)
    assert nest.queries == []


async def test_a_block_in_the_middle_keeps_what_was_done(nest: Nest, rows: Rows) -> None:
    nest.plays(bash("echo 1"), {"text": "Done."}, {"text": "Again."})
    rows.on(ModelRequest, lambda event: Block("enough") if len(rows.of(ModelRequest)) == 2 else None)
    session = await nest.open(hooks=rows.hooks)

    assert (await session.prompt("dig")).status == "blocked"
    assert (await session.prompt("go on")).status == "finished"

    assert said(nest)[-1] == ["dig", "1\n", "go on"]


async def test_a_delivery_has_no_prompt_to_rewrite(nest: Nest, rows: Rows) -> None:
    rows.on(ModelRequest, lambda event: Rewrite(prompt="made up"))
    session = await nest.open(hooks=rows.hooks)
    session.deliver(Message("user", "found it", source="subagent"))

    await session.prompt()

    assert rows.only(ModelRequest).prompt == ""
    assert said(nest) == [["found it"]]
    assert replace(session.state.conversation.messages[0], id="") == Message("user", "found it", source="subagent")


async def test_without_a_word_of_row_6_the_prompt_is_as_row_7_made_it(nest: Nest, rows: Rows) -> None:
    rows.on(ContextAssembled, lambda event: Rewrite(messages=tuple(replace(m, text=m.text.upper()) for m in event.messages)))
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("dig")

    assert said(nest) == [["DIG"]]


async def test_a_message_of_a_hook_is_no_prompt(nest: Nest, rows: Rows) -> None:
    rows.on(ModelRequest, Rewrite(prompt="made up"))
    rows.on(ContextAssembled, lambda event: Rewrite(messages=(Message("user", "Listen."), *event.messages)))
    session = await nest.open(hooks=rows.hooks)
    session.deliver(Message("user", "found it", source="subagent"))

    await session.prompt()

    assert said(nest) == [["Listen.", "found it"]]
