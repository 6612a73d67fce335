"""What of our own may break: a listener, whoever answers prompts, a tool. The history stays valid and the session can be ended."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.nest import Nest, Prompts, agent, bash, check_answered, unnamed
from tests.support.rows import Rows
from treblehook.agent.listener import Listener
from treblehook.agent.models.model import ModelQuery
from treblehook.agent.session import Session
from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import TaskEnd, ToolCall, TurnComplete


class Bug(Exception):
    """Something that nobody foresaw."""


def breaks(nest: Nest, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    """Let one method of the listener raise, once."""
    told = getattr(Listener, method)
    broken = False

    def raises(*arguments: Any) -> None:
        nonlocal broken
        if (not broken and method != "record") or (method == "record" and arguments[0]["type"] == "tool_result" and not broken):
            broken = True
            raise Bug(method)
        told(nest.ears, *arguments)

    monkeypatch.setattr(nest.ears, method, raises)


async def goes_on(nest: Nest, session: Session) -> None:
    """The session can take another turn, and be ended and resumed."""
    check_answered(session.state.conversation.messages)
    nest.plays(after={"text": "Aye."})
    assert (await session.prompt("still there?")).text == "Aye."
    check_answered(list(nest.queries[-1].messages))
    await session.finish("detached")
    resumed = await nest.open(resume=session.id)
    check_answered(resumed.state.conversation.messages)
    told, kept = unnamed(resumed.state.conversation.messages), unnamed(session.state.conversation.messages)
    assert [(m.role, m.call_id) for m in told] == [(m.role, m.call_id) for m in kept]


@pytest.mark.parametrize("method", ["text", "working", "asking", "answered", "tool_started", "tool_said", "tool_finished", "record"])
async def test_a_listener_that_raises_breaks_the_turn_and_not_the_session(
    nest: Nest, rows: Rows, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    nest.plays(bash("echo 1", "echo 2", text="I dig."), {"text": "Done."})
    session = await nest.open(hooks=rows.hooks)
    breaks(nest, monkeypatch, method)

    try:
        end = await session.prompt("go")
        # A tool that cannot tell how it gets on has failed itself.
        assert (method, end.status) == ("tool_said", "finished")
    except Bug:
        await asyncio.wait(session.state.unattended)
        assert rows.only(TurnComplete).outcome == "error"

    await goes_on(nest, session)


async def test_an_approver_that_raises_breaks_the_turn_and_not_the_session(nest: Nest, rows: Rows) -> None:
    class Broken(Prompts):
        async def approve(self, call: ToolCall, spec: ToolSpec, reason: str = "") -> bool:
            raise Bug("no terminal")

    nest.plays(bash("echo 1", "echo 2"), {"text": "Done."})
    session = await nest.open(hooks=rows.hooks, approver=Broken())

    with pytest.raises(Bug):
        await session.prompt("go")

    await asyncio.wait(session.state.unattended)
    assert rows.only(TaskEnd).exit_status == "failed"
    await goes_on(nest, session)


async def test_a_model_that_raises_breaks_the_turn_and_not_the_session(nest: Nest) -> None:
    async def broken(query: ModelQuery) -> None:
        raise Bug("no library")

    nest.before_reply = broken
    session = await nest.open()

    with pytest.raises(Bug):
        await session.prompt("go")

    nest.before_reply = None
    await goes_on(nest, session)


async def test_a_tool_that_raises_has_failed_and_the_turn_goes_on(nest: Nest, monkeypatch: pytest.MonkeyPatch) -> None:
    nest.plays({"tools": [{"name": "read", "args": {"path": "map.txt"}}]}, {"text": "Done."})
    session = await nest.open()

    async def broken(*_: Any) -> Any:
        raise Bug("no paper")

    monkeypatch.setattr((await nest.home.tools())["read"], "run", broken)

    end = await session.prompt("go")

    assert end.text == "Done."
    (result,) = nest.ears.of("tool_result")
    assert (result["content"], result["is_error"], result["ran"]) == ("The tool read failed: Bug: no paper", True, True)


async def test_a_hook_that_raises_anywhere_fails_open_and_is_in_the_records(nest: Nest) -> None:
    rows = Rows()
    for event in {type(event) for event in await every_event(nest)}:
        rows.on(event, Bug("nobody foresaw this"), name="broken")
    nest.ears.records.clear()
    nest.plays(bash("echo 1"), {"text": "Done."})
    session = await nest.open(hooks=rows.hooks)

    end = await session.prompt("go")

    # A gate is the exception: what it does not pass does not run.
    assert end.text == "Done."
    (result,) = nest.ears.of("tool_result")
    assert "policy broken refused" in result["content"]
    broken = [record for record in nest.ears.of("hook") if record["hook"] == "broken"]
    assert len(broken) > 10
    assert {record["ended"] for record in broken} == {"failed"}
    assert all("nobody foresaw this" in record["error"] for record in broken)


async def every_event(nest: Nest) -> list[Any]:
    """The events of a turn with one command."""
    rows = Rows()
    nest.plays(bash("echo 1"), {"text": "Done."})
    await (await nest.open(hooks=rows.hooks)).prompt("go")
    return rows.events


async def test_a_subagent_that_breaks_is_an_error_for_its_parent(nest: Nest, monkeypatch: pytest.MonkeyPatch) -> None:
    nest.plays(agent("dig"), {"text": "Alone then."}, routes=[{"match": "dig", "turns": [{"text": "Dug."}]}])
    session = await nest.open()
    text: Callable[..., None] = nest.ears.text

    def raises(speaker: str, delta: str) -> None:
        if speaker != session.id:
            raise Bug("who is that?")
        text(speaker, delta)

    monkeypatch.setattr(nest.ears, "text", raises)

    end = await session.prompt("go")

    assert end.text == "Alone then."
    result = nest.ears.of("tool_result")[-1]
    assert (result["content"], result["is_error"]) == ("The tool agent failed: Bug: who is that?", True)
    assert [record["status"] for record in nest.ears.of("end")] == ["failed"]


async def test_a_background_subagent_that_breaks_is_told(nest: Nest, monkeypatch: pytest.MonkeyPatch) -> None:
    digs = {"match": "dig", "turns": [{"text": "Dug."}]}
    nest.plays(agent("dig", background=True), {"text": "I wait."}, {"text": "Alone then."}, routes=[digs])
    session = await nest.open()
    text: Callable[..., None] = nest.ears.text

    def raises(speaker: str, delta: str) -> None:
        if speaker != session.id:
            raise Bug("who is that?")
        text(speaker, delta)

    monkeypatch.setattr(nest.ears, "text", raises)
    await session.prompt("go")

    await session.settle(lambda end: None)

    assert "failed: who is that?" in str(nest.queries[-1].messages)
    assert not session.children.busy()
