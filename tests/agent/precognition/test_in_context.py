"""Where the block stands in what the model is sent, for how long, and what is left of it afterwards."""

from msgspec.structs import replace

from tests.agent.precognition.sent import bind, block, titles
from tests.support.contract_stubs import lua
from tests.support.hooks import stub
from tests.support.nest import Nest, bash
from tests.support.rows import Rows
from tests.support.shelf import Shelf, found
from treblehook.agent.session import Session
from treblehook.engine import Tier
from treblehook.lifecycle import ContextAssembled, Decision, Message, NotesChosen, RenderNotes, Rewrite

PUT_BACK = "a hook made the context anew without the notes; they are in front of it again"


async def test_it_is_the_first_message_of_every_request_of_its_turn(nest: Nest, session: Session) -> None:
    nest.plays(bash("echo 1"), bash("echo 2"), {"text": "Done."})

    await session.prompt("where?")

    assert [titles(nest, request) for request in range(3)] == [["Palm", "Chest", "Crow"]] * 3


async def test_the_next_turn_has_its_own_block_and_not_the_last_ones(nest: Nest, session: Session, shelf: Shelf) -> None:
    await session.prompt("where?")
    shelf.found = [found("Anchor")]
    await session.prompt("and the anchor?")
    shelf.found = []
    await session.prompt("thanks")

    assert titles(nest, 1) == ["Anchor"]
    assert block(nest, 2) is None


async def test_it_is_no_part_of_the_conversation_and_a_resume_does_not_bring_it_back(nest: Nest, session: Session) -> None:
    await session.prompt("where?")
    assert [message.role for message in session.state.conversation.messages] == ["user", "assistant"]
    await session.finish("closed")

    resumed = await nest.open(resume=session.id)
    await resumed.prompt("go on")

    assert block(nest) is None
    assert [message.text for message in nest.queries[-1].messages] == ["where?", "Reply 0.", "go on"]


async def test_a_compaction_does_not_summarise_it_and_the_turn_keeps_it(nest: Nest, rows: Rows, shelf: Shelf) -> None:
    nest.settings("[model]\ncontext_window = 100000\n")
    full = {"usage": {"input": 90_000, "output": 0}}
    nest.plays(bash("echo 1") | full, {"text": "Done."}, aux={"text": "It was sand."})
    session = await nest.open(hooks=rows.hooks)
    shelf.put_up(session)

    await session.prompt("where?")

    assert block(nest, 1) is None
    assert titles(nest, 0) == titles(nest, 2) == ["Palm", "Chest", "Crow"]
    assert len(shelf.asked) == 1


async def test_the_context_hooks_see_it_first_and_marked(session: Session, rows: Rows) -> None:
    await session.prompt("where?")

    first, *others = rows.only(ContextAssembled).messages
    assert (first.role, first.tags) == ("system", ("precognition",))
    assert [message.text for message in others] == ["where?"]


async def test_a_list_without_it_gets_it_back_after_both_registries(nest: Nest, session: Session) -> None:
    seen: list[int] = []

    def only_users(event: ContextAssembled) -> Decision:
        return Rewrite(messages=tuple(message for message in event.messages if message.role == "user"))

    bind(session, lua(ContextAssembled, only_users), lua(ContextAssembled, lambda e: seen.append(len(e.messages)), vm=Tier.PLUGIN))

    await session.prompt("where?")

    assert seen == [1]
    assert titles(nest) == ["Palm", "Chest", "Crow"]
    assert PUT_BACK in nest.ears.rows()


async def test_its_text_may_be_changed_under_its_mark(nest: Nest, session: Session) -> None:
    def shout(event: ContextAssembled) -> Decision:
        return Rewrite(messages=tuple(replace(m, text="LAND!") if m.tags else m for m in event.messages))

    bind(session, lua(ContextAssembled, shout))

    await session.prompt("where?")

    sent = block(nest)
    assert sent is not None
    assert sent.text == "LAND!"
    assert PUT_BACK not in nest.ears.rows()


async def test_where_there_was_none_nothing_is_put_back(nest: Nest, session: Session, shelf: Shelf) -> None:
    shelf.found = []
    bind(session, lua(ContextAssembled, lambda event: Rewrite(messages=event.messages[-1:])))

    await session.prompt("where?")

    assert nest.ears.rows() == []


async def test_the_transcript_tells_which_notes_and_keeps_what_was_sent(nest: Nest, session: Session) -> None:
    await session.prompt("where?")

    assert nest.ears.rows() == ["notes in the context: Palm, Chest, Crow"]
    (kept,) = [record for record in nest.stored(session) if record["type"] == "context"]
    sent = block(nest)
    assert sent is not None
    assert [message["text"] for message in kept["messages"]] == [sent.text]
    assert nest.ears.of("context") == []


async def test_what_a_hook_took_out_of_it_is_not_on_disk(nest: Nest, session: Session, shelf: Shelf) -> None:
    shelf.found = [found("Palm", "the code is hunter2")]

    def redact(event: ContextAssembled) -> Decision:
        return Rewrite(messages=tuple(replace(m, text=m.text.replace("hunter2", "***")) for m in event.messages))

    bind(session, stub(NotesChosen, lambda event: RenderNotes(event.notes[0].snippet)), lua(ContextAssembled, redact))

    await session.prompt("where?")

    sent = block(nest)
    assert sent is not None
    assert sent.text == "the code is ***"
    assert b"hunter2" not in nest.on_disk()


async def test_an_attachment_stands_behind_it(nest: Nest, session: Session) -> None:
    session.state.attachments.attach("the tide is low", "tide")

    await session.prompt("where?")

    first, second, third = nest.queries[-1].messages
    assert (first.tags, third.text) == (("precognition",), "where?")
    assert second == Message("system", "the tide is low", source="attachment", tags=("attachment",))
