"""Scripts in the claude protocol at session start, at the end of a turn, and where they only watch (vera.md 4.6, 4.7; cases 152 to 161)."""

import json
from typing import Any

import pytest

from tests.support.sample_events import SESSION, WORKSPACE, closed, compacting, ending, started
from tests.support.vera_home import VeraHome, contexts
from treblehook.contracts.claude.events import EVENTS
from treblehook.engine import Ended
from treblehook.lifecycle import AddContext, Continue

REFUSES = "cat >/dev/null; echo stdout; echo ' because ' >&2; exit 2"


def specific(event: str, **fields: object) -> dict[str, object]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


@pytest.mark.parametrize(("reason", "source"), [("start", "startup"), ("resume", "resume"), ("compacted", "compact")])
async def test_case_154_the_payload_of_session_start(home: VeraHome, reason: Any, source: str) -> None:
    home.claude("SessionStart", "hello", b"")

    await home.fire(started(reason))

    assert home.sent("hello") == [{"session_id": SESSION, "cwd": WORKSPACE, "hook_event_name": "SessionStart", "source": source}]


@pytest.mark.parametrize("body", [REFUSES, "exit 2"])
async def test_case_152_exit_2_at_session_start_is_ignored(home: VeraHome, body: str) -> None:
    home.claude("SessionStart", "hello", body)
    session = home.session()

    outcome = await session.fire(started())

    assert (outcome.decision, outcome.contributions, home.log()) == (None, (), [])
    assert [call.ended for call in session.calls] == [Ended.PASSED]


async def test_text_at_session_start_is_a_context(home: VeraHome) -> None:
    home.claude("SessionStart", "hello", b"\n[1, 2]\n")

    assert contexts(await home.fire(started())) == [AddContext("[1, 2]")]


async def test_additional_context_at_session_start(home: VeraHome) -> None:
    answer = {"decision": "block", **specific("SessionStart", additionalContext="The crow likes short answers.")}
    home.claude("SessionStart", "hello", json.dumps(answer).encode())

    assert contexts(await home.fire(started())) == [AddContext("The crow likes short answers.")]


@pytest.mark.parametrize("answer", [{}, specific("SessionStart"), specific("SessionStart", additionalContext="")])
async def test_objects_that_add_nothing(home: VeraHome, answer: object) -> None:
    home.claude("SessionStart", "hello", json.dumps(answer).encode())

    assert (await home.fire(started())).contributions == ()
    assert home.log() == []


@pytest.mark.parametrize(
    "answer",
    [
        specific("SessionStart", additionalContext=5),
        specific("SessionStart", additionalContext=None),
        specific("UserPromptSubmit", additionalContext="x"),
        {"hookSpecificOutput": 5},
        specific("SessionStart", additionalContext="x" * 131_073),
    ],
)
async def test_case_153_a_bad_object_at_session_start_is_logged(home: VeraHome, answer: object) -> None:
    home.claude("SessionStart", "hello", json.dumps(answer).encode())

    assert (await home.fire(started())).contributions == ()
    assert [(line["type"], line["index"]) for line in home.log()] == [("session_start_hook_failed", 1)]


async def test_the_payload_of_stop(home: VeraHome) -> None:
    home.claude("Stop", "map-check", b"")
    session = home.session()

    await session.fire(ending())
    await session.fire(ending("done!", continuations=1))

    first, second = home.sent("map-check")
    assert first == {
        "session_id": SESSION,
        "cwd": WORKSPACE,
        "hook_event_name": "Stop",
        "stop_hook_active": False,
        "last_assistant_message": "done",
    }
    assert (second["stop_hook_active"], second["last_assistant_message"]) == (True, "done!")


async def test_case_158_a_subagents_stop_names_the_subagent(home: VeraHome) -> None:
    home.claude("SubagentStop", "map-check", b"")

    await home.session(spawned=True).fire(ending(spawned=True))

    assert home.sent("map-check") == [
        {
            "session_id": SESSION,
            "cwd": WORKSPACE,
            "hook_event_name": "SubagentStop",
            "stop_hook_active": False,
            "last_assistant_message": "done",
            "agent_id": SESSION,
        }
    ]


@pytest.mark.parametrize(("event", "spawned"), [("Stop", False), ("turn_ending", False), ("SubagentStop", True)])
async def test_exit_2_continues_the_turn(home: VeraHome, event: str, spawned: bool) -> None:
    home.claude(event, "map-check", REFUSES)

    assert (await home.session(spawned=spawned).fire(ending())).decision == Continue("because")


async def test_exit_2_without_a_reason_ends_the_turn(home: VeraHome) -> None:
    home.claude("Stop", "map-check", "exit 2")
    home.claude("Stop", "second", REFUSES)
    session = home.session()

    assert (await session.fire(ending())).decision is None
    assert [call.ended for call in session.calls] == [Ended.FAILED]


@pytest.mark.parametrize(
    "printed", [b"", b"text", b"[1]", b"{}", b'{"decision":"approve","reason":"x"}', b'{"hookSpecificOutput":{"hookEventName":"Stop"}}']
)
async def test_case_156_what_lets_the_turn_end(home: VeraHome, printed: bytes) -> None:
    home.claude("Stop", "map-check", printed)
    session = home.session()

    assert (await session.fire(ending())).decision is None
    assert [call.ended for call in session.calls] == [Ended.PASSED]


async def test_a_block_continues_with_its_reason(home: VeraHome) -> None:
    home.claude("Stop", "map-check", b'{"decision":"block","reason":"draw the map"}')

    assert (await home.fire(ending())).decision == Continue("draw the map")


@pytest.mark.parametrize(
    "answer",
    [
        {"decision": "block"},
        {"decision": "block", "reason": ""},
        {"decision": "block", "reason": 5},
        {"decision": "block", "reason": "x" * 131_073},
        {"decision": "block", "reason": "x", **specific("SubagentStop")},
        specific("PreToolUse"),
        {"hookSpecificOutput": None},
    ],
)
async def test_a_bad_object_ends_the_turn(home: VeraHome, answer: object) -> None:
    home.claude("Stop", "map-check", json.dumps(answer).encode())
    session = home.session()

    assert (await session.fire(ending())).decision is None
    assert [call.ended for call in session.calls] == [Ended.FAILED]


async def test_a_subagents_stop_goes_by_its_own_name(home: VeraHome) -> None:
    home.claude("SubagentStop", "map-check", json.dumps({"decision": "block", "reason": "x", **specific("SubagentStop")}).encode())

    assert (await home.session(spawned=True).fire(ending())).decision == Continue("x")


async def test_case_157_which_events_a_session_has(home: VeraHome) -> None:
    for event in EVENTS:
        home.claude(event, "x")

    user = [handler.origin.event for handler in home.session().handlers]
    spawned = [handler.origin.event for handler in home.session(spawned=True).handlers]

    assert user == ["PreToolUse", "SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"]
    assert spawned == ["PreToolUse", "SessionStart", "SubagentStop"]


@pytest.mark.parametrize("phase", ["pre_turn", "turn_ending", "pre_compact", "session_end"])
async def test_a_phase_name_means_the_top_level_event(home: VeraHome, phase: str) -> None:
    home.claude(phase, "x")

    assert len(home.session().handlers) == 1
    assert home.session(spawned=True).handlers == []


@pytest.mark.parametrize(("reason", "trigger"), [("manual", "manual"), ("automatic", "auto")])
async def test_the_payload_of_pre_compact(home: VeraHome, reason: Any, trigger: str) -> None:
    home.claude("PreCompact", "watch", b"")
    session = home.session()

    await session.fire(compacting(reason))
    await session.settle()

    assert home.sent("watch") == [
        {"session_id": SESSION, "cwd": WORKSPACE, "hook_event_name": "PreCompact", "trigger": trigger, "custom_instructions": ""}
    ]


@pytest.mark.parametrize("reason", ["deleted", "shutdown", "refused"])
async def test_case_160_a_session_ends_for_other_reasons(home: VeraHome, reason: Any) -> None:
    home.claude("SessionEnd", "watch", b"")
    session = home.session()

    await session.fire(closed(reason))
    await session.settle()

    assert home.sent("watch") == [{"session_id": SESSION, "cwd": WORKSPACE, "hook_event_name": "SessionEnd", "reason": "other"}]


@pytest.mark.parametrize(
    ("body", "lines"), [(REFUSES, 0), ("exit 2", 0), ("echo '{\"hookSpecificOutput\": 5}'", 0), ("exit 1", 1), ("kill -9 $$", 1)]
)
@pytest.mark.parametrize(("event", "fired"), [("PreCompact", compacting()), ("SessionEnd", closed())])
async def test_case_161_which_ends_of_an_observer_are_logged(home: VeraHome, event: str, fired: Any, body: str, lines: int) -> None:
    home.claude(event, "watch", body)
    session = home.session()

    await session.fire(fired)
    await session.settle()

    assert len(home.log()) == lines
    assert all(line["command"] == "watch" for line in home.log())
