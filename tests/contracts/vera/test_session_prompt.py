"""What a session does with what `pre_turn` hooks answer (vera.md 3.4; cases 84 to 104)."""

import asyncio
from typing import Any

import pytest

from tests.support.nest import HELD, OBSERVE, Nest, bash, offered, says, texts
from treblehook.agent.steps import TurnEnd
from treblehook.host.tool import ToolContext, ToolOutput, ToolSpec

PROMPT = "where is the treasure?"


def mutates(**fields: Any) -> str:
    return says({"power": "mutate", **fields})


def blocks(reason: str) -> str:
    return says({"power": "block", "reason": reason})


class Process:
    """A tool named `process`, the companion of `bash`."""

    spec = ToolSpec(name="process", description="Looks after processes.", parameters={"type": "object"})

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        return ToolOutput("none")


async def test_the_payload_names_the_session_the_model_and_what_is_offered(nest: Nest) -> None:
    nest.recorder("pre_turn")
    session = await nest.open()

    await session.prompt(PROMPT)

    assert nest.sent("pre_turn") == [
        {
            "type": "pre_turn",
            "sessionId": session.id,
            "workspace": str(nest.workspace),
            "prompt": PROMPT,
            "model": session.state.model.spec,
            "tools": offered(nest.queries[0]),
            "arrivedDuringTurn": False,
            "spawned": False,
        }
    ]


async def test_the_effort_of_the_home_is_sent_and_asked_for(nest: Nest) -> None:
    nest.settings('[model]\neffort = "high"\n')
    nest.recorder("pre_turn")
    session = await nest.open()

    await session.prompt(PROMPT)

    assert nest.sent("pre_turn")[0]["reasoningEffort"] == "high"
    assert nest.queries[0].effort == "high"


async def test_case_084_a_context_is_a_message_of_its_own_behind_the_prompt(nest: Nest) -> None:
    nest.hook("pre_turn", "remember", mutates(context="third palm"))
    session = await nest.open()

    await session.prompt(PROMPT)

    assert texts(nest.queries[0]) == [PROMPT, "third palm"]
    assert nest.ears.rows() == ["remember added context"]
    prompt, context, _ = session.state.conversation.messages
    assert (prompt.source, context.source, context.hook) == ("", "pre_turn", "remember")


async def test_a_context_is_still_there_after_a_resume_and_counts(nest: Nest) -> None:
    nest.hook("pre_turn", "remember", mutates(context="x" * 40_000))
    session = await nest.open()
    await session.prompt(PROMPT)
    await session.finish("detached", TurnEnd("finished"))

    again = await nest.open(resume=session.id)

    assert again.state.conversation.messages == session.state.conversation.messages
    assert again.state.conversation.tokens() > 10_000


async def test_case_085_a_display_stands_in_for_the_row(nest: Nest) -> None:
    nest.hook("pre_turn", "remember", mutates(context="third palm", display="Spotted"))
    session = await nest.open()

    await session.prompt(PROMPT)

    assert nest.ears.rows() == ["Spotted · remember"]


async def test_contexts_come_in_order_each_with_its_row(nest: Nest) -> None:
    nest.hook("pre_turn", "one", mutates(context="first"))
    nest.hook("pre_turn", "two", mutates(context=""))
    nest.hook("pre_turn", "three", mutates(context="third", display=""))
    session = await nest.open()

    await session.prompt(PROMPT)

    assert texts(nest.queries[0]) == [PROMPT, "first", "third"]
    assert nest.ears.rows() == ["one added context", "three added context"]


async def test_case_088_a_block_ends_the_turn_and_the_prompt_stays(nest: Nest) -> None:
    nest.hook("pre_turn", "guard", blocks("not today"))
    session = await nest.open()

    end = await session.prompt(PROMPT)

    assert end == TurnEnd("blocked", reason="not today")
    assert nest.queries == []
    assert [message.text for message in session.state.conversation.messages] == [PROMPT]
    assert [record["text"] for record in nest.ears.of("prompt")] == [PROMPT]
    assert nest.ears.rows() == ["pre_turn blocked this turn: not today"]


async def test_the_next_turn_sends_a_blocked_prompt_along(nest: Nest) -> None:
    nest.answers("pre_turn", "guard", {"first": {"power": "block", "reason": "no"}})
    session = await nest.open()
    await session.prompt("first")

    assert (await session.prompt("second")).status == "finished"
    assert texts(nest.queries[0]) == ["first", "second"]
    assert session.state.turns == 2


async def test_a_failure_says_which_hook_failed(nest: Nest) -> None:
    nest.hook("pre_turn", "guard", "exit 3")
    nest.recorder("pre_turn", "second")
    session = await nest.open()

    end = await session.prompt(PROMPT)

    assert end.status == "blocked"
    (row,) = nest.ears.rows()
    assert row == end.reason
    assert "pre_turn hook guard failed" in row
    assert nest.sent("second") == []


async def test_case_089_a_block_drops_the_contexts_of_its_chain(nest: Nest) -> None:
    nest.hook("pre_turn", "remember", mutates(context="third palm"))
    nest.hook("pre_turn", "guard", blocks("no"))
    session = await nest.open()

    await session.prompt(PROMPT)

    assert [message.text for message in session.state.conversation.messages] == [PROMPT]
    assert b"third palm" not in nest.on_disk()


async def test_case_090_and_092_tools_can_only_be_narrowed(nest: Nest) -> None:
    nest.hook("pre_turn", "only", mutates(tools=["write", "read", "teleport"]))
    nest.recorder("pre_turn", "second")
    session = await nest.open()

    await session.prompt(PROMPT)

    assert offered(nest.queries[0]) == ["read", "write"]
    assert nest.sent("second")[0]["tools"] == ["read", "write"]


async def test_a_wish_of_which_nothing_is_offered_is_ignored(nest: Nest) -> None:
    nest.hook("pre_turn", "only", mutates(tools=["teleport"]))
    session = await nest.open()

    await session.prompt(PROMPT)

    assert offered(nest.queries[0]) == list(session.state.tools)


async def test_case_093_without_tools_every_call_is_refused_unasked(nest: Nest) -> None:
    nest.hook("pre_turn", "none", mutates(tools=[]))
    nest.recorder("pre_tool_use")
    nest.plays(bash("echo hello"), {"text": "So be it."}, aux=None)
    session = await nest.open()

    end = await session.prompt(PROMPT)

    assert end.text == "So be it."
    assert offered(nest.queries[0]) == []
    (result,) = nest.ears.of("tool_result")
    assert (result["is_error"], result["ran"]) == (True, False)
    assert nest.sent("pre_tool_use") == []


async def test_case_094_bash_keeps_its_companion(nest: Nest) -> None:
    nest.hook("pre_turn", "only", mutates(tools=["bash"]))
    (await nest.home.tools())["process"] = Process()
    session = await nest.open()

    await session.prompt(PROMPT)

    assert offered(nest.queries[0]) == ["bash", "process"]


async def test_narrowing_lasts_until_the_turn_ends(nest: Nest) -> None:
    nest.answers("pre_turn", "only", {"first": {"power": "mutate", "tools": ["read", "bash"]}})
    nest.plays(bash("true"), {"text": "one"}, {"text": "two"})
    session = await nest.open()

    await session.prompt("first")
    await session.prompt("second")

    assert [offered(query) for query in nest.queries] == [["bash", "read"], ["bash", "read"], list(session.state.tools)]


async def test_case_097_a_changed_model_serves_this_turn_only(nest: Nest) -> None:
    other = nest.plays({"text": "The other speaks."}, model="other")
    nest.answers("pre_turn", "switch", {"first": {"power": "mutate", "model": other, "reasoningEffort": "low"}})
    nest.recorder("pre_turn", "second")
    session = await nest.open()

    assert (await session.prompt("first")).text == "The other speaks."
    await session.prompt("again")

    assert nest.specs == [other, session.state.model.spec]
    assert [query.effort for query in nest.queries] == ["low", ""]
    assert [payload["model"] for payload in nest.sent("second")] == [other, session.state.model.spec]
    assert nest.sent("second")[0]["reasoningEffort"] == "low"


async def test_case_097_a_compaction_check_follows_a_changed_model(nest: Nest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The configured model has room, the other has not; the check comes after every context has been stored."""
    other = nest.plays({"text": "The other speaks."}, model="other", aux={"text": "In short."})
    nest.hook("pre_turn", "switch", mutates(model=other, context="third palm"))
    nest.recorder("pre_turn", "second")
    nest.recorder("pre_compact")
    session = await nest.open()
    opened = session.state.models

    def small(spec: str) -> Any:
        model: Any = opened(spec)
        model.window = 100
        return model

    monkeypatch.setattr(session.state, "models", small)

    end = await session.prompt("x" * 1000, "y" * 1000)

    assert end.text == "The other speaks."
    assert [payload["prompt"][0] for payload in nest.sent("second")] == ["x", "y"]
    (compaction,) = await nest.heard("pre_compact")
    assert (compaction["reason"], compaction["capacity"]) == ("automatic", 100)
    summarised, asked = nest.queries
    assert summarised.messages[2].text == "third palm"
    assert nest.specs == [other, other]
    assert [text[:12] for text in texts(asked)] == ["Summary of t", "x" * 12, "y" * 12, "third palm", "third palm"]


async def test_a_model_that_cannot_be_opened_fails_the_turn(nest: Nest) -> None:
    nest.hook("pre_turn", "switch", mutates(model="nobody:nothing", context="third palm"))
    session = await nest.open()

    end = await session.prompt(PROMPT)

    assert end.status == "failed"
    assert "nobody" in end.reason
    assert nest.queries == []
    nest.script("switch", OBSERVE)
    assert (await session.prompt("again")).status == "finished"


async def test_case_104_esc_during_the_hook_stops_the_turn_and_drops_the_answer(nest: Nest) -> None:
    nest.hook("pre_turn", "remember", HELD + mutates(context="third palm"))
    session = await nest.open()
    turn = asyncio.ensure_future(session.prompt("first"))
    await nest.started("remember")

    await session.interrupt()

    assert (await turn).status == "interrupted"
    nest.release("remember")
    assert (await session.prompt("second")).status == "finished"
    assert texts(nest.queries[0]) == ["first", "second", "third palm"]
