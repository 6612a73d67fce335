"""Scripts in the claude protocol before a tool call (vera.md 4.2 to 4.4; cases 137 to 146, 162)."""

import asyncio
import json

import pytest

from tests.support.clock import Clock
from tests.support.processes import until
from tests.support.sample_events import SESSION, WORKSPACE, proposed
from tests.support.vera_home import VeraHome, reason
from treblehook.engine import Ended, HookTimedOut
from treblehook.lifecycle import Block, ToolCall


def refuses(stderr: str, status: int = 2, stdout: str = "") -> str:
    """A script that exits with a status and says something on both outputs."""
    return f"cat >/dev/null\ncat <<'END'\n{stdout}\nEND\ncat >&2 <<'END'\n{stderr}\nEND\nexit {status}"


def specific(**fields: object) -> dict[str, object]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **fields}}


async def failure_of(home: VeraHome, answer: object) -> str:
    home.claude("PreToolUse", "guard", json.dumps(answer).encode())

    outcome = await home.fire(proposed())

    assert outcome.failure is not None
    assert reason(outcome) == f"PreToolUse hook guard failed: {outcome.failure}"
    return outcome.failure


async def test_case_137_bash_has_claudes_name(home: VeraHome) -> None:
    home.claude("PreToolUse", "guard", b"")
    session = home.session()

    await session.fire(proposed())
    await session.fire(proposed(ToolCall("call_2", "read", {"path": "x"})))

    first, second = home.sent("guard")
    assert first == {
        "session_id": SESSION,
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "rm treasure/chest.yaml"},
        "tool_use_id": "call_1",
        "cwd": WORKSPACE,
    }
    assert (second["tool_name"], second["tool_input"]) == ("read", {"path": "x"})


async def test_the_payload_names_the_claude_event_whatever_the_entry_says(home: VeraHome) -> None:
    home.claude("pre_tool_use", "guard", b"")
    session = home.session()

    await session.fire(proposed())

    assert home.sent("guard")[0]["hook_event_name"] == "PreToolUse"
    assert (session.handlers[0].origin.contract, session.handlers[0].origin.event) == ("claude", "PreToolUse")


async def test_case_138_exit_2_blocks_with_its_trimmed_stderr(home: VeraHome) -> None:
    home.claude("PreToolUse", "guard", refuses(" no ", stdout='{"hookSpecificOutput": 5}'))

    outcome = await home.fire(proposed())

    assert (outcome.decision, outcome.failure) == (Block("no"), None)


@pytest.mark.parametrize("stderr", ["", " ", "\t\n\n", "\u00a0\u2028"])
async def test_exit_2_without_a_reason_is_a_failure(home: VeraHome, stderr: str) -> None:
    home.claude("PreToolUse", "guard", refuses(stderr, stdout="no"))

    assert (await home.fire(proposed())).failure == "exited with status 2 and gave no reason on stderr"


@pytest.mark.parametrize("status", [1, 3, 127])
async def test_case_140_another_status_blocks_as_a_failure(home: VeraHome, status: int) -> None:
    home.claude("PreToolUse", "guard", refuses("printed", status))

    assert (await home.fire(proposed())).failure == f"exited with status {status}"


async def test_death_by_signal_is_a_failure(home: VeraHome) -> None:
    home.claude("PreToolUse", "guard", "kill -TERM $$")

    assert (await home.fire(proposed())).failure == "was killed by SIGTERM"


async def test_a_timeout_is_a_failure(home: VeraHome, clock: Clock) -> None:
    home.claude("PreToolUse", "guard", 'touch "$0.started"; exec sleep 600', timeout_ms=500)

    async def pass_time() -> None:
        await until((home.hooks / "guard.started").exists)
        await clock.advance(0.5)

    outcome, _ = await asyncio.gather(home.fire(proposed()), pass_time())

    assert reason(outcome) == "PreToolUse hook guard failed: " + HookTimedOut(0.5).message


QUIET = [
    pytest.param(b"", id="case 141 nothing"),
    pytest.param(b" \n\xef\xbb\xbf", id="white space"),
    pytest.param(b"fine", id="case 142 text"),
    pytest.param(b'{"hookSpecificOutput": ', id="broken JSON"),
    pytest.param(b'["hookSpecificOutput"]', id="an array"),
    pytest.param(b'"deny"', id="a string"),
    pytest.param(b"{}", id="an empty object"),
    pytest.param(b'{"decision": "block", "reason": "x"}', id="no answer of this event"),
    pytest.param(b'{"continue": false, "stopReason": "x", "suppressOutput": true, "systemMessage": 5}', id="keys without meaning"),
    pytest.param(json.dumps(specific()).encode(), id="no permissionDecision"),
    pytest.param(json.dumps(specific(permissionDecision="allow", updatedInput={"command": "ls"})).encode(), id="case 144 allow"),
]


@pytest.mark.parametrize("printed", QUIET)
async def test_case_141_what_leaves_the_call_alone(home: VeraHome, printed: bytes) -> None:
    home.claude("PreToolUse", "guard", printed)
    session = home.session()

    outcome = await session.fire(proposed())

    assert (outcome.decision, outcome.failure, outcome.value) == (None, None, proposed())
    assert [call.ended for call in session.calls] == [Ended.PASSED]


async def test_case_142_plain_text_is_ignored(home: VeraHome) -> None:
    home.claude("PreToolUse", "guard", "echo fine")

    assert (await home.fire(proposed())).decision is None


async def test_case_144_allow_grants_nothing(home: VeraHome) -> None:
    home.claude("PreToolUse", "guard", json.dumps(specific(permissionDecision="allow")).encode())

    assert (await home.fire(proposed())).decision is None


@pytest.mark.parametrize("decision", ["ask", "Allow", "", None, 1, True, {}])
async def test_case_145_another_decision_is_a_failure(home: VeraHome, decision: object) -> None:
    answer = specific(permissionDecision=decision, permissionDecisionReason="x")

    assert "permissionDecision" in await failure_of(home, answer)


async def test_deny_blocks_with_its_reason(home: VeraHome) -> None:
    answer = specific(permissionDecision="deny", permissionDecisionReason="Leave the treasure where it is.")
    home.claude("PreToolUse", "guard", json.dumps(answer).encode())

    assert (await home.fire(proposed())).decision == Block("Leave the treasure where it is.")


@pytest.mark.parametrize(
    "reason", [{}, {"permissionDecisionReason": ""}, {"permissionDecisionReason": None}, {"permissionDecisionReason": 1}]
)
async def test_deny_needs_a_reason(home: VeraHome, reason: dict[str, object]) -> None:
    assert "permissionDecisionReason" in await failure_of(home, specific(permissionDecision="deny", **reason))


@pytest.mark.parametrize("name", ["PostToolUse", "pre_tool_use", "", None, 5])
async def test_case_146_the_name_of_the_event_must_match(home: VeraHome, name: object) -> None:
    assert "hookEventName" in await failure_of(home, {"hookSpecificOutput": {"hookEventName": name, "permissionDecision": "allow"}})


@pytest.mark.parametrize("value", [None, [], "PreToolUse", 5])
async def test_specific_output_is_an_object(home: VeraHome, value: object) -> None:
    assert "hookSpecificOutput" in await failure_of(home, {"hookSpecificOutput": value})


async def test_numbers_do_not_hide_a_denial(home: VeraHome) -> None:
    answer = json.dumps(specific(permissionDecision="deny", permissionDecisionReason="no"))
    home.claude("PreToolUse", "guard", (answer[:-1] + ', "took": 1e999}').encode())

    assert (await home.fire(proposed())).decision == Block("no")


async def test_stdout_is_bounded(home: VeraHome) -> None:
    home.claude("PreToolUse", "guard", b"x" * 65_537)

    assert (await home.fire(proposed())).failure == "printed more than 65536 bytes"


async def test_case_162_of_a_long_stderr_the_beginning_is_the_reason(home: VeraHome) -> None:
    home.claude("PreToolUse", "guard", "{ printf '  '; head -c 1000000 /dev/zero | tr '\\0' x; } >&2; exit 2")

    assert (await home.fire(proposed())).decision == Block("x" * 65_534)


async def test_a_reason_that_is_not_utf8_is_repaired(home: VeraHome) -> None:
    home.claude("PreToolUse", "guard", "printf 'caf\\351' >&2; exit 2")

    assert (await home.fire(proposed())).decision == Block("caf\ufffd")
