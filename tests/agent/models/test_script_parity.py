"""One script serves both: our scripted model and the test server choose the same turn, text and calls at every step."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.agent.models.asking import opened, user
from tests.support.fake_model import FakeModel
from treblehook.agent.models import Model, ModelFailed, ModelQuery, ModelReply, open_model
from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import Message

Start = Callable[[object], FakeModel]

TEXTS = st.sampled_from(["gold", "silver and gold", "port 42", "port 7 of gold", "x", 'quo"ted {1}', "söß"])
OBJECT = {"type": "object"}
TOOLS = [
    ToolSpec("bash", "Runs.", OBJECT | {"properties": {"command": {"type": "string"}}}),
    ToolSpec("read", "Reads.", OBJECT | {"properties": {"path": {"type": "string"}, "limit": {"type": "integer"}}}),
    ToolSpec("free", "Takes anything.", OBJECT),
]
ARGUMENTS = st.dictionaries(
    st.sampled_from(["command", "path", "limit", "odd"]),
    st.recursive(st.sampled_from(["{1}", "at {1} and {2}", 3, None]), lambda inner: st.lists(inner, max_size=2), max_leaves=3),
    min_size=1,
    max_size=3,
)
NAMES = st.sampled_from(["bash", "read|bash", "Bash|free|read", "none|nothing", "free"])
CALL = st.one_of(st.fixed_dictionaries({"name": NAMES, "args": ARGUMENTS}), st.fixed_dictionaries({"name": NAMES}))
USAGE = st.fixed_dictionaries({}, optional={"input": st.integers(1, 9999), "output": st.integers(1, 9999)})
FAILURE = st.fixed_dictionaries(
    {"status": st.sampled_from([400, 401, 404, 409, 429, 500, 503, 529])}, optional={"error": st.sampled_from(["busy", "bad"])}
)


@pytest.fixture
def fake(fake_model: Start) -> FakeModel:
    """A server whose script is changed by each example."""
    return fake_model([])


def turns(capture: st.SearchStrategy[str | None]) -> st.SearchStrategy[dict[str, Any]]:
    """Turns that say or call something; a reply of nothing leaves no trace in a conversation on the wire."""
    extras = {"repeat": st.integers(0, 2), "usage": USAGE}
    talk = st.fixed_dictionaries({"text": TEXTS}, optional={"tools": st.lists(CALL, max_size=2), **extras})
    work = st.fixed_dictionaries({"tools": st.lists(CALL, min_size=1, max_size=3), "capture": capture}, optional=extras)
    return st.one_of(talk, work, talk, work, FAILURE)


def scripts(where: st.SearchStrategy[str], capture: st.SearchStrategy[str | None]) -> st.SearchStrategy[object]:
    turn = turns(capture)
    match = st.sampled_from(["gold", "port", "x", "silver"])
    route = st.fixed_dictionaries({"match": match, "turns": st.lists(turn, max_size=3)}, optional={"where": where})
    whole = st.fixed_dictionaries(
        {"turns": st.lists(turn, max_size=4)},
        optional={"routes": st.lists(route, max_size=2), "after": turn, "aux": st.one_of(st.none(), turn)},
    )
    return st.one_of(st.lists(turn, max_size=4), whole)


class Conversation(NamedTuple):
    """A user who says `opening`, then after each reply one of `later`; tools answer with `results`, in turn."""

    system: str
    opening: list[str]
    later: list[str]
    results: list[str]
    tools: tuple[ToolSpec, ...]
    interrupts: bool

    def query(self, history: Sequence[Message]) -> ModelQuery:
        return ModelQuery(self.system, tuple(history), self.tools)

    def go_on(self, history: list[Message], reply: ModelReply, said: str) -> list[Message]:
        """The history after a reply. A user who interrupts says something after the results of tools too."""
        results = itertools.cycle(self.results)
        answers = [Message("tool", next(results), call_id=call.id, tool=call.name) for call in reply.calls]
        prompts = [user(said)] if self.interrupts or not reply.calls else []
        return [*history, Message("assistant", reply.text, calls=reply.calls), *answers, *prompts]


def conversations(interrupts: st.SearchStrategy[bool]) -> st.SearchStrategy[Conversation]:
    some = st.lists(TEXTS, min_size=1, max_size=3)
    tools = st.lists(st.sampled_from(TOOLS), unique_by=lambda tool: tool.name).map(tuple)
    return st.builds(Conversation, TEXTS, some, st.lists(TEXTS, min_size=2, max_size=6), some, tools, interrupts)


async def outcome(model: Model, asked: ModelQuery) -> ModelReply | tuple[str, int | None, bool]:
    """What can be compared of an answer, whoever gave it."""
    try:
        reply = await model.reply(asked, lambda text: None)
    except ModelFailed as failed:
        return failed.kind, failed.status, failed.retryable
    calls = tuple(replace(call, id=call.id.removeprefix("toolu_")) for call in reply.calls)
    return replace(reply, raw="", calls=calls)


async def compare(script: object, conversation: Conversation, fake: FakeModel, word: str) -> None:
    fake.play(script)
    scripted, wired = open_model(f"script:{fake.script}", environ={}), opened(word, fake.environ)
    history = [user(text) for text in conversation.opening]
    for said in conversation.later:
        asked = conversation.query(history)
        ours = await outcome(scripted, asked)
        assert ours == await outcome(wired, asked)
        if not isinstance(ours, ModelReply):
            return
        history = conversation.go_on(history, ours, said)


searching = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@searching
@given(
    script=scripts(st.sampled_from(["first", "last", "any", "system"]), st.sampled_from([r"port (\d+)", "(go)(ld)"])),
    conversation=conversations(st.booleans()),
)
async def test_chat_completions_play_the_same(script: object, conversation: Conversation, fake: FakeModel) -> None:
    await compare(script, conversation, fake, "openai")


# The server does not read the results of tools in this protocol, and takes what stands beside them for theirs: so here nothing
# is captured, no route looks at the newest text, and nobody interrupts.
@searching
@given(script=scripts(st.sampled_from(["first", "any", "system"]), st.none()), conversation=conversations(st.just(False)))
async def test_messages_play_the_same(script: object, conversation: Conversation, fake: FakeModel) -> None:
    await compare(script, conversation, fake, "anthropic")
