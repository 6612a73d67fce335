"""The scripted model: which turn it plays, what it calls, and what it reads from the conversation."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agent.models.asking import BASH, READ, ask, assistant, failure, query, user
from treblehook.agent.models import Model, ModelReply, Usage, open_model
from treblehook.agent.models.script.player import ScriptedModel
from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import Message, ToolCall

Play = Callable[[object], Model]


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Opens a script."""

    def opened(script: object) -> Model:
        (tmp_path / "script.json").write_text(json.dumps(script))
        return open_model(f"script:{tmp_path}/script.json", environ={})

    return opened


def said(text: str) -> Message:
    return Message("assistant", text)


async def test_turns_are_played_in_order_then_after_for_ever(play: Play) -> None:
    model = play({"turns": [{"text": "one"}, {"text": "two", "repeat": 2}, {"text": "never", "repeat": 0}], "after": {"text": "over"}})
    history: list[Message] = [user("hi")]
    texts = []

    for _ in range(5):
        reply = await ask(model, query(*history))
        texts.append(reply.text)
        history += [said(reply.text), user("go on")]

    assert texts == ["one", "two", "two", "over", "over"]


async def test_without_after_the_end_is_done(play: Play) -> None:
    assert (await ask(play([]), query("hi"))).text == "Done."


async def test_the_same_conversation_gets_the_same_reply(play: Play) -> None:
    model = play([{"text": "one", "tools": [{"name": "bash", "args": {"command": "ls"}}]}])

    assert await ask(model, query("hi")) == await ask(model, query("hi"))


async def test_a_reply_has_text_calls_stop_and_cost(play: Play) -> None:
    calls = [{"name": "bash", "args": {"command": "ls"}}, {"name": "read", "args": {"path": "a"}}]
    reply = await ask(play([{"text": "Let me look.", "tools": calls, "usage": {"input": 7}}]), query("hi"))

    tag = "d8932aac"
    made = (ToolCall(f"call_t0x0_{tag}", "bash", {"command": "ls"}), ToolCall(f"call_t0x1_{tag}", "read", {"path": "a"}))
    assert reply == ModelReply("Let me look.", made, "tools", Usage(7, 5))


@pytest.mark.parametrize(("stop", "ours"), [("end_turn", "end"), ("max_tokens", "length"), ("refusal", "refusal")])
async def test_a_stop_can_be_scripted(play: Play, stop: str, ours: str) -> None:
    assert (await ask(play([{"text": "x", "stop": stop}]), query("hi"))).stop == ours


async def test_the_text_comes_in_pieces(play: Play) -> None:
    heard: list[str] = []

    reply = await play([{"text": "The treasure is here."}]).reply(query("hi"), heard.append)

    assert len(heard) == 3
    assert "".join(heard) == reply.text == "The treasure is here."


async def test_call_ids_tell_turns_and_conversations_apart(play: Play) -> None:
    model = play([{"tools": [{"name": "bash"}], "repeat": 2}])
    first = await ask(model, query("hi"))
    second = await ask(model, query("hi", assistant(first), Message("tool", "", call_id=first.calls[0].id, tool="bash")))
    other = await ask(model, query("ho"))

    assert len({reply.calls[0].id for reply in (first, second, other)}) == 3


async def test_a_run_of_replies_is_one_turn(play: Play) -> None:
    model = play([{"text": "one"}, {"text": "two"}, {"text": "three"}])

    assert (await ask(model, query("hi", said("a"), Message("system", "note"), said("b")))).text == "two"


async def test_a_shortened_history_is_still_at_its_turn(play: Play) -> None:
    model = play([{"text": str(number)} for number in range(6)])
    kept = Message("assistant", "", calls=(ToolCall("call_t3x0_00000000", "bash", {}),))

    assert (await ask(model, query("A summary.", kept, Message("tool", "x", call_id="call_t3x0_00000000", tool="bash")))).text == "4"


async def test_the_first_alternative_that_is_offered_is_called_with_what_it_declares(play: Play) -> None:
    arguments = {"command": "ls", "path": "a", "file_path": "a"}
    model = play([{"tools": [{"name": "Read|read|bash", "args": arguments}]}])

    async def called(*tools: ToolSpec) -> tuple[str, dict[str, object]]:
        (call,) = (await ask(model, query("hi", tools=tools))).calls
        return call.name, call.input

    assert await called(BASH, READ) == ("read", {"path": "a"})
    assert await called(BASH) == ("bash", {"command": "ls"})
    assert await called(ToolSpec("bash", "", {"type": "object"})) == ("bash", arguments)
    assert await called(ToolSpec("other", "", {})) == ("Read", arguments)


async def test_a_name_without_alternatives_keeps_its_arguments(play: Play) -> None:
    (call,) = (await ask(play([{"tools": [{"name": "read", "args": {"path": "a", "odd": 1}}]}]), query("hi"))).calls

    assert call.input == {"path": "a", "odd": 1}


async def test_captured_groups_fill_the_arguments(play: Play) -> None:
    arguments = {"port": "{1}", "url": "http://{2}:{1}/", "deep": [{"at": "{1}"}], "other": "{3}", "number": 1}
    model = play([{"text": "x"}, {"tools": [{"name": "open", "args": arguments}], "capture": r"port (\d+) on (\w+)"}])
    told = Message("tool", "listening at port 8080 on localhost", call_id="c", tool="bash")
    calling = Message("assistant", "", calls=(ToolCall("c", "bash", {}),))

    (call,) = (await ask(model, query("hi", calling, told))).calls

    assert call.input == {"port": 8080, "url": "http://localhost:8080/", "deep": [{"at": 8080}], "other": "{3}", "number": 1}


async def test_what_does_not_match_is_left_as_it_is(play: Play) -> None:
    (call,) = (await ask(play([{"tools": [{"name": "open", "args": {"a": "{1}"}}], "capture": "port (.)"}]), query("hi"))).calls

    assert call.input == {"a": "{1}"}


@pytest.mark.parametrize(
    ("where", "taken"),
    [
        ("first", ["gold first"]),
        ("last", ["gold first", "gold result", "gold later"]),
        ("any", ["gold first", "gold later", "gold between"]),
        ("system", ["gold system"]),
    ],
)
async def test_a_route_is_taken_where_it_matches(play: Play, where: str, taken: list[str]) -> None:
    model = play({"turns": [{"text": "main"}] * 3, "routes": [{"match": "gold", "where": where, "turns": [{"text": "route"}] * 3}]})
    result = Message("tool", "gold", call_id="c", tool="bash")
    calling = Message("assistant", "", calls=(ToolCall("c", "bash", {}),))
    conversations = {
        "nothing": query("hi"),
        "gold first": query("gold"),
        "gold result": query("hi", calling, result),
        "gold later": query("hi", said("x"), "gold"),
        "gold between": query("hi", said("x"), "gold", said("y"), "ho"),
        "gold system": query("hi", system="gold"),
        "gold said": query("hi", said("gold"), "ho"),
    }

    took = [name for name, asked in conversations.items() if (await ask(model, asked)).text == "route"]

    assert took == taken


async def test_the_first_route_that_matches_is_taken(play: Play) -> None:
    routes = [{"match": "b", "turns": [{"text": "b"}]}, {"match": "a", "turns": [{"text": "a"}]}]

    assert (await ask(play({"routes": routes}), query("a b"))).text == "b"


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ({"turns": [{"text": "turn"}]}, "ok"),
        ({"turns": [{"text": "turn"}], "aux": {"text": "A title"}}, "A title"),
        ({"turns": [{"text": "turn"}], "aux": None}, "turn"),
        ({"routes": [{"match": "hi", "turns": [{"text": "route"}]}]}, "route"),
    ],
)
async def test_a_request_without_tools_is_answered_aside(play: Play, script: object, text: str) -> None:
    assert (await ask(play(script), query("hi", tools=()))).text == text


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [(529, "overloaded", True), (429, "rate_limited", True), (400, "rejected", False), (401, "unauthorized", False)],
)
async def test_a_failure_can_be_scripted(play: Play, status: int, kind: str, retryable: bool) -> None:
    failed = await failure(play([{"status": status, "error": "as written"}]), query("hi"))

    assert (failed.kind, failed.status, failed.retryable) == (kind, status, retryable)
    assert failed.detail == f"HTTP {status}: as written"


async def test_a_failure_without_words_has_some(play: Play) -> None:
    assert (await failure(play([{"status": 500}]), query("hi"))).detail == "HTTP 500: scripted error"


async def test_the_file_is_read_anew_for_each_request(play: Play, tmp_path: Path) -> None:
    model = play([{"text": "old"}])
    (tmp_path / "script.json").write_text('[{"text": "new"}]')
    changed = await ask(model, query("hi"))
    (tmp_path / "script.json").write_text('[{"text": 1}]')
    failed = await failure(model, query("hi"))

    assert changed.text == "new"
    assert (failed.kind, failed.retryable) == ("rejected", False)
    assert failed.detail == f"{tmp_path}/script.json: turns[0].text: Expected `str | null`, got `int`"


async def test_a_delay_is_waited_before_anything_is_said(tmp_path: Path) -> None:
    (tmp_path / "script.json").write_text('[{"text": "late", "delay": 2.5}]')
    events: list[object] = []

    async def sleep(seconds: float) -> None:
        events.append(seconds)

    await ScriptedModel("script:s", tmp_path / "script.json", None, sleep).reply(query("hi"), events.append)

    assert events[0] == 2.5
    assert "".join(str(event) for event in events[1:]) == "late"


async def test_a_delay_can_be_cancelled(play: Play) -> None:
    asking = asyncio.create_task(ask(play([{"text": "late", "delay": 3600}]), query("hi")))
    await asyncio.sleep(0)
    asking.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asking
