"""Scripts in the claude protocol at a user's prompt (vera.md 4.5; cases 148 to 150)."""

import json

import pytest

from tests.support.sample_events import SESSION, WORKSPACE, submitted
from tests.support.vera_home import VeraHome, contexts, reason
from treblehook.lifecycle import AddContext, Block


def specific(**fields: object) -> dict[str, object]:
    return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", **fields}}


async def test_the_payload(home: VeraHome) -> None:
    home.claude("UserPromptSubmit", "remember", b"")

    await home.fire(submitted())

    assert home.sent("remember") == [
        {"session_id": SESSION, "cwd": WORKSPACE, "hook_event_name": "UserPromptSubmit", "prompt": "where is the treasure?"}
    ]


async def test_case_148_plain_text_is_a_context(home: VeraHome) -> None:
    home.claude("UserPromptSubmit", "remember", "echo hello")

    assert contexts(await home.fire(submitted())) == [AddContext("hello")]


@pytest.mark.parametrize("text", ["[1,2]", "3", '"x"', "null", '{"broken":', "{} {}", '{"a": NaN}', "two\nlines"])
async def test_case_149_whatever_is_no_object_is_text(home: VeraHome, text: str) -> None:
    home.claude("UserPromptSubmit", "remember", f" {text}\n".encode())

    assert contexts(await home.fire(submitted())) == [AddContext(text)]


async def test_case_150_exit_2_blocks_the_message(home: VeraHome) -> None:
    home.claude("UserPromptSubmit", "guard", "echo context; echo 'not today' >&2; exit 2")

    outcome = await home.fire(submitted())

    assert (outcome.decision, outcome.failure) == (Block("not today"), None)


async def test_exit_2_without_a_reason_blocks_as_a_failure(home: VeraHome) -> None:
    home.claude("UserPromptSubmit", "guard", "exit 2")

    assert reason(await home.fire(submitted())) == "UserPromptSubmit hook guard failed: exited with status 2 and gave no reason on stderr"


async def test_a_block_is_looked_at_first(home: VeraHome) -> None:
    answer = {"decision": "block", "reason": "secret", "hookSpecificOutput": "nonsense"}
    home.claude("UserPromptSubmit", "guard", json.dumps(answer).encode())

    assert (await home.fire(submitted())).decision == Block("secret")


@pytest.mark.parametrize("fields", [{}, {"reason": ""}, {"reason": None}, {"reason": 5}])
async def test_a_block_needs_a_reason(home: VeraHome, fields: dict[str, object]) -> None:
    home.claude("UserPromptSubmit", "guard", json.dumps({"decision": "block", **fields}).encode())

    assert "reason" in reason(await home.fire(submitted()))


@pytest.mark.parametrize("decision", ["approve", "Block", None, 5])
async def test_another_decision_is_ignored(home: VeraHome, decision: object) -> None:
    home.claude("UserPromptSubmit", "remember", json.dumps({"decision": decision, **specific(additionalContext="palm")}).encode())

    assert contexts(await home.fire(submitted())) == [AddContext("palm")]


@pytest.mark.parametrize("answer", [{}, specific(), specific(additionalContext=""), {"additionalContext": "x"}])
async def test_objects_that_add_nothing(home: VeraHome, answer: object) -> None:
    home.claude("UserPromptSubmit", "remember", json.dumps(answer).encode())

    outcome = await home.fire(submitted())

    assert (outcome.failure, outcome.contributions) == (None, ())


@pytest.mark.parametrize(
    "answer",
    [
        specific(additionalContext=None),
        specific(additionalContext=5),
        {"hookSpecificOutput": {"additionalContext": "x"}},
        {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "x"}},
        {"hookSpecificOutput": None},
        {"hookSpecificOutput": []},
    ],
)
async def test_objects_that_fail_block_the_message(home: VeraHome, answer: object) -> None:
    home.claude("UserPromptSubmit", "remember", json.dumps(answer).encode())

    outcome = await home.fire(submitted())

    assert outcome.failure is not None
    assert outcome.blocked is not None


async def test_a_context_has_its_limit_as_text_and_as_object(home: VeraHome) -> None:
    home.claude("UserPromptSubmit", "text", b"x" * 131_072)
    assert contexts(await home.fire(submitted())) == [AddContext("x" * 131_072)]

    home.claude("UserPromptSubmit", "more", b"x" * 131_073)
    assert "131072 are allowed" in reason(await home.fire(submitted()))

    home.entries.clear()
    home.claude("UserPromptSubmit", "object", json.dumps(specific(additionalContext="x" * 131_073)).encode())
    assert "131072 are allowed" in reason(await home.fire(submitted()))


async def test_an_object_nested_too_deeply_is_a_failure_and_no_text(home: VeraHome) -> None:
    home.claude("UserPromptSubmit", "deep", b'{"a":' * 1000 + b"1" + b"}" * 1000)

    assert "nested deeper" in reason(await home.fire(submitted()))
