"""Whatever bytes come at whatever event of whatever agent, it gets one JSON object: the stricter answer where it can be stopped."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.samples import Sample, samples
from tests.support.outside import outside
from treblehook.contracts.python import Hooks
from treblehook.gateway.agents import AGENTS, codec_of
from treblehook.gateway.values import CallComing
from treblehook.lifecycle import Block, PreToolCall, Rewrite, ToolProposed

BODIES = {
    "nothing": b"",
    "white space": b" \n",
    "null": b"null",
    "a list": b"[{}]",
    "an empty object": b"{}",
    "half an object": b'{"session_id": "s", "cwd": "/w", "tool_name": "Ba',
    "text before": b'hook: {"session_id": "s"}',
    "text behind": b'{"session_id": "s"} ok',
    "a byte order mark": b'\xef\xbb\xbf{"session_id": "s"}',
    "invalid UTF-8": b'{"session_id": "s", "cwd": "/\xff"}',
    "half a surrogate pair": b'{"session_id": "s", "cwd": "/\\ud800"}',
    "no number": b'{"session_id": NaN}',
    "deep": b'{"tool_input":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    "deep objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "long": json.dumps({"session_id": "x" * 10_000_000, "cwd": 7}).encode(),
}
COMING = {"claude-code": "PreToolUse", "codex": "PreToolUse", "gemini": "BeforeTool", "qwen": "PreToolUse", "copilot": "preToolUse"}


def shell_call(agent: str) -> Sample:
    """The call of its shell tool."""
    folder = {"claude-code": "claude"}.get(agent, agent)
    return next(one for one in samples(folder) if one.name == COMING[agent])


def spelled(one: Sample, workspace: Path, **given: Any) -> bytes:
    """The call with more in its input."""
    key = "toolArgs" if "toolArgs" in one.payload else "tool_input"
    return json.dumps({**one.payload, "cwd": str(workspace), key: {**one.payload[key], **given}}).encode()


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
async def test_what_cannot_be_read_is_refused(tmp_path: Path, agent: str, body: bytes) -> None:
    codec = codec_of(agent)
    async with outside(tmp_path) as side:
        for hooked in codec.hooked:
            side.said.clear()
            answer = await side.raw(hooked.name, body, agent)
            assert answer.keys() == codec.refuse(hooked.name, "words").keys()
            assert len(json.dumps(answer)) < 2_000
            assert len(side.said) == 1
            assert len(side.said[0]) < 2_000
            assert "\n" not in side.said[0]
        assert await side.raw("SomethingNew", body, agent) == {}
        assert side.gateway.sessions.count == 0


@pytest.mark.parametrize("agent", COMING)
async def test_a_long_input_reaches_the_guard_whole(tmp_path: Path, agent: str) -> None:
    hooks, lengths = Hooks(), []

    @hooks.on(PreToolCall, pattern="bash")
    async def guard(event: PreToolCall) -> Block:
        lengths.append(len(event.call.input["command"]))
        return Block("too long")

    async with outside(tmp_path, hooks) as side:
        answer = await side.raw(COMING[agent], spelled(shell_call(agent), side.workspace, command=": " + "\U0001f9ed" * 10_000_000), agent)
    assert lengths == [10_000_002]
    assert "too long" in json.dumps(answer)


@pytest.mark.parametrize("agent", COMING)
async def test_the_last_of_two_equal_keys_holds_as_it_does_in_the_agent(tmp_path: Path, agent: str) -> None:
    hooks, seen = Hooks(), []

    @hooks.on(PreToolCall, pattern="bash")
    async def guard(event: PreToolCall) -> None:
        seen.append(event.call.input["command"])

    one = shell_call(agent)
    async with outside(tmp_path, hooks) as side:
        body = spelled(one, side.workspace, command="true")
        assert await side.raw(COMING[agent], body.replace(b'"command": "true"', b'"command": "true", "command": "false"'), agent) == {}
    assert seen == ["false"]


@pytest.mark.parametrize("agent", COMING)
async def test_a_refusal_with_a_reason_that_is_no_utf8_is_one(tmp_path: Path, agent: str) -> None:
    hooks = Hooks()

    @hooks.on(PreToolCall)
    async def guard(event: PreToolCall) -> Block:
        return Block("half \ud800 a pair")

    async with outside(tmp_path, hooks) as side:
        answer = await side.raw(COMING[agent], spelled(shell_call(agent), side.workspace), agent)
    codec = codec_of(agent)
    assert answer.keys() == codec.refuse(COMING[agent], "words").keys()
    assert answer != {}


@pytest.mark.parametrize("agent", COMING)
async def test_a_rewrite_that_cannot_be_sent_is_refused(tmp_path: Path, agent: str) -> None:
    hooks = Hooks()

    @hooks.on(ToolProposed)
    async def rewrite(event: ToolProposed) -> Rewrite:
        return Rewrite(input={**event.call.input, "command": "echo \ud800"})

    async with outside(tmp_path, hooks) as side:
        answer = await side.raw(COMING[agent], spelled(shell_call(agent), side.workspace), agent)
    assert answer.keys() == codec_of(agent).refuse(COMING[agent], "words").keys()
    assert "modifiedArgs" not in answer
    assert "updatedInput" not in answer.get("hookSpecificOutput", {})


def test_the_shell_calls_are_what_they_are_taken_for() -> None:
    for agent, event in COMING.items():
        what = codec_of(agent).decode(event, shell_call(agent).payload).what
        assert isinstance(what, CallComing)
        assert what.call.name == "bash"
