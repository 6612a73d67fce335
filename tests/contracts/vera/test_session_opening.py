"""When a session asks its `session_start` hooks, and what it does with their answers (vera.md 3.3; cases 70 to 82, 152, 154)."""

import asyncio

import pytest

from tests.support.nest import HELD, KEEPS_STDIN, OBSERVE, Nest, bash, check_answered, says, texts
from treblehook.agent.models.model import ModelReply
from treblehook.agent.session import Session
from treblehook.agent.steps import TurnEnd
from treblehook.home.residents import Residents

CROW = says({"power": "mutate", "context": "The crow likes short answers."})
SUMMARY = {"text": "In short."}
BIG = ModelReply("x" * 8000)


def reasons(nest: Nest, name: str = "session_start") -> list[str]:
    return [payload["reason"] for payload in nest.sent(name)]


async def small_and_full(nest: Nest) -> Session:
    """A session with a small window, and a conversation that will not fit into it at the next turn."""
    nest.settings("[model]\ncontext_window = 2000\n")
    session = await nest.open()
    nest.replies.append(BIG)
    await session.prompt("long ago")
    return session


async def test_case_070_a_new_session_asks_once_before_the_first_request(nest: Nest) -> None:
    nest.hook("session_start", "session_start", CROW)
    session = await nest.open()

    assert nest.sent("session_start") == [
        {"type": "session_start", "sessionId": session.id, "workspace": str(nest.workspace), "reason": "start"}
    ]
    assert nest.queries == []
    await session.prompt("one")
    await session.prompt("two")

    assert len(nest.sent("session_start")) == 1
    text = "## Session start hook 1\n\nThe crow likes short answers."
    assert texts(nest.queries[0]) == [text, "one"]
    assert nest.ears.rows() == [text]
    first = session.state.conversation.messages[0]
    assert (first.role, first.source, first.hook) == ("user", "session_start", "session_start")


async def test_case_072_a_second_client_asks_nobody(nest: Nest) -> None:
    nest.recorder("session_start")
    residents = Residents(nest.home)
    session = await residents.open(nest.wish(), nest.company(), client="first")

    assert residents.attach(session.id, "second") is session
    assert await residents.open(nest.wish(resume=session.id), nest.company(), client="third") is session
    assert reasons(nest) == ["start"]
    await residents.shutdown()


@pytest.mark.parametrize("prompts", [0, 1])
async def test_a_stored_session_is_resumed_even_an_empty_one(nest: Nest, prompts: int) -> None:
    nest.recorder("session_start")
    session = await nest.open()
    for _ in range(prompts):
        await session.prompt("one")
    await session.finish("detached")

    await nest.open(resume=session.id)

    assert reasons(nest) == ["start", "resume"]


async def test_case_073_compact_asks_and_then_waits_for_the_user(nest: Nest) -> None:
    nest.hook("session_start", "session_start", CROW)
    nest.plays(aux=SUMMARY, after={"text": "Aye."})
    session = await nest.open()
    await session.prompt("one")
    asked = len(nest.queries)

    assert await session.compact() is None

    assert reasons(nest) == ["start", "compacted"]
    assert len(nest.queries) == asked + 1
    assert [message.source for message in session.state.conversation.messages] == ["compaction", "session_start"]
    await session.prompt("two")
    assert texts(nest.queries[-1])[1:] == ["## Session start hook 1\n\nThe crow likes short answers.", "two"]


async def test_case_074_a_compaction_inside_a_turn_asks_and_the_turn_goes_on(nest: Nest) -> None:
    nest.hook("session_start", "session_start", CROW)
    nest.settings("[model]\ncontext_window = 2000\n")
    nest.plays({**bash("echo hi"), "usage": {"input": 1900}}, {"text": "Done."}, aux=SUMMARY, after={"text": "Done."})
    session = await nest.open()

    end = await session.prompt("one")

    assert end == TurnEnd("finished", "Done.")
    assert reasons(nest) == ["start", "compacted"]
    assert [record["reason"] for record in nest.ears.of("compaction")] == ["automatic"]
    assert [result["content"] for result in nest.ears.of("tool_result")] == ["hi\n"]
    sources = [(m.role, m.source) for m in nest.queries[-1].messages]
    assert sources == [("user", "compaction"), ("user", ""), ("user", "session_start"), ("assistant", ""), ("tool", "")]
    check_answered(session.state.conversation.messages)


async def test_a_compaction_that_fails_asks_nobody(nest: Nest) -> None:
    nest.recorder("session_start")
    nest.plays(aux={"status": 400, "error": "storm"}, after={"text": "Aye."})
    session = await nest.open()
    await session.prompt("one")
    before = list(session.state.conversation.messages)

    failure = await session.compact()

    assert "storm" in str(failure)
    assert reasons(nest) == ["start"]
    assert session.state.conversation.messages == before
    assert nest.ears.of("compaction") == []


@pytest.mark.parametrize("summary", [{"text": ""}, {"text": " \n"}, {"text": "I would rather not.", "stop": "refusal"}])
async def test_a_model_that_does_not_summarise_costs_nothing(nest: Nest, summary: dict[str, str]) -> None:
    nest.recorder("session_start")
    nest.plays(aux=summary, after={"text": "Aye."})
    session = await nest.open()
    await session.prompt("one")
    before = list(session.state.conversation.messages)

    assert await session.compact() is not None
    assert session.state.conversation.messages == before
    assert reasons(nest) == ["start"]


async def test_a_compaction_that_is_stopped_asks_nobody(nest: Nest) -> None:
    nest.recorder("session_start")
    session = await nest.open()
    await session.prompt("one")
    before = list(session.state.conversation.messages)
    asked, _ = nest.hold_model()
    compacting = asyncio.ensure_future(session.compact())
    await asked.wait()

    await session.interrupt()

    assert "stopped" in str(await compacting)
    assert session.state.conversation.messages == before
    assert reasons(nest) == ["start"]
    nest.before_reply = None
    assert (await session.prompt("two")).status == "finished"


async def test_an_automatic_compaction_that_fails_ends_the_turn(nest: Nest) -> None:
    nest.recorder("session_start")
    session = await small_and_full(nest)
    nest.plays(aux={"status": 400, "error": "storm"})

    end = await session.prompt("one")

    assert (end.status, "storm" in end.reason) == ("failed", True)
    assert reasons(nest) == ["start"]


async def test_an_automatic_compaction_that_is_stopped_asks_nobody(nest: Nest) -> None:
    nest.recorder("session_start")
    session = await small_and_full(nest)
    asked, _ = nest.hold_model()
    turn = asyncio.ensure_future(session.prompt("one"))
    await asked.wait()

    await session.interrupt()

    assert (await turn).status == "interrupted"
    assert reasons(nest) == ["start"]
    assert nest.ears.of("compaction") == []


async def test_esc_while_the_hooks_are_asked_after_a_compaction(nest: Nest) -> None:
    """The compaction stands, what the user said stays too, and what the hook says later is dropped."""
    nest.hook("session_start", "session_start", OBSERVE)
    session = await small_and_full(nest)
    nest.plays(aux=SUMMARY, after={"text": "Aye."})
    nest.script("session_start", HELD + CROW)
    turn = asyncio.ensure_future(session.prompt("one"))
    await nest.started("session_start")

    await session.interrupt()

    assert (await turn).status == "interrupted"
    assert [(m.source, m.text[:7]) for m in session.state.conversation.messages] == [("compaction", "Summary"), ("", "one")]
    assert len(nest.ears.of("compaction")) == 1
    nest.release("session_start")
    assert (await session.prompt("two")).status == "finished"
    await session.finish("detached")
    again = await nest.open(resume=session.id)
    assert [m.text[:7] for m in again.state.conversation.messages][:4] == ["Summary", "one", "two", "Aye."]


async def test_the_usage_after_a_compaction_includes_what_hooks_added(nest: Nest) -> None:
    nest.answers("session_start", "session_start", {"compacted": {"power": "mutate", "context": "x" * 40_000}})
    nest.plays(aux=SUMMARY, after={"text": "Aye."})
    session = await nest.open()
    await session.prompt("one")

    await session.compact()

    (compaction,) = nest.ears.of("compaction")
    assert compaction["tokens_after"] > 10_000
    assert session.state.conversation.tokens(session.state.system, session.state.tools.values()) == compaction["tokens_after"]


async def test_several_hooks_are_one_message_with_numbered_headings(nest: Nest) -> None:
    nest.hook("session_start", "one", says({"power": "mutate", "context": "first"}))
    nest.recorder("session_start", "two")
    nest.hook("session_start", "three", "exit 1")
    nest.hook("session_start", "four", says({"power": "mutate", "context": "fourth\n\nline"}))
    session = await nest.open()

    (message,) = session.state.conversation.messages
    assert message.text == "## Session start hook 1\n\nfirst\n\n## Session start hook 4\n\nfourth\n\nline"
    assert nest.ears.rows() == [message.text]
    (failure,) = nest.log()
    assert (failure["type"], failure["sessionId"]) == ("session_start_hook_failed", session.id)
    assert (failure["reason"], failure["index"], failure["level"]) == ("start", 3, "warn")


async def test_a_block_is_a_failure_and_the_conversation_goes_on(nest: Nest) -> None:
    nest.hook("session_start", "guard", says({"power": "block", "reason": "no"}))
    session = await nest.open()

    assert (await session.prompt("one")).status == "finished"
    assert [line["type"] for line in nest.log()] == ["session_start_hook_failed"]


async def test_what_was_summarised_is_told_anew(nest: Nest) -> None:
    """The text of the start may be summarised away, which is why the hooks are asked again (vera.md 3.3)."""
    nest.hook("session_start", "session_start", CROW)
    nest.plays(aux=SUMMARY, after={"text": "Aye."})
    session = await nest.open()
    await session.prompt("one")
    await session.compact()
    await session.finish("detached")

    again = await nest.open(resume=session.id)

    assert [m.source for m in again.state.conversation.messages] == ["compaction", "session_start", "session_start"]
    assert reasons(nest) == ["start", "compacted", "resume"]


async def test_case_082_a_session_that_could_not_be_deleted_is_resumed(nest: Nest) -> None:
    nest.recorder("session_start")
    nest.recorder("session_end")
    residents = Residents(nest.home)
    session = await residents.open(nest.wish(), nest.company(), client="first")
    # Where the trash should be, there is a file.
    (nest.folder / "trash").write_text("")

    with pytest.raises(Exception, match="was not deleted"):
        await residents.delete(session.id)

    (again,) = residents.sessions
    assert (again.id, again is session) == (session.id, False)
    assert reasons(nest) == ["start", "resume"]
    assert (await again.prompt("still here?")).status == "finished"
    await residents.close(session.id)
    assert [payload["reason"] for payload in await nest.heard("session_end", 2)] == ["deleted", "closed"]


async def test_case_152_a_script_that_exits_with_2_is_not_a_failure(nest: Nest) -> None:
    nest.claude("SessionStart", "warn", "echo careful >&2; exit 2")
    session = await nest.open()

    assert session.state.conversation.messages == []
    assert nest.log() == []


async def test_case_154_the_source_after_a_compaction(nest: Nest) -> None:
    nest.claude("SessionStart", "source", f"{KEEPS_STDIN}echo Aye.")
    nest.plays(aux=SUMMARY, after={"text": "Aye."})
    session = await nest.open()
    await session.prompt("one")
    await session.compact()
    await session.finish("detached")
    await nest.open(resume=session.id)

    assert [payload["source"] for payload in nest.sent("source")] == ["startup", "compact", "resume"]
