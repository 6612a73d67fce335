"""Whatever Claude Code sends and whatever hooks say, a callback answers, and in a form that Claude Code was seen to honour."""

import asyncio
import json
from typing import Any, get_args

import pytest
from claude_agent_sdk.types import HookEvent
from hypothesis import given
from hypothesis import strategies as st

from tests.gateway.drawn import INPUTS, JSON, TEXTS, spoiled
from tests.gateway.honoured import HONOURED, honours
from tests.gateway.samples import Sample, samples
from treblehook import (
    AddContext,
    Allow,
    Block,
    Continue,
    Deny,
    Event,
    Hooks,
    PermissionRequest,
    PreToolCall,
    PromptSubmitted,
    Refuse,
    Replace,
    Rewrite,
    SessionStart,
    ToolFinished,
    TurnEnding,
)
from treblehook.adapters.claude_agent_sdk import TreblehookGuard
from treblehook.gateway.agents.claude_code import ClaudeCode
from treblehook.gateway.codec import PayloadInvalid

EVENTS = {str(event): given[0] for event, given in TreblehookGuard(Hooks()).matchers().items()}
CALLS = [one for folder in ("claude", "claude-agent-sdk") for one in samples(folder) if one.event in EVENTS]
SAID: dict[type[Event], st.SearchStrategy[Any]] = {
    SessionStart: st.one_of(st.none(), st.builds(AddContext, TEXTS), st.builds(Refuse, TEXTS)),
    PromptSubmitted: st.one_of(st.none(), st.builds(AddContext, TEXTS), st.builds(Block, TEXTS)),
    PreToolCall: st.one_of(
        st.none(),
        st.builds(Block, TEXTS),
        st.builds(Replace, TEXTS),
        st.builds(Rewrite, input=INPUTS),
        st.just(Rewrite(input={"x": object()})),
    ),
    PermissionRequest: st.one_of(st.none(), st.just(Allow()), st.builds(Deny, TEXTS)),
    ToolFinished: st.one_of(st.none(), st.builds(Rewrite, content=TEXTS)),
    TurnEnding: st.one_of(st.none(), st.builds(Continue, TEXTS)),
}
TOOLS = ["Bash", "Monitor", "Read", "NotebookEdit", "Edit", "MultiEdit", "Agent", "mcp__a__b", "Xyz", "a_tool_of_another_agent"]
KEYS = [
    "command",
    "timeout",
    "timeout_ms",
    "file_path",
    "notebook_path",
    "path",
    "old_string",
    "old",
    "new_source",
    "new",
    "prompt",
    "task",
]
GIVEN = st.dictionaries(st.sampled_from(KEYS), JSON, max_size=4)
EDITS = st.builds(lambda edits: {"edits": edits}, st.lists(GIVEN, max_size=3) | JSON)
NEVER_CLOSED = (PermissionRequest, ToolFinished, TurnEnding)
RAISES = object()


@st.composite
def spoken(draw: st.DrawFn) -> dict[type[Event], Any]:
    return {event: draw(st.just(RAISES) | answers) for event, answers in SAID.items()}


def hooks_saying(words: dict[type[Event], Any], on_error: Any) -> Hooks:
    hooks = Hooks()
    for event, word in words.items():

        def answer(given: Any, word: Any = word) -> Any:
            if word is RAISES:
                raise LookupError("lost at sea")
            return word

        hooks.on(event, on_error="open" if event in NEVER_CLOSED else on_error)(answer)
    return hooks


async def answers(hooks: Hooks, event: str, *payloads: Any) -> list[dict[str, Any]]:
    guard = TreblehookGuard(hooks)
    callback: Any = guard.matchers()[event][0].hooks[0]  # type: ignore[index]  # some events are not among those that are typed
    found = [await callback(payload, None, {"signal": None}) for payload in payloads]
    await guard.close()
    return found


def as_sent(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer as the SDK sends it on."""
    return {{"continue_": "continue"}.get(key, key): value for key, value in answer.items()}


def check(event: str, said: dict[str, Any]) -> None:
    sent = as_sent(said)
    assert honours(HONOURED["claude-code"], event, sent), (event, sent)
    json.dumps(said, allow_nan=False)


@given(st.sampled_from(CALLS), spoken(), st.sampled_from(["open", "closed"]))
def test_whatever_hooks_say_is_said_in_a_form_that_is_honoured(call: Sample, words: dict[type[Event], Any], on_error: str) -> None:
    # Twice: the start of a session is told at its first call.
    for said in asyncio.run(answers(hooks_saying(words, on_error), call.event, call.payload, call.payload)):
        check(call.event, said)


@given(st.sampled_from(CALLS).flatmap(lambda call: st.tuples(st.just(call.event), spoiled(call.payload) | JSON)), spoken())
def test_whatever_is_sent_is_answered_in_a_form_that_is_honoured(sent: tuple[str, Any], words: dict[type[Event], Any]) -> None:
    (said,) = asyncio.run(answers(hooks_saying(words, "open"), *sent))
    check(sent[0], said)


TWO_PATHS = {"file_path": "/x", "path": "/y"}
"""Both are one key to hooks, which would see one of the two values."""
CALLS_WITH_INPUTS = [one for one in CALLS if "tool_input" in one.payload]


@given(st.sampled_from(CALLS_WITH_INPUTS), st.sampled_from(TOOLS), GIVEN | EDITS, spoken())
def test_a_call_whose_input_hooks_would_not_see_as_a_whole_is_refused(
    call: Sample, tool: str, given: dict[str, Any], words: dict[type[Event], Any]
) -> None:
    payload = {**call.payload, "tool_name": tool, "tool_input": given}
    (said,) = asyncio.run(answers(hooks_saying(words, "open"), call.event, payload))
    check(call.event, said)
    try:
        ClaudeCode().decode(call.event, payload)
    except PayloadInvalid:
        assert ("PayloadInvalid" in json.dumps(said)) == (call.event != "PostToolUseFailure")


@pytest.mark.parametrize("tool", ["Read", "Write", "Edit", "MultiEdit"])
@pytest.mark.parametrize("call", CALLS_WITH_INPUTS, ids=str)
def test_a_call_with_two_values_for_one_key_is_refused_before_any_hook_is_asked(call: Sample, tool: str) -> None:
    hooks, asked = Hooks(), []
    for event in (SessionStart, PreToolCall, PermissionRequest, ToolFinished):
        hooks.on(event)(asked.append)
    (said,) = asyncio.run(answers(hooks, call.event, {**call.payload, "tool_name": tool, "tool_input": TWO_PATHS}))
    assert asked == []
    assert ("a second value for path" in json.dumps(said)) == (call.event != "PostToolUseFailure")


def test_a_rewrite_with_two_values_for_one_key_is_denied() -> None:
    hooks = Hooks()

    @hooks.on(PreToolCall)
    def both(event: PreToolCall) -> Rewrite:
        return Rewrite(input=TWO_PATHS)

    call = next(one for one in CALLS if one.event == "PreToolUse").payload
    (said,) = asyncio.run(answers(hooks, "PreToolUse", {**call, "tool_name": "Read", "tool_input": {"file_path": "/x"}}))
    check("PreToolUse", said)
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_what_no_user_says_is_no_prompt() -> None:
    hooks = hooks_saying({SessionStart: Refuse("closed"), PromptSubmitted: Block("not a word")}, "closed")
    call = next(one for one in CALLS if one.event == "UserPromptSubmit").payload
    told = {**call, "prompt": "<task-notification>\n<status>completed</status>\n</task-notification>"}
    assert asyncio.run(answers(hooks, "UserPromptSubmit", told, call)) == [{}, {"decision": "block", "reason": "closed"}]


def test_what_does_not_answer_in_time_is_refused() -> None:
    hooks = Hooks()

    @hooks.on(PreToolCall)
    async def sleeps(event: PreToolCall) -> None:
        await asyncio.Event().wait()

    async def run() -> Any:
        guard = TreblehookGuard(hooks, answer_seconds=0.05)
        call = next(one for one in CALLS if one.event == "PreToolUse")
        (callback,) = guard.matchers()["PreToolUse"][0].hooks
        answer = await callback(call.payload, None, {"signal": None})  # type: ignore[arg-type]  # as it was captured
        await guard.close()
        return answer

    said = asyncio.run(run())
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "TimeoutError" in said["hookSpecificOutput"]["permissionDecisionReason"]


def test_every_event_at_which_something_can_be_stopped_has_a_callback_that_blocks_where_it_fails() -> None:
    watched = {"Notification", "SubagentStart"}
    assert set(get_args(HookEvent)) | {str(e) for part in get_args(HookEvent) for e in get_args(part)} >= set(EVENTS) - {
        "PreSkillShellCommand"
    }
    typed = {str(name) for part in get_args(HookEvent) for name in get_args(part) or (part,)}
    assert typed - watched <= set(EVENTS)
    assert all(matcher.on_failure == "block" and matcher.matcher is None for matcher in EVENTS.values())
