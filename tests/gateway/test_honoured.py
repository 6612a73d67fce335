"""Whatever hooks say at whatever call, an agent is told nothing but what it was seen to honour there."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.gateway import honoured, honoured_codex_gemini
from tests.gateway.drawn import ANSWERS, TEXTS
from tests.gateway.samples import sample, samples
from treblehook.gateway.agents import codec_of
from treblehook.gateway.values import (
    NO_OPINION,
    AddText,
    Answer,
    Arrived,
    AskUser,
    GoOn,
    Granted,
    Patched,
    Refused,
    RunRewritten,
)

TABLES = honoured.HONOURED | honoured_codex_gemini.HONOURED
FOLDERS = {"claude-code": ("claude", "claude-agent-sdk")}
LIKE = {
    "qwen": {"PermissionRequest": "PreToolUse", "PreCompact": "Stop", "SessionEnd": "Stop"},
    "copilot": {"preCompact": "agentStop"},
}
"""Installed events that were never seen to come, and the capture that is taken for one of them."""
EACH: tuple[Answer, ...] = (
    NO_OPINION,
    AddText("words"),
    AddText(" "),
    Refused("words"),
    Refused(""),
    Refused("words", replaced=True),
    Refused("", replaced=True),
    AskUser("words"),
    AskUser("", {"command": "true"}),
    RunRewritten({"command": "true"}),
    RunRewritten({}),
    Granted(),
    Patched("words", is_error=False),
    Patched("", is_error=True),
    GoOn("words"),
    GoOn(""),
)


def calls_of(agent: str) -> list[Arrived]:
    codec = codec_of(agent)
    seen = [codec.decode(one.event, one.payload) for folder in FOLDERS.get(agent, (agent,)) for one in samples(folder)]
    alike = [(event, sample(agent, name).payload) for event, name in LIKE.get(agent, {}).items()]
    return seen + [
        codec.decode(event, {**like, **({"hook_event_name": event} if "hook_event_name" in like else {})}) for event, like in alike
    ]


def is_honoured(agent: str, arrived: Arrived, answer: Answer) -> bool:
    """What goes over the wire is one object in which no key comes twice, and it is in the table."""
    sent = msgspec.json.encode(codec_of(agent).encode(arrived, answer))

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(dict(pairs)) == len(pairs)
        return dict(pairs)

    said = json.loads(sent, object_pairs_hook=once)
    return sent[:1] + sent[-1:] == b"{}" and honoured.honours(TABLES[agent], arrived.event, said)


@pytest.mark.parametrize("agent", TABLES)
def test_there_is_a_call_for_every_installed_event(agent: str) -> None:
    assert {hooked.name for hooked in codec_of(agent).hooked} <= {arrived.event for arrived in calls_of(agent)}


@pytest.mark.parametrize("agent", TABLES)
def test_every_answer_at_every_captured_call_is_honoured(agent: str) -> None:
    for arrived in calls_of(agent):
        for answer in EACH:
            assert is_honoured(agent, arrived, answer), (arrived.event, answer, codec_of(agent).encode(arrived, answer))


@pytest.mark.parametrize(
    ("agent", "event"), [(agent, hooked.name) for agent in TABLES for hooked in codec_of(agent).hooked], ids=lambda part: part
)
def test_whatever_hooks_say_is_said_in_a_form_that_is_honoured(agent: str, event: str) -> None:
    calls = [arrived for arrived in calls_of(agent) if arrived.event == event]

    @settings(deadline=None)
    @given(st.sampled_from(calls), ANSWERS)
    def check(arrived: Arrived, answer: Answer) -> None:
        assert is_honoured(agent, arrived, answer)

    check()


@pytest.mark.parametrize("agent", TABLES)
def test_a_call_that_cannot_be_read_is_refused_in_a_form_that_is_honoured(agent: str) -> None:
    codec = codec_of(agent)
    events = sorted({arrived.event for arrived in calls_of(agent)} | {hooked.name for hooked in codec.hooked} | {"NewEvent", ""})

    @given(st.sampled_from(events), TEXTS)
    def check(event: str, reason: str) -> None:
        assert honoured.honours(TABLES[agent], event, codec.refuse(event, reason))

    check()


@pytest.mark.parametrize("agent", TABLES)
def test_no_opinion_is_an_empty_object(agent: str) -> None:
    assert all(codec_of(agent).encode(arrived, NO_OPINION) == {} for arrived in calls_of(agent))
