"""Several messages of one turn: sent together, joining it, or delivered to it (vera.md 3.4; cases 98 to 101)."""

import asyncio
from typing import Any

from tests.support.nest import Nest, bash, check_answered, offered, says, texts
from treblehook.agent.models.model import ModelReply
from treblehook.agent.steps import TurnEnd


def mutates(**fields: Any) -> str:
    return says({"power": "mutate", **fields})


async def test_narrowing_accumulates_over_the_messages_of_a_turn(nest: Nest) -> None:
    first, second = {"power": "mutate", "tools": ["read", "bash", "grep"]}, {"power": "mutate", "tools": ["read", "write"]}
    nest.answers("pre_turn", "only", {"first": first, "second": second})
    session = await nest.open()

    await session.prompt("first", "second")

    assert set(nest.sent("only")[1]["tools"]) == {"read", "bash", "grep"}
    assert offered(nest.queries[0]) == ["read"]


async def test_case_098_a_message_that_joins_a_turn(nest: Nest) -> None:
    """Its model is ignored, without a failure; its context and its tools count from the next request on."""
    wish = {"power": "mutate", "model": "other:x", "reasoningEffort": "low", "context": "third palm", "tools": ["read"]}
    nest.answers("pre_turn", "remember", {'"arrivedDuringTurn":true': wish})
    nest.plays(bash("true"), {"text": "Done."})
    session = await nest.open()
    asked, go = nest.hold_model()
    turn = asyncio.ensure_future(session.prompt("first"))
    await asked.wait()

    assert session.join("and the map?")
    assert session.join("and the crow?")
    go.set()
    end = await turn

    assert end == TurnEnd("finished", "Done.")
    assert [(p["prompt"], p["arrivedDuringTurn"]) for p in nest.sent("remember")] == [
        ("first", False),
        ("and the map?", True),
        ("and the crow?", True),
    ]
    first, second = nest.queries
    assert texts(second) == ["first", "and the map?", "and the crow?", "third palm", "third palm"]
    assert (nest.specs[1], second.effort) == (nest.specs[0], "")
    assert offered(first) == list(session.state.tools)
    assert offered(second) == ["read"]
    assert session.state.turns == 1
    check_answered(session.state.conversation.messages)


async def test_a_block_of_a_joining_message_ends_the_turn(nest: Nest) -> None:
    nest.answers("pre_turn", "guard", {"stop": {"power": "block", "reason": "enough"}})
    nest.plays(bash("true"), {"text": "never"})
    session = await nest.open()
    asked, go = nest.hold_model()
    turn = asyncio.ensure_future(session.prompt("first"))
    await asked.wait()
    session.join("stop")
    go.set()

    assert await turn == TurnEnd("blocked", reason="enough")
    assert len(nest.queries) == 1
    assert session.state.conversation.messages[-1].text == "stop"
    check_answered(session.state.conversation.messages)


async def test_case_100_messages_sent_together_are_asked_about_one_by_one(nest: Nest) -> None:
    one = nest.plays({"text": "One speaks."}, model="one")
    two = nest.plays({"text": "Two speaks."}, model="two")
    first, second = {"power": "mutate", "model": one, "context": "c1"}, {"power": "mutate", "model": two, "context": "c2"}
    nest.answers("pre_turn", "switch", {"first": first, "second": second})
    session = await nest.open()

    end = await session.prompt("first", "second")

    assert end.text == "One speaks."
    assert [payload["prompt"] for payload in nest.sent("switch")] == ["first", "second"]
    assert texts(nest.queries[0]) == ["first", "second", "c1", "c2"]
    assert session.state.turns == 1


async def test_the_context_of_an_earlier_message_stays_when_a_later_one_is_blocked(nest: Nest) -> None:
    nest.answers("pre_turn", "remember", {"first": {"power": "mutate", "context": "c1"}, "second": {"power": "nonsense"}})
    session = await nest.open()

    end = await session.prompt("first", "second")

    assert end.status == "blocked"
    assert [message.text for message in session.state.conversation.messages] == ["first", "second", "c1"]


async def test_case_101_a_delivery_turn_has_no_prompt(nest: Nest) -> None:
    nest.recorder("pre_turn")
    nest.recorder("turn_ending")
    nest.plays(
        {"tools": [{"name": "agent", "args": {"task": "dig", "background": True}}]},
        {"text": "Waiting."},
        {"text": "Thanks."},
        routes=[{"match": "dig", "turns": [{"text": "Dug."}]}],
    )
    session = await nest.open()
    await session.prompt("go")

    ends: list[TurnEnd] = []
    await session.settle(ends.append)

    assert [end.text for end in ends] == ["Thanks."]
    assert [(p["prompt"], p["spawned"]) for p in nest.sent("pre_turn")] == [("go", False), ("dig", True)]
    assert [p["prompt"] for p in nest.sent("turn_ending") if not p["spawned"]] == ["go", ""]
    assert session.state.turns == 1


async def test_a_delivery_turn_without_a_delivery_asks_nobody(nest: Nest) -> None:
    session = await nest.open()

    assert await session.prompt() == TurnEnd("finished")
    assert nest.queries == []


async def test_the_order_around_a_turn(nest: Nest) -> None:
    """Compaction check, all messages, each chain with its contexts, the request (vera.md 3.4)."""
    nest.settings("[model]\ncontext_window = 1000\n")
    nest.hook("pre_turn", "remember", mutates(context="c"))
    nest.recorder("session_start")
    nest.plays(aux={"text": "In short."}, after={"text": "Done."})
    session = await nest.open()
    nest.replies.append(ModelReply("x" * 4000))
    await session.prompt("long ago")
    nest.ears.records.clear()

    await session.prompt("first", "second")

    assert nest.ears.types() == ["hook", "compaction", "prompt", "prompt", "hook", "row", "hook", "row", "reply"]
    assert texts(nest.queries[-1])[1:] == ["first", "second", "c", "c"]
    assert [payload["reason"] for payload in nest.sent("session_start")] == ["start", "compacted"]
