"""When a session asks its `turn_ending` hooks, and what it does with their answers (vera.md 3.5; cases 108 to 118, 157, 158)."""

import asyncio
from typing import Any

import pytest

from tests.support.nest import HELD, KEEPS_STDIN, OBSERVE, Nest, agent, bash, check_answered, offered, says, texts
from treblehook.agent.models.model import ModelReply
from treblehook.agent.steps import TurnEnd

AGAIN = says({"power": "continue", "context": "You drew no map."})


def roles(nest: Nest, query: int) -> list[tuple[str, str]]:
    return [(message.role, message.source) for message in nest.queries[query].messages]


async def test_case_108_a_final_reply_is_asked_about(nest: Nest) -> None:
    nest.recorder("turn_ending")
    nest.plays({"text": "done"})
    session = await nest.open()

    await session.prompt("draw it")

    assert nest.sent("turn_ending") == [
        {
            "type": "turn_ending",
            "sessionId": session.id,
            "workspace": str(nest.workspace),
            "prompt": "draw it",
            "reply": "done",
            "spawned": False,
            "continuations": 0,
        }
    ]


async def test_case_109_a_reply_with_calls_is_not_asked_about(nest: Nest) -> None:
    nest.recorder("turn_ending")
    nest.plays(bash("true", text="looking"), {"text": "done"})
    session = await nest.open()

    await session.prompt("draw it")

    assert [payload["reply"] for payload in nest.sent("turn_ending")] == ["done"]


async def test_case_110_a_continuation(nest: Nest) -> None:
    nest.hook("turn_ending", "map-check", AGAIN)
    nest.plays({"text": "Done."}, {"text": "Here is the map."})
    session = await nest.open()

    end = await session.prompt("draw it")

    assert end == TurnEnd("finished", "Here is the map.")
    assert roles(nest, 1) == [("user", ""), ("assistant", ""), ("user", "turn_ending")]
    assert texts(nest.queries[1]) == ["draw it", "You drew no map."]
    assert nest.ears.rows() == ["map-check continued the turn"]
    assert [record["text"] for record in nest.ears.of("reply")] == ["Done.", "Here is the map."]
    assert [payload["continuations"] for payload in nest.sent("map-check")] == [0, 1]
    assert nest.ears.types(without=("session", "hook")) == ["prompt", "reply", "row", "reply"]
    assert session.state.turns == 1


async def test_a_continuation_with_a_display(nest: Nest) -> None:
    nest.hook("turn_ending", "map-check", says({"power": "continue", "context": "x", "display": "Keep digging"}))
    session = await nest.open()

    await session.prompt("draw it")

    assert nest.ears.rows() == ["Keep digging · map-check"]


async def test_the_reply_is_stored_after_the_hooks_were_asked(nest: Nest) -> None:
    nest.hook("turn_ending", "map-check", HELD + OBSERVE)
    nest.plays({"text": "Done."})
    session = await nest.open()
    turn = asyncio.ensure_future(session.prompt("draw it"))
    await nest.started("map-check")

    assert [message.role for message in session.state.conversation.messages] == ["user"]
    assert b"Done." not in nest.on_disk()
    nest.release("map-check")
    await turn

    assert nest.ears.types()[-2:] == ["hook", "reply"]


async def test_a_turn_has_one_continuation_whatever_happens_in_between(nest: Nest) -> None:
    """The continued model calls a tool, and its next final reply is asked about with the budget used up."""
    nest.hook("turn_ending", "map-check", AGAIN)
    nest.recorder("turn_ending", "second")
    nest.plays({"text": "one"}, bash("true"), {"text": "two"}, {"text": "never"})
    session = await nest.open()

    end = await session.prompt("draw it")

    assert end.text == "two"
    assert [(p["reply"], p["continuations"]) for p in nest.sent("map-check")] == [("one", 0), ("two", 1)]
    # A `continue` stops the chain even where it is ignored.
    assert nest.sent("second") == []
    assert nest.ears.rows() == ["map-check continued the turn"]
    await session.prompt("again")
    assert [payload["continuations"] for payload in nest.sent("map-check")] == [0, 1, 0, 1]


async def test_a_continuation_keeps_tools_and_model_and_asks_no_pre_turn_hook(nest: Nest) -> None:
    other = nest.plays({"text": "one"}, {"text": "two"}, model="other")
    nest.hook("pre_turn", "narrow", says({"power": "mutate", "tools": ["read"], "model": other, "reasoningEffort": "low"}))
    nest.hook("turn_ending", "map-check", AGAIN)
    session = await nest.open()

    await session.prompt("draw it")

    assert nest.specs == [other, other]
    assert [offered(query) for query in nest.queries] == [["read"], ["read"]]
    assert [query.effort for query in nest.queries] == ["low", "low"]
    assert len(nest.sent("narrow")) == 1


async def test_case_112_the_first_continue_wins(nest: Nest) -> None:
    nest.answers("turn_ending", "first", {'"continuations":0': {"power": "continue", "context": "first"}})
    nest.hook("turn_ending", "second", says({"power": "continue", "context": "second"}))
    nest.plays({"text": "one"}, {"text": "two"})
    session = await nest.open()

    await session.prompt("draw it")

    assert [payload["reply"] for payload in nest.sent("second")] == ["two"]
    assert texts(nest.queries[1]) == ["draw it", "first"]


@pytest.mark.parametrize(
    "answer",
    [{"power": "continue"}, {"power": "continue", "context": ""}, {"power": "block", "reason": "no"}, {"power": "mutate", "context": "x"}],
)
async def test_case_113_and_116_a_bad_answer_lets_the_turn_end(nest: Nest, answer: dict[str, Any]) -> None:
    nest.hook("turn_ending", "broken", says(answer))
    nest.recorder("turn_ending", "second")
    nest.plays({"text": "Done."})
    session = await nest.open()

    assert await session.prompt("draw it") == TurnEnd("finished", "Done.")
    assert nest.sent("second") == []
    assert nest.ears.rows() == []
    assert len(nest.queries) == 1


async def test_case_114_a_failure_lets_the_turn_end_though_a_later_hook_would_go_on(nest: Nest) -> None:
    nest.hook("turn_ending", "broken", "exit 1")
    nest.hook("turn_ending", "map-check", AGAIN)
    session = await nest.open()

    assert (await session.prompt("draw it")).status == "finished"
    assert nest.sent("map-check") == []
    assert len(nest.queries) == 1


@pytest.mark.parametrize(
    ("turn", "status"),
    [
        ({"status": 400, "error": "storm"}, "failed"),
        ({"text": "cut", "stop": "max_tokens"}, "finished"),
        ({"text": "no", "stop": "refusal"}, "failed"),
    ],
)
async def test_case_117_no_other_end_of_a_turn_is_asked_about(nest: Nest, turn: dict[str, Any], status: str) -> None:
    nest.hook("turn_ending", "map-check", AGAIN)
    nest.plays(turn)
    session = await nest.open()

    assert (await session.prompt("draw it")).status == status
    assert nest.sent("map-check") == []


async def test_case_117_a_turn_stopped_by_the_user_is_not_asked_about(nest: Nest) -> None:
    nest.hook("turn_ending", "map-check", AGAIN)
    session = await nest.open()
    asked, _ = nest.hold_model()
    turn = asyncio.ensure_future(session.prompt("draw it"))
    await asked.wait()

    await session.interrupt()

    assert (await turn).status == "interrupted"
    assert nest.sent("map-check") == []


async def test_a_blocked_turn_is_not_asked_about(nest: Nest) -> None:
    nest.hook("pre_turn", "guard", says({"power": "block", "reason": "no"}))
    nest.hook("turn_ending", "map-check", AGAIN)
    session = await nest.open()

    await session.prompt("draw it")

    assert nest.sent("map-check") == []


async def test_case_118_the_prompt_is_all_that_the_user_said_in_the_turn(nest: Nest) -> None:
    nest.recorder("turn_ending")
    nest.hook("pre_turn", "remember", says({"power": "mutate", "context": "not the user's"}))
    nest.plays(bash("true"), {"text": "done"})
    session = await nest.open()
    asked, go = nest.hold_model()
    turn = asyncio.ensure_future(session.prompt("draw it"))
    await asked.wait()
    session.join("with a crow")
    go.set()
    await turn

    assert [payload["prompt"] for payload in nest.sent("turn_ending")] == ["draw it\n\nwith a crow"]


async def test_esc_during_the_hook_keeps_the_reply_and_drops_the_answer(nest: Nest) -> None:
    nest.hook("turn_ending", "map-check", HELD + AGAIN)
    nest.plays({"text": "Done."}, {"text": "Next."})
    session = await nest.open()
    turn = asyncio.ensure_future(session.prompt("draw it"))
    await nest.started("map-check")

    await session.interrupt()

    assert (await turn).status == "interrupted"
    assert [message.text for message in session.state.conversation.messages] == ["draw it", "Done."]
    assert [record["text"] for record in nest.ears.of("reply")] == ["Done."]
    assert nest.ears.rows() == []
    nest.script("map-check", OBSERVE)
    assert (await session.prompt("and now?")).text == "Next."
    assert texts(nest.queries[-1]) == ["draw it", "and now?"]
    await session.finish("detached")
    again = await nest.open(resume=session.id)
    assert again.state.conversation.messages == session.state.conversation.messages


async def test_a_compaction_check_comes_before_the_continued_request(nest: Nest) -> None:
    nest.settings("[model]\ncontext_window = 10000\n")
    nest.hook("turn_ending", "map-check", says({"power": "continue", "context": "x" * 50_000}))
    nest.recorder("session_start")
    nest.replies.append(ModelReply("one"))
    nest.plays(aux={"text": "In short."}, after={"text": "two"})
    session = await nest.open()

    end = await session.prompt("draw it")

    assert end.text == "two"
    assert [record["reason"] for record in nest.ears.of("compaction")] == ["automatic"]
    assert [text[:7] for text in texts(nest.queries[-1])] == ["Summary", "draw it", "xxxxxxx"]
    assert [payload["reason"] for payload in nest.sent("session_start")] == ["start", "compacted"]


async def test_case_157_stop_is_for_the_users_session_and_subagent_stop_for_a_subagent(nest: Nest) -> None:
    nest.claude("Stop", "stop", KEEPS_STDIN)
    nest.claude("SubagentStop", "subagent-stop", KEEPS_STDIN)
    nest.plays(agent("dig"), {"text": "done"}, routes=[{"match": "dig", "turns": [{"text": "Dug."}]}])
    session = await nest.open()

    await session.prompt("go")

    (stop,), (subagent_stop,) = nest.sent("stop"), nest.sent("subagent-stop")
    assert (stop["session_id"], stop["last_assistant_message"]) == (session.id, "done")
    assert "agent_id" not in stop
    # Case 158.
    assert subagent_stop["agent_id"] == subagent_stop["session_id"] != session.id
    assert subagent_stop["last_assistant_message"] == "Dug."


async def test_case_158_a_subagent_is_sent_back_too(nest: Nest) -> None:
    nest.claude("SubagentStop", "map-check", f"{KEEPS_STDIN}echo Draw the map. >&2; exit 2")
    nest.plays(agent("dig"), {"text": "done"}, routes=[{"match": "dig", "turns": [{"text": "Dug."}, {"text": "Drawn."}]}])
    session = await nest.open()

    await session.prompt("go")

    assert [p["stop_hook_active"] for p in nest.sent("map-check")] == [False, True]
    assert [result["content"] for result in nest.ears.of("tool_result")] == ["Drawn."]
    check_answered(session.state.conversation.messages)
