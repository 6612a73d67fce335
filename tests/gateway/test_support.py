"""The capability tables: whole for every agent, and as good as the answers are."""

import pytest

from treblehook.gateway.agents import AGENTS, codec_of
from treblehook.gateway.codec import Codec
from treblehook.gateway.install.entries import forms_of
from treblehook.gateway.values import (
    AddText,
    Answer,
    Arrived,
    CallComing,
    CallDone,
    GoOn,
    Granted,
    Patched,
    PermissionAsked,
    PromptGiven,
    Refused,
    RunRewritten,
    Starting,
    Stopping,
    SubagentDone,
    What,
)
from treblehook.host.tool import ToolOutput
from treblehook.lifecycle import (
    ROWS,
    AddContext,
    Allow,
    Ask,
    Block,
    CompactionStarting,
    Continue,
    Decision,
    Deny,
    Event,
    Inject,
    PermissionRequest,
    PreToolCall,
    PromptSubmitted,
    Refuse,
    Reopen,
    Replace,
    Rewrite,
    SeedContext,
    SessionEnd,
    SessionStart,
    ShellGate,
    SubagentFinished,
    TaskEnd,
    TaskStart,
    ToolCall,
    ToolFinished,
    ToolGate,
    ToolProposed,
    TurnComplete,
    TurnEnding,
)

EVENTS = [event for _, event in ROWS]
DAEMON = {event for number, event in ROWS if number == "d"}
CALL = ToolCall("call-1", "bash", {"command": "echo one"})
STARTING, PROMPT, STOPPING = Starting(), PromptGiven("Do it."), Stopping("Done.")
ASKED = PermissionAsked(CALL, "bash")
COMING = CallComing(CALL, "bash", {"command": "echo one"})
RESULTS: tuple[What, ...] = tuple(
    CallDone(CALL, "bash", ToolOutput("one"), response) for response in ("one", {"stdout": "one", "stderr": ""})
)

SAID: dict[tuple[type[Event], type[Decision]], tuple[tuple[What, ...], Answer]] = {
    (SessionStart, AddContext): ((STARTING, PROMPT), AddText("words")),
    (SessionStart, Refuse): ((COMING,), Refused("words")),
    (PromptSubmitted, AddContext): ((PROMPT,), AddText("words")),
    (PromptSubmitted, Block): ((PROMPT,), Refused("words")),
    (TaskStart, SeedContext): ((PROMPT,), AddText("words")),
    (ToolProposed, Rewrite): ((COMING,), RunRewritten({"command": "echo two"})),
    (ToolProposed, Block): ((COMING,), Refused("words")),
    (ToolProposed, Replace): ((COMING,), Refused("words", replaced=True)),
    (PreToolCall, Rewrite): ((COMING,), RunRewritten({"command": "echo two"})),
    (PreToolCall, Block): ((COMING,), Refused("words")),
    (PreToolCall, Replace): ((COMING,), Refused("words", replaced=True)),
    (PermissionRequest, Allow): ((ASKED,), Granted()),
    (PermissionRequest, Deny): ((ASKED, COMING), Refused("words")),
    (ToolGate, Refuse): ((COMING,), Refused("words")),
    (ShellGate, Refuse): ((COMING,), Refused("words")),
    (ToolFinished, Rewrite): (RESULTS, Patched("two", is_error=False)),
    (TurnEnding, Continue): ((STOPPING, SubagentDone("Done.")), GoOn("words")),
    (TaskEnd, Reopen): ((STOPPING, SubagentDone("Done.")), GoOn("words")),
    (TurnComplete, Inject): ((PROMPT,), AddText("words")),
}
"""How each decision reaches an agent: as which answer to which of its calls."""

UNSAID = {(PermissionRequest, Ask), (PermissionRequest, Allow)}
"""What needs no answer: an agent asks where nobody says otherwise, and what a rule of ours wants asked a hook settles before that."""


@pytest.mark.parametrize("agent", AGENTS)
def test_the_table_has_one_row_for_every_event_and_every_decision_that_it_accepts(agent: str) -> None:
    rows = [(row.event, row.decision) for row in codec_of(agent).support]
    assert len(rows) == len(set(rows))
    assert set(rows) == {(event, decision) for event in EVENTS for decision in (None, *event.accepts)}


@pytest.mark.parametrize("agent", AGENTS)
def test_what_is_not_honoured_says_what_happens_instead(agent: str) -> None:
    assert [row for row in codec_of(agent).support if row.how != "honoured" and not row.instead.strip()] == []


@pytest.mark.parametrize("agent", AGENTS)
def test_an_event_is_asked_exactly_where_a_call_of_the_agent_is_installed_for_it(agent: str) -> None:
    codec = codec_of(agent)
    installed = {event for hooked in codec.hooked for event in hooked.events}
    asked = {row.event for row in codec.support if row.decision is None and row.how != "unasked"}
    assert asked - DAEMON == installed
    assert {row.how for row in codec.support if row.event in DAEMON} == {"honoured"}


@pytest.mark.parametrize("agent", AGENTS)
def test_each_event_of_an_agent_is_installed_once(agent: str) -> None:
    names = [hooked.name for hooked in codec_of(agent).hooked]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("agent", AGENTS)
def test_a_closed_start_hook_closes_every_call_that_a_session_can_begin_with(agent: str) -> None:
    """Where the gateway cannot be reached, nobody has asked whether there may be a session at all."""
    codec = codec_of(agent)
    starts = {hooked.name for hooked in codec.hooked if SessionStart in hooked.events}
    assert starts >= {
        hooked.name for hooked in codec.hooked if {PromptSubmitted, ToolProposed, PreToolCall, ToolGate, ShellGate} & set(hooked.events)
    }
    assert {event for event, form in forms_of(codec, {SessionStart}, http=True).items() if form == "closed"} == starts


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("event", [ToolProposed, PreToolCall, ToolGate, ShellGate, PromptSubmitted])
def test_where_a_closed_hook_is_asked_the_agent_can_be_stopped(agent: str, event: type[Event]) -> None:
    codec = codec_of(agent)
    names = [hooked.name for hooked in codec.hooked if event in hooked.events]
    assert names
    assert all(codec.refuse(name, "words") for name in names)
    assert all(form == "closed" for name, form in forms_of(codec, {event}, http=True).items() if name in names)


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("event", [TurnEnding, TaskEnd, TurnComplete, SubagentFinished, CompactionStarting, SessionEnd])
def test_a_failure_never_sends_a_model_back_nor_keeps_a_session(agent: str, event: type[Event]) -> None:
    """Codex and Gemini know no limit of how often a failing command does."""
    assert "closed" not in forms_of(codec_of(agent), {event}, http=True).values()


@pytest.mark.parametrize(
    ("agent", "event", "decision"),
    [
        (agent, row.event, row.decision)
        for agent in AGENTS
        for row in codec_of(agent).support
        if row.decision is not None and row.how in ("honoured", "stricter") and row.event not in DAEMON
    ],
)
def test_a_decision_that_is_honoured_is_an_answer_that_is_given(agent: str, event: type[Event], decision: type[Decision]) -> None:
    if (event, decision) not in UNSAID:
        assert _is_said(codec_of(agent), *SAID[event, decision])


def _is_said(codec: Codec, whats: tuple[What, ...], answer: Answer) -> bool:
    """Whether some installed call is answered with more than no opinion."""
    calls = [Arrived(hooked.name, what, "s", "/w", subagent="a") for hooked in codec.hooked for what in whats]
    return any(codec.encode(arrived, answer) for arrived in calls)
