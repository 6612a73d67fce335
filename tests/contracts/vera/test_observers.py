"""Hooks that only watch, and that nothing waits for (vera.md 3.6 to 3.8, 3.10; cases 121 to 136)."""

import asyncio
from typing import Any

import pytest

from tests.support.processes import until
from tests.support.sample_events import SESSION, WORKSPACE, closed, compacting, handed_back
from tests.support.vera_home import VeraHome
from treblehook.engine import Ended
from treblehook.lifecycle import Event

WATCH = '{ cat; echo; } >> "$0.stdin"'
FIFO = 'mkfifo "$0.fifo"; touch "$0.started"; read -r go < "$0.fifo"; { cat; echo; } >> "$0.stdin"'


async def payload_of(home: VeraHome, phase: str, event: Event) -> Any:
    home.hook(phase, "watch", WATCH)
    session = home.session(spawned=event.spawned)

    outcome = await session.fire(event)
    await session.settle()

    assert (outcome.decision, outcome.contributions) == (None, ())
    (payload,) = home.sent("watch")
    return payload


@pytest.mark.parametrize(
    ("event", "rest"),
    [
        (compacting(), {"reason": "manual", "tokens": 1234, "spawned": False}),
        (compacting("automatic", capacity=9000), {"reason": "automatic", "tokens": 1234, "capacity": 9000, "spawned": False}),
        (compacting("automatic", spawned=True), {"reason": "automatic", "tokens": 1234, "spawned": True}),
    ],
)
async def test_the_payload_of_pre_compact(home: VeraHome, event: Event, rest: dict[str, object]) -> None:
    payload = await payload_of(home, "pre_compact", event)

    assert payload == {"type": "pre_compact", "sessionId": SESSION, "workspace": WORKSPACE, **rest}


@pytest.mark.parametrize("reason", ["detached", "closed", "idle", "deleted", "shutdown"])
async def test_the_payload_of_session_end(home: VeraHome, reason: Any) -> None:
    payload = await payload_of(home, "session_end", closed(reason, turns=3, spawned=True))

    assert payload == {
        "type": "session_end",
        "sessionId": SESSION,
        "workspace": WORKSPACE,
        "reason": reason,
        "turns": 3,
        "spawned": True,
    }


async def test_a_refused_session_is_sent_as_closed(home: VeraHome) -> None:
    assert (await payload_of(home, "session_end", closed("refused")))["reason"] == "closed"


async def test_case_132_the_payload_of_subagent_finished(home: VeraHome) -> None:
    payload = await payload_of(home, "subagent_finished", handed_back())

    assert payload == {
        "type": "subagent_finished",
        "parentSessionId": SESSION,
        "subagentId": "sub_1",
        "workspace": WORKSPACE,
        "background": False,
        "outcome": "completed",
        "text": "found it",
    }


async def test_case_121_nothing_waits_for_an_observer(home: VeraHome) -> None:
    home.hook("pre_compact", "slow", FIFO)
    session = home.session()

    await session.fire(compacting())

    assert home.sent("slow") == []
    await until((home.hooks / "slow.started").exists)
    await asyncio.to_thread((home.hooks / "slow.fifo").write_text, "go\n")
    await session.settle()
    assert len(home.sent("slow")) == 1


@pytest.mark.parametrize("printed", [b"", b"garbage", b'{"power":"block","reason":"x"}', b"\xff\x00", b"{" * 65_536])
async def test_case_122_what_an_observer_prints_does_not_matter(home: VeraHome, printed: bytes) -> None:
    home.hook("session_end", "noisy", printed)
    session = home.session()

    await session.fire(closed())
    await session.settle()

    assert [call.ended for call in session.calls] == [Ended.PASSED]
    assert home.log() == []


async def test_case_124_an_observer_may_not_print_without_end(home: VeraHome) -> None:
    home.hook("session_end", "noisy", b"x" * 70_000)
    session = home.session()

    await session.fire(closed())
    await session.settle()

    (line,) = home.log()
    assert (line["type"], line["message"], line["command"]) == ("session_end_hook_failed", "printed more than 65536 bytes", "noisy")


async def test_case_136_no_observer_waits_for_another(home: VeraHome) -> None:
    home.hook("session_end", "slow", FIFO)
    home.hook("session_end", "quick", WATCH)
    session = home.session()

    await session.fire(closed())
    await until(lambda: home.sent("quick") != [] and (home.hooks / "slow.fifo").exists())

    assert home.sent("slow") == []
    await asyncio.to_thread((home.hooks / "slow.fifo").write_text, "go\n")
    await session.settle()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("exit 1", "exited with status 1"),
        ("exit 2", "exited with status 2"),
        ("kill -9 $$", "was killed by SIGKILL"),
        (None, "was not started: no such file"),
    ],
)
@pytest.mark.parametrize(
    ("phase", "event"), [("pre_compact", compacting()), ("session_end", closed()), ("subagent_finished", handed_back())]
)
async def test_a_failure_is_one_line_in_the_log(home: VeraHome, phase: str, event: Event, body: str | None, message: str) -> None:
    home.hook(phase, "bad", body)
    home.hook(phase, "good", WATCH)
    session = home.session()

    await session.fire(event)
    await session.settle()

    (line,) = home.log()
    assert set(line) == {"timestamp", "type", "level", "message", "command"}
    assert (line["type"], line["level"], line["message"], line["command"]) == (f"{phase}_hook_failed", "warn", message, "bad")
    assert len(home.sent("good")) == 1
