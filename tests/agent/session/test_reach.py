"""What hooks may do to a session beside their own events: attach, narrow its tools, listen, call its tools."""

import asyncio
from typing import Any

import pytest

from tests.support.hooks import stub
from tests.support.nest import Nest, bash, offered, unnamed
from treblehook.agent.context.attachments import LONGEST, Attachments
from treblehook.agent.session import Session
from treblehook.host.reach import ReachRefused
from treblehook.lifecycle import Message, ModelRequest, PromptSubmitted, Rewrite


@pytest.fixture
async def session(nest: Nest) -> Session:
    nest.plays(*({"text": f"Reply {number}."} for number in range(6)))
    return await nest.open()


def attached(nest: Nest) -> list[str]:
    """The attachment of each request, "" where it has none."""
    first = [query.messages[0] for query in nest.queries]
    return [message.text if "attachment" in message.tags else "" for message in first]


# Attachments


async def test_an_attachment_is_in_the_next_turn_and_in_no_other(nest: Nest, session: Session) -> None:
    nest.plays(bash("echo 1"), {"text": "Done."}, {"text": "Again."})
    session.state.attachments.attach("low tide", "tide")

    await session.prompt("dig")
    await session.prompt("and again")

    assert attached(nest) == ["low tide", "low tide", ""]
    assert "low tide" not in str(session.state.conversation.messages)


async def test_one_made_while_a_turn_runs_waits_for_the_next(nest: Nest, session: Session) -> None:
    nest.plays(bash("echo 1"), {"text": "Done."}, {"text": "Again."})
    nest.before_reply = _once(lambda: session.state.attachments.attach("low tide"))

    await session.prompt("dig")
    await session.prompt("and again")

    assert attached(nest) == ["", "", "low tide"]


def _once(act: Any) -> Any:
    acts = iter([act])

    async def before(query: object) -> None:
        for each in acts:
            each()

    return before


def test_a_later_text_of_the_same_key_takes_the_place_of_the_earlier() -> None:
    attachments = Attachments()
    for text, key in [("low", "tide"), ("fog", ""), ("fog", ""), ("high", "tide"), ("calm", "wind"), (" ", "wind")]:
        attachments.attach(text, key)

    (message,) = attachments.take()

    assert message == Message("system", "fog\n\nhigh", source="attachment", tags=("attachment",))
    assert attachments.take() == ()


def test_all_together_have_so_many_characters_at_most() -> None:
    attachments = Attachments()
    attachments.attach("é" * (LONGEST - 10), "long")
    attachments.attach("x" * 10, "short")

    with pytest.raises(ReachRefused, match=r"this attachment has 11 characters; of the 2000 .*, 10 are left"):
        attachments.attach("y" * 11, "short")

    (message,) = attachments.take()
    assert message.text.endswith("x" * 10)
    attachments.attach("z" * LONGEST)


# Tools


async def test_the_turns_that_follow_offer_what_a_hook_wants(nest: Nest, session: Session) -> None:
    state = session.state
    whole = state.offered

    state.offer(["write", "read"])
    await session.prompt("dig")
    state.offer(whole)
    await session.prompt("dig")
    state.offer([])
    await session.prompt("dig")

    assert [sorted(offered(query)) for query in nest.queries] == [["read", "write"], sorted(whole), []]


async def test_a_turn_narrows_what_is_offered_further(nest: Nest, session: Session) -> None:
    session.state.offer(["write", "read"])
    session.state.dispatcher.registry.add(stub(PromptSubmitted, Rewrite(tools=("read", "bash"))))

    await session.prompt("dig")

    assert offered(nest.queries[0]) == ["read"]
    assert session.state.offered == ("read", "write")


async def test_a_running_turn_goes_on_with_what_it_offered(nest: Nest, session: Session) -> None:
    nest.plays(bash("echo 1"), {"text": "Done."}, {"text": "Again."})
    session.state.dispatcher.registry.add(stub(ModelRequest, lambda event: session.state.offer(["read"])))

    await session.prompt("dig")
    await session.prompt("dig")

    assert ["bash" in offered(query) for query in nest.queries] == [True, True, False]


async def test_an_unknown_tool_is_refused(session: Session) -> None:
    with pytest.raises(ReachRefused, match=r"this session has no tool shovel; it has: .*bash"):
        session.state.offer(["bash", "shovel"])

    assert "write" in session.state.offered


async def test_a_tool_that_is_not_offered_is_refused_before_any_hook(nest: Nest, session: Session) -> None:
    nest.plays(bash("touch here"), {"text": "Done."})
    session.state.offer(["read"])

    await session.prompt("dig")

    assert not (nest.workspace / "here").exists()
    assert "There is no tool named 'bash'" in nest.queries[1].messages[-1].text


# Records


async def test_a_subscriber_gets_the_records_that_are_shown_from_then_on(nest: Nest, session: Session) -> None:
    await session.prompt("before")
    told: list[dict[str, Any]] = []
    end = session.state.recorder.subscribe(told.append)
    heard = len(nest.ears.records)

    await session.prompt("dig")
    await asyncio.sleep(0)
    end()
    await session.prompt("after")
    await asyncio.sleep(0)

    assert [record["type"] for record in told] == ["prompt", "reply"]
    assert told == nest.ears.records[heard : heard + 2]
    end()


async def test_a_subscriber_that_fails_is_the_loops_problem(nest: Nest, session: Session) -> None:
    problems: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: problems.append(context["exception"]))
    told: list[str] = []

    def fail(record: dict[str, Any]) -> None:
        raise ValueError(record["type"])

    session.state.recorder.subscribe(fail)
    session.state.recorder.subscribe(lambda record: told.append(record["type"]))

    end = await session.prompt("dig")
    await asyncio.sleep(0)

    assert end.status == "finished"
    assert [str(problem) for problem in problems] == told == ["prompt", "reply"]


# Calls


async def test_what_a_hook_calls_is_shown_and_is_no_part_of_the_conversation(nest: Nest, session: Session) -> None:
    await session.prompt("dig")

    output = await session.state.call_tool("bash", {"command": "echo 1"})
    await session.prompt("go on")
    before = list(session.state.conversation.messages)
    await session.finish("closed")
    resumed = await nest.open(resume=session.id)

    assert (output.content, output.is_error) == ("1\n", False)
    assert [record["input"] for record in nest.ears.of("tool_call")] == [{"command": "echo 1"}]
    assert [(record["content"], record["ran"]) for record in nest.ears.of("tool_result")] == [("1\n", True)]
    assert unnamed(resumed.state.conversation.messages) == unnamed(before)
    assert [message.role for message in before] == ["user", "assistant", "user", "assistant"]


async def test_a_hook_calls_only_what_is_offered(session: Session) -> None:
    session.state.offer(["read"])

    output = await session.state.call_tool("bash", {"command": "echo 1"})

    assert output.is_error
    assert "There is no tool named 'bash'" in output.content
