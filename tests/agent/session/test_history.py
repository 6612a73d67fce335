"""The history of a session is valid at all times, and what its file tells is what the session has in memory."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.nest import Nest, check_answered, opening_models, unnamed
from tests.support.rows import Rows
from treblehook.agent.models.model import ModelQuery, ModelReply, Stop, Usage
from treblehook.agent.session import Session
from treblehook.lifecycle import (
    AddContext,
    Block,
    ContextFull,
    Continue,
    Deny,
    Event,
    Inject,
    Message,
    ModelRequest,
    PermissionRequest,
    PreToolCall,
    PromptSubmitted,
    Refuse,
    Reopen,
    Replace,
    ReplaceContext,
    Rewrite,
    SeedContext,
    SessionStart,
    ShellGate,
    TaskEnd,
    TaskStart,
    ToolCall,
    ToolFinished,
    ToolGate,
    ToolProposed,
    TurnComplete,
    TurnEnding,
)

SEED = SeedContext((Message("user", "a map"), Message("assistant", "a rhyme")))
INPUTS: list[dict[str, Any]] = [{"command": "echo gold"}, {"path": "map.txt"}, {"command": "exit 3", "odd": None}, {}]

# What hooks may say at each row; None stands for a pass, which is the most frequent.
SAYINGS: dict[type[Event], list[Any]] = {
    SessionStart: [None, AddContext("the crow")],
    PromptSubmitted: [None, None, AddContext("a palm"), Rewrite(tools=("read",)), Block("no prompt")],
    TaskStart: [None, None, SEED],
    ModelRequest: [None, None, Rewrite(prompt="rewritten"), Block("no request")],
    ToolProposed: [None, None, *(Rewrite(input=value) for value in INPUTS), Block("no"), Replace("instead", is_error=True)],
    PreToolCall: [None, None, Rewrite(input={"path": "other.txt"}), Block("no"), Replace("instead", terminate=True)],
    PermissionRequest: [None, None, Deny("not yours")],
    ToolGate: [None, None, Refuse("shut")],
    ShellGate: [None, None, Refuse("shut")],
    ToolFinished: [None, None, Rewrite(content="redacted"), Rewrite(is_error=True), Rewrite(content="x" * 30_001)],
    ContextFull: [None, ReplaceContext((Message("user", "shorter"),)), ReplaceContext(())],
    TurnEnding: [None, Continue("go on")],
    TaskEnd: [None, None, Reopen("again")],
    TurnComplete: [None, Inject("held"), Inject("held", "user_suffix")],
}

texts = st.sampled_from(["", "Aye.", "half \ud83d pair", "two\nlines"])
calls = st.lists(
    st.tuples(st.sampled_from(["c1", "c1", "c2", "call_0"]), st.sampled_from(["bash", "read", "fly", "glob"]), st.sampled_from(INPUTS)),
    max_size=3,
)
stops: st.SearchStrategy[Stop] = st.sampled_from(["end", "end", "end", "length", "refusal"])
replies = st.builds(
    lambda text, made, stop, raw, tokens: ModelReply(
        text,
        tuple(ToolCall(*call) for call in made),
        "tools" if made else stop,
        Usage(tokens, 1),
        raw,
    ),
    texts,
    calls,
    stops,
    st.sampled_from(["", '{"signed": true}']),
    st.sampled_from([10, 10, 10, 95_000]),
)


class Sea:
    """A session on which everything that happens is drawn; `moments` counts the rows, at one of which the user stops the turn."""

    def __init__(self, nest: Nest, draw: Callable[[Any], Any]) -> None:
        self.nest = nest
        self.draw = draw
        self.rows = Rows()
        self.stop_at = draw(st.none() | st.integers(1, 40))
        self.moments = 0
        self.session: Session | None = None
        for event, sayings in SAYINGS.items():
            self.rows.on(event, self._hook(sayings))
        nest.before_reply = self._reply

    def _hook(self, sayings: list[Any]) -> Callable[[Event], Awaitable[Any]]:
        async def hook(event: Event) -> Any:
            await self._moment()
            return self.draw(st.sampled_from(sayings))

        return hook

    async def _moment(self) -> None:
        self.moments += 1
        if self.moments == self.stop_at and self.session is not None:
            stopping = asyncio.ensure_future(self.session.interrupt())
            await asyncio.Event().wait()
            await stopping

    async def _reply(self, query: ModelQuery) -> None:
        check_answered(list(query.messages))
        await self._moment()
        # A conversation that goes on and on ends in the end.
        self.nest.replies = [ModelReply("Done.") if len(self.nest.queries) > 12 else self.draw(replies)]

    async def sail(self) -> None:
        """Two turns, perhaps a compaction, and a second life."""
        nest = self.nest
        self.session = session = await nest.open(hooks=self.rows.hooks)
        for number in range(2):
            await session.prompt(*(f"prompt {number}.{part}" for part in range(self.draw(st.integers(1, 2)))))
            check_answered(session.state.conversation.messages)
            nest.queries.clear()
        if self.draw(st.booleans()):
            await session.compact()
        await session.finish("detached")
        kept = unnamed(session.state.conversation.messages)

        self.rows = Rows()
        self.session = None
        resumed = await nest.open(resume=session.id)
        told = unnamed(resumed.state.conversation.messages)
        assert told == kept
        assert resumed.state.turns == session.state.turns


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_whatever_happens_the_file_tells_what_the_session_had(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    async def main(folder: Path) -> None:
        nest = Nest(folder)
        nest.settings("[model]\ncontext_window = 100000\n")
        (nest.workspace / "map.txt").write_text("x\n")
        with opening_models(nest):
            try:
                await Sea(nest, data.draw).sail()
            finally:
                await nest.close()

    asyncio.run(main(tmp_path_factory.mktemp("sea")))


async def test_half_a_character_of_the_model_is_replaced_before_anything_is_made_of_it(nest: Nest) -> None:
    nest.replies = [ModelReply("half \ud83d", (ToolCall("c1", "bash", {"command": "echo '\ud83d\ude00 \ud83d'"}),), raw="signed")]
    session = await nest.open()

    await session.prompt("dig")

    _, reply, result, _ = session.state.conversation.messages
    assert reply.text == "half \ufffd"
    assert reply.calls[0].input == {"command": "echo '😀 \ufffd'"}
    assert reply.raw == ""
    assert result.text == "😀 \ufffd\n"
    json.dumps([message.text for message in nest.queries[-1].messages], ensure_ascii=False).encode()


async def test_what_the_model_signed_is_there_after_an_interruption_and_a_resume(nest: Nest) -> None:
    nest.replies = [ModelReply("I wait.", (ToolCall("c1", "bash", {"command": "sleep 60"}),), raw="signed")]
    session = await nest.open()
    turn = asyncio.ensure_future(session.prompt("go"))
    while not nest.ears.of("tool_call"):
        await asyncio.sleep(0.005)
    await session.interrupt()
    await turn
    await session.finish("detached")

    resumed = await nest.open(resume=session.id)

    assert unnamed(resumed.state.conversation.messages) == unnamed(session.state.conversation.messages)
    assert resumed.state.conversation.messages[1].raw == "signed"
    assert resumed.state.conversation.messages[1].calls[0].input == {"command": "sleep 60"}


async def test_of_a_call_that_never_came_the_input_is_forgotten_here_and_there(nest: Nest, rows: Rows) -> None:
    reached = asyncio.Event()

    async def wait(event: PreToolCall) -> None:
        reached.set()
        await asyncio.Event().wait()

    calls = (ToolCall("c1", "bash", {"command": "echo secret"}), ToolCall("c2", "bash", {"command": "echo secret"}))
    nest.replies = [ModelReply("", calls, raw="signed: echo secret")]
    rows.on(PreToolCall, wait)
    session = await nest.open(hooks=rows.hooks)
    turn = asyncio.ensure_future(session.prompt("go"))
    await reached.wait()
    await session.interrupt()
    await turn
    await session.finish("detached")

    resumed = await nest.open(resume=session.id)

    kept = session.state.conversation.messages
    assert unnamed(resumed.state.conversation.messages) == unnamed(kept)
    assert [(call.id, call.input) for call in kept[1].calls] == [("c1", {}), ("c2", {})]
    assert b"secret" not in nest.on_disk()


async def test_a_message_keeps_its_id_over_a_resume(nest: Nest) -> None:
    session = await nest.open()
    await session.prompt("go")
    await session.finish("detached")

    resumed = await nest.open(resume=session.id)

    assert resumed.state.conversation.messages == session.state.conversation.messages
    assert unnamed(resumed.state.conversation.messages) == [Message("user", "go"), Message("assistant", "Done.")]
