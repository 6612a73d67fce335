"""What a provider is sent and what comes back, over the wire of each."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.agent.models.asking import BASH, READ, ask, assistant, opened, query, user
from tests.support.fake_model import FakeModel
from tests.support.wire_streams import WORDS
from treblehook.agent.models import ModelQuery, Usage
from treblehook.lifecycle import Message

Start = Callable[[object], FakeModel]

TWO_CALLS = {
    "text": "Let me look.",
    "tools": [{"name": "bash", "args": {"command": "ls"}}, {"name": "read", "args": {"path": "map.txt"}}],
    "usage": {"input": 300, "output": 20},
}
SYSTEM_ROLE = {"anthropic": "system", "google": "systemInstruction"}


async def body_of(word: str, fake: FakeModel, asked: ModelQuery) -> dict[str, Any]:
    """What the server was sent for a request."""
    await ask(opened(word, fake.environ), asked)
    return fake.bodies()[-1]


def texts(value: object) -> list[str]:
    """Every text in a part of a body, in order."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for inner in value for text in texts(inner)]
    return texts([value[key] for key in ("text", "parts", "content") if key in value]) if isinstance(value, dict) else []


@pytest.mark.parametrize("word", WORDS)
async def test_a_text_comes_back(word: str, fake_model: Start) -> None:
    fake = fake_model([{"text": "The treasure is under the oak.", "usage": {"input": 120, "output": 8}}])
    heard: list[str] = []

    reply = await opened(word, fake.environ).reply(query("Where is it?"), heard.append)

    assert reply.text == "The treasure is under the oak."
    assert "".join(heard) == reply.text
    assert (reply.calls, reply.stop, reply.usage) == ((), "end", Usage(120, 8))


@pytest.mark.parametrize("word", WORDS)
async def test_two_calls_of_one_reply_come_back_in_order(word: str, fake_model: Start) -> None:
    reply = await ask(opened(word, fake_model([TWO_CALLS]).environ), query("Where is it?"))

    assert [(call.name, call.input) for call in reply.calls] == [("bash", {"command": "ls"}), ("read", {"path": "map.txt"})]
    assert len({call.id for call in reply.calls}) == 2
    assert (reply.text, reply.stop, reply.usage) == ("Let me look.", "tools", Usage(300, 20))


@pytest.mark.parametrize("word", WORDS)
async def test_a_call_without_a_text_comes_back(word: str, fake_model: Start) -> None:
    reply = await ask(opened(word, fake_model([{"tools": [{"name": "bash", "args": {}}]}]).environ), query("Go"))

    assert (reply.text, reply.calls[0].name, reply.calls[0].input, reply.stop) == ("", "bash", {}, "tools")


@pytest.mark.parametrize("word", WORDS)
async def test_results_go_back_to_the_calls_they_answer(word: str, fake_model: Start) -> None:
    fake = fake_model([TWO_CALLS, {"text": "It is in the cave."}])
    model = opened(word, fake.environ)
    first = await ask(model, query("Where is it?"))
    bash, read = first.calls

    second = await ask(
        model,
        query(
            "Where is it?",
            assistant(first),
            Message("tool", "map.txt", call_id=bash.id, tool="bash"),
            Message("tool", "no such file", call_id=read.id, tool="read", is_error=True),
            Message("user", "The tide is low.", source="post_tool_use"),
        ),
    )

    assert second.text == "It is in the cave."
    sent = fake.bodies()[-1]
    match word:
        case "anthropic":
            asked, called, results = sent["messages"]
            assert texts(asked["content"]) == ["Where is it?"]
            assert [(block["type"], block.get("id")) for block in called["content"]] == [
                ("text", None),
                ("tool_use", bash.id),
                ("tool_use", read.id),
            ]
            assert [(block.get("tool_use_id"), block.get("is_error")) for block in results["content"]] == [
                (bash.id, False),
                (read.id, True),
                (None, None),
            ]
            assert texts(results["content"]) == ["map.txt", "no such file", "The tide is low."]
        case "google":
            _, called, results, added = sent["contents"]
            assert [part["functionCall"]["id"] for part in called["parts"][1:]] == [bash.id, read.id]
            responses = [part["functionResponse"] for part in results["parts"]]
            assert [(response["id"], response["name"]) for response in responses] == [(bash.id, "bash"), (read.id, "read")]
            assert [*responses[0]["response"].values()] == ["map.txt"]
            assert responses[1]["response"] == {"error": "no such file"}
            assert texts(added) == ["The tide is low."]
        case "openai":
            assert [(message["role"], message.get("tool_call_id"), message["content"]) for message in sent["messages"]] == [
                ("system", None, "Be brief."),
                ("user", None, "Where is it?"),
                ("assistant", None, "Let me look."),
                ("tool", bash.id, "map.txt"),
                ("tool", read.id, "no such file"),
                ("user", None, "The tide is low."),
            ]
            assert [call["id"] for call in sent["messages"][2]["tool_calls"]] == [bash.id, read.id]
        case _:
            kinds = [item.get("type", item.get("role")) for item in sent["input"]]
            assert kinds[-5:] == ["function_call", "function_call", "function_call_output", "function_call_output", "user"]
            assert [(item["call_id"], item["output"]) for item in sent["input"][-3:-1]] == [
                (bash.id, "map.txt"),
                (read.id, "no such file"),
            ]


@pytest.mark.parametrize("word", WORDS)
async def test_the_system_prompt_stands_before_system_messages(word: str, fake_model: Start) -> None:
    asked = query(Message("system", "Notes: the oak is old.", tags=("precognition",)), "Where is it?", system="Be brief.")

    sent = await body_of(word, fake_model([{"text": "x"}]), asked)

    if word in SYSTEM_ROLE:
        assert "\n\n".join(texts(sent[SYSTEM_ROLE[word]])) == "Be brief.\n\nNotes: the oak is old."
    else:
        first = sent["messages" if word == "openai" else "input"][:2]
        assert [(item["role"], item["content"]) for item in first] == [("system", "Be brief."), ("system", "Notes: the oak is old.")]


@pytest.mark.parametrize("word", WORDS)
async def test_without_a_system_prompt_none_is_sent(word: str, fake_model: Start) -> None:
    sent = await body_of(word, fake_model([{"text": "x"}]), query("hi", system=""))

    assert "system" not in sent
    assert "systemInstruction" not in sent
    assert "instructions" not in sent
    assert "system" not in [message.get("role") for message in sent.get("messages", sent.get("input", []))]


@pytest.mark.parametrize("word", WORDS)
async def test_tools_are_offered_with_their_schemas_as_they_are(word: str, fake_model: Start) -> None:
    sent = await body_of(word, fake_model([{"text": "x"}]), query("hi"))

    match word:
        case "anthropic":
            offered = [(tool["name"], tool["description"], tool["input_schema"]) for tool in sent["tools"]]
        case "google":
            declared = sent["tools"][0]["functionDeclarations"]
            offered = [(tool["name"], tool["description"], tool["parameters_json_schema"]) for tool in declared]
        case "openai":
            functions = [tool["function"] for tool in sent["tools"]]
            offered = [(tool["name"], tool["description"], tool["parameters"]) for tool in functions]
        case _:
            offered = [(tool["name"], tool["description"], tool["parameters"]) for tool in sent["tools"]]
    assert offered == [(tool.name, tool.description, tool.parameters) for tool in (BASH, READ)]


@pytest.mark.parametrize("word", WORDS)
async def test_without_tools_none_are_offered(word: str, fake_model: Start) -> None:
    assert "tools" not in await body_of(word, fake_model({"aux": {"text": "A title"}}), query("hi", tools=()))


@pytest.mark.parametrize("word", WORDS)
async def test_messages_of_one_side_stay_apart_and_in_order(word: str, fake_model: Start) -> None:
    added = Message("user", "The tide is low.", source="pre_turn", hook="tides")

    sent = await body_of(word, fake_model([{"text": "x"}]), query("Where is it?", added, "Be quick."))

    sides = sent.get("messages") or sent.get("contents") or sent["input"]
    told = [text for side in sides if side["role"] == "user" for text in texts(side)]
    assert told == ["Where is it?", "The tide is low.", "Be quick."]


@pytest.mark.parametrize("word", WORDS)
async def test_a_call_without_a_result_gets_one_that_says_so(word: str, fake_model: Start) -> None:
    fake = fake_model([TWO_CALLS, {"text": "Well then."}])
    model = opened(word, fake.environ)
    first = await ask(model, query("Where is it?"))
    bash, read = first.calls

    reply = await ask(
        model, query("Where is it?", assistant(first), Message("tool", "map.txt", call_id=bash.id, tool="bash"), user("Never mind."))
    )

    assert reply.text == "Well then."
    assert str(fake.bodies()[-1]).count(read.id) == 2


@pytest.mark.parametrize("word", WORDS)
async def test_a_result_without_its_call_is_left_out(word: str, fake_model: Start) -> None:
    orphan = Message("tool", "lost words", call_id="call_lost", tool="bash")

    sent = await body_of(word, fake_model([{"text": "x"}]), query(orphan, "Where is it?"))

    assert "lost" not in str(sent)


@pytest.mark.parametrize("word", WORDS)
async def test_an_empty_result_is_sent_without_an_empty_text(word: str, fake_model: Start) -> None:
    fake = fake_model([{"tools": [{"name": "bash", "args": {}}]}, {"text": "Fine."}])
    model = opened(word, fake.environ)
    first = await ask(model, query("Go"))

    await ask(model, query("Go", assistant(first), Message("tool", "", call_id=first.calls[0].id, tool="bash")))

    sent = fake.bodies()[-1]
    match word:
        case "anthropic":
            assert sent["messages"][-1]["content"][0]["content"] == ""
        case "google":
            assert sent["contents"][-1]["parts"][0]["functionResponse"]["response"] == {}
        case "openai":
            assert sent["messages"][-1]["content"] == ""
        case _:
            assert sent["input"][-1]["output"] == ""


@pytest.mark.parametrize("word", WORDS)
async def test_an_empty_reply_of_the_past_is_not_sent(word: str, fake_model: Start) -> None:
    sent = await body_of(word, fake_model([{"text": "x"}]), query("hi", Message("assistant", ""), "again"))

    sides = sent.get("messages") or sent.get("contents") or sent["input"]
    assert {side["role"] for side in sides} <= {"user", "system"}


@pytest.mark.parametrize(("word", "field"), [("anthropic", "max_tokens"), ("openai-responses", "max_output_tokens")])
async def test_a_limit_of_tokens_is_sent(word: str, field: str, fake_model: Start) -> None:
    sent = await body_of(word, fake_model([{"text": "x"}]), ModelQuery("", (user("hi"),), max_tokens=77))

    assert sent[field] == 77


async def test_what_stays_the_same_is_marked_for_the_cache(fake_model: Start) -> None:
    sent = await body_of("anthropic", fake_model([{"text": "x"}]), query("hi"))

    marked = [sent["system"][-1], sent["tools"][-1], sent["messages"][-1]["content"][-1]]
    assert all(block["cache_control"]["type"] == "ephemeral" for block in marked)
