"""Which answers keep a tool from running, row by row as Claude Code was seen to honour them, for commands and over HTTP."""

import asyncio
import json
from typing import Any

import pytest

from tests.support.raw_server import Exchange, RawServer
from tests.support.settings_rig import SettingsRig, printing, specific
from treblehook.engine import Outcome
from treblehook.lifecycle import Block, ToolProposed

DENY = {"permissionDecision": "deny", "permissionDecisionReason": "no digging"}
SPECIFIC = specific("PreToolUse", **DENY)
BLOCK = {"decision": "block", "reason": "no digging"}


def reason(outcome: Outcome[ToolProposed]) -> str | None:
    """Why the tool does not run; None where it runs."""
    assert outcome.decision is None or isinstance(outcome.decision, Block)
    return None if outcome.decision is None else outcome.decision.reason


ANSWERS: dict[str, tuple[Any, str | None]] = {
    "hookSpecificOutput": (SPECIFIC, "no digging"),
    "the decision at top level": (DENY, None),
    "decision block": (BLOCK, "no digging"),
    "the union of both": ({**BLOCK, **SPECIFIC}, "no digging"),
    "deny without a reason": (specific("PreToolUse", permissionDecision="deny"), "Blocked by hook"),
    "an unknown key at top level": ({**SPECIFIC, "more": 1}, "no digging"),
    "an unknown key inside": (specific("PreToolUse", **DENY, more=1), "no digging"),
    "suppressOutput beside it": ({**SPECIFIC, "suppressOutput": True}, "no digging"),
    "a known key of a wrong type": ({**SPECIFIC, "continue": "no"}, None),
    "a wrong type inside": (specific("PreToolUse", **{**DENY, "permissionDecisionReason": 1}), None),
    "no hookEventName": ({"hookSpecificOutput": DENY}, None),
    "hookEventName of another event": (specific("PostToolUse", **DENY), None),
    "permissionDecision block": (specific("PreToolUse", permissionDecision="block"), None),
    "text in front": (f"Look:\n{json.dumps(SPECIFIC)}", None),
    "text behind": (f"{json.dumps(SPECIFIC)}\nSo there.", None),
    "broken JSON": (json.dumps(SPECIFIC)[:-1], None),
    "plain text": ("no digging", None),
    "empty": ("", None),
    "ask, which the rules do (test_permissions.py)": (specific("PreToolUse", permissionDecision="ask"), None),
    "a JSON array": ([SPECIFIC], None),
}


@pytest.mark.parametrize("row", ANSWERS)
async def test_the_answer_of_a_command(rig: SettingsRig, row: str) -> None:
    answer, expected = ANSWERS[row]
    rig.prints("PreToolUse", answer)

    assert reason(await rig.proposed()) == expected


@pytest.mark.parametrize("row", ANSWERS)
async def test_the_same_answer_over_http(rig: SettingsRig, row: str) -> None:
    answer, expected = ANSWERS[row]

    assert reason(await over_http(rig, 200, body_of(answer))) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        pytest.param(printing(SPECIFIC, 1), "no digging", id="deny JSON with exit 1"),
        pytest.param("echo 'no digging' >&2; exit 2", "no digging", id="exit 2 with stderr"),
        pytest.param("exit 2", "Blocked by hook", id="exit 2 without stderr"),
        pytest.param(f"echo spoken >&2\n{printing(SPECIFIC, 2)}", "spoken", id="exit 2 with both"),
        pytest.param("echo 'no digging' >&2; exit 1", None, id="exit 1 with stderr"),
        pytest.param("echo 'no digging' >&2; exit 3", None, id="exit 3 with stderr"),
        pytest.param("/nowhere/guard", None, id="a command that is missing"),
        pytest.param("kill -9 $$", None, id="killed"),
    ],
)
async def test_the_exit_status_of_a_command(rig: SettingsRig, command: str, expected: str | None) -> None:
    rig.hook("PreToolUse", command)

    assert reason(await rig.proposed()) == expected


async def test_slower_than_its_timeout_runs(rig: SettingsRig) -> None:
    rig.hook("PreToolUse", f"sleep 60; {printing(SPECIFIC)}", timeout=0.05)

    assert reason(await rig.proposed()) is None
    assert rig.errors() == ["was still running after 0.05 s, its time limit"]


async def test_slower_than_its_timeout_runs_over_http(rig: SettingsRig) -> None:
    held = asyncio.Event()

    async def hold(exchange: Exchange) -> None:
        await held.wait()

    async with RawServer(hold) as server:
        rig.entry("PreToolUse", {"type": "http", "url": server.url, "timeout": 0.05})
        assert reason(await rig.proposed()) is None
    assert rig.errors() == ["was not reached: not finished after 0.05 s"]


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (500, SPECIFIC, None),
        (403, SPECIFIC, None),
        (201, SPECIFIC, "no digging"),
        (204, "", None),
        (302, SPECIFIC, None),
        (307, SPECIFIC, None),
    ],
)
async def test_the_status_of_a_response(rig: SettingsRig, status: int, body: Any, expected: str | None) -> None:
    assert reason(await over_http(rig, status, body_of(body), "location: /elsewhere")) == expected


async def test_a_denial_that_calls_itself_plain_text_denies(rig: SettingsRig) -> None:
    async def answer(exchange: Exchange) -> None:
        body = body_of(SPECIFIC)
        await exchange.send(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))

    async with RawServer(answer) as server:
        rig.entry("PreToolUse", {"type": "http", "url": server.url})
        assert reason(await rig.proposed()) == "no digging"


async def test_a_refused_connection_runs(rig: SettingsRig) -> None:
    async with RawServer(lambda exchange: exchange.hung_up()) as server:
        url = server.url
    rig.entry("PreToolUse", {"type": "http", "url": url})

    assert reason(await rig.proposed()) is None
    [error] = rig.errors()
    assert error.startswith("was not reached: ")


async def test_an_async_hook_denies_nothing(rig: SettingsRig) -> None:
    rig.prints("PreToolUse", SPECIFIC, **{"async": True})
    rig.hook("PreToolUse", "exit 3", **{"async": True})

    assert reason(await rig.proposed()) is None
    await asyncio.gather(*rig.aside)
    assert rig.failures == ["exit: exited with status 3"]


def body_of(answer: Any) -> bytes:
    return (answer if isinstance(answer, str) else json.dumps(answer)).encode()


async def over_http(rig: SettingsRig, status: int, body: bytes, *headers: str) -> Outcome[ToolProposed]:
    async def answer(exchange: Exchange) -> None:
        await exchange.answer(status, body, *headers)

    async with RawServer(answer) as server:
        rig.entry("PreToolUse", {"type": "http", "url": f"{server.url}/hook"})
        outcome = await rig.proposed()
        assert server.requests == 1
        return outcome
