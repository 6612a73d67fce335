"""`prepare_turn` and `before_turn_ends` (vera.md 7.1; cases 190 to 192)."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.program import Program, bash, of
from treblehook import Home, PrepareTurnFailed, Reply, run
from treblehook.contracts.vera import turn_functions

Payload = dict[str, Any]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def answers(value: Any) -> Callable[[Payload], Any]:
    return lambda turn: value


def failure(program: Program, prepare_turn: Any) -> str:
    with pytest.raises(PrepareTurnFailed) as failed:
        run("where?", **program.places, prepare_turn=prepare_turn)
    reply = failed.value.reply
    assert (reply.status, of(reply, "reply")) == ("blocked", [])
    return failed.value.error


# Payloads


def test_what_prepare_turn_is_given(program: Program) -> None:
    turns: list[Payload] = []

    reply = run("where?", **program.places, prepare_turn=turns.append)

    assert turns == [
        {
            "type": "pre_turn",
            "session_id": reply.session,
            "workspace": str(program.workspace),
            "prompt": "where?",
            "model": program.model,
            "tools": ["bash", "read", "write", "edit", "glob", "grep", "agent"],
            "arrived_during_turn": False,
            "spawned": False,
        }
    ]


def test_the_effort_is_given_where_one_is_set(program: Program) -> None:
    program.files.settings('[model]\neffort = "high"\n')
    turns: list[Payload] = []

    run("where?", **program.places, prepare_turn=turns.append)

    assert turns[0]["reasoning_effort"] == "high"


def test_what_before_turn_ends_is_given(program: Program) -> None:
    turns: list[Payload] = []

    reply = run("where?", **program.places, before_turn_ends=turns.append)

    assert turns == [
        {
            "type": "turn_ending",
            "session_id": reply.session,
            "workspace": str(program.workspace),
            "prompt": "where?",
            "reply": "Under the third palm.",
            "spawned": False,
            "continuations": 0,
        }
    ]


async def test_both_are_asked_in_a_subagent_too_and_told_so(program: Program) -> None:
    program.plays(
        {"tools": [{"name": "agent", "args": {"task": "count the palms"}}]},
        {"text": "Nine."},
        routes=[{"match": "count the palms", "turns": [{"text": "Nine palms."}]}],
    )
    spawned: list[tuple[str, bool]] = []

    def note(turn: Payload) -> None:
        spawned.append((turn["type"], turn["spawned"]))

    async with Home(program.home) as home:
        await (await program.session(home, prepare_turn=note, before_turn_ends=note, approve="always")).prompt("how many?")

    assert spawned == [("pre_turn", False), ("pre_turn", True), ("turn_ending", True), ("turn_ending", False)]


# Answers of prepare_turn


@pytest.mark.parametrize("answer", [None, {"power": "observe"}, {"power": "mutate"}, {"power": "observe", "context": None, "reason": "x"}])
def test_answers_that_change_nothing(program: Program, answer: Any) -> None:
    reply = run("where?", **program.places, prepare_turn=answers(answer))

    assert (reply.text, of(reply, "row")) == ("Under the third palm.", [])


def test_context_is_added_under_the_functions_name_or_its_display(program: Program) -> None:
    def remember(turn: Payload) -> Payload:
        return {"power": "mutate", "context": "third palm", "display": "Spotted" if turn["prompt"] == "2" else None}

    rows = [of(run(prompt, **program.places, prepare_turn=remember), "row")[0]["text"] for prompt in ("1", "2")]

    assert rows == ["remember added context", "Spotted · remember"]


def test_tools_are_narrowed(program: Program) -> None:
    program.plays(bash("true"), {"text": "Done."})

    reply = run("go", **program.places, prepare_turn=answers({"power": "mutate", "tools": ("read", "fly")}), approve="always")

    assert not of(reply, "tool_result")[0]["ran"]


def test_model_and_effort_are_changed(program: Program, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('[{"text": "I am another."}]')
    answer = {"power": "mutate", "model": f"script:{tmp_path}/other.json", "reasoning_effort": "low"}
    turns: list[Payload] = []

    async def second(turn: Payload) -> Payload:
        turns.append(turn)
        return answer

    reply = run("where?", **program.places, prepare_turn=second)

    assert reply.text == "I am another."
    [decision] = [record["decision"] for record in of(reply, "hook")]
    assert (decision["model"], decision["effort"]) == (answer["model"], "low")


def test_a_block_is_the_replys_status(program: Program) -> None:
    reply = run("where?", **program.places, prepare_turn=answers({"power": "block", "reason": "not now"}))

    assert (reply.status, reply.reason) == ("blocked", "not now")


# Failures of prepare_turn


def test_case_190_an_unknown_key_fails_the_hook_and_the_run_raises(program: Program) -> None:
    assert "unknown key 'tool'" in failure(program, answers({"power": "mutate", "tool": []}))


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ([], "must be a dict or None"),
        ("observe", "must be a dict or None"),
        (True, "must be a dict or None"),
        ({}, "gave no power"),
        ({"power": None, "context": "x"}, "gave no power"),
        ({"power": "allow"}, "allowed here: observe, mutate, block"),
        ({"power": "continue", "context": "x"}, "allowed here"),
        ({"power": "block"}, "reason"),
        ({"power": "block", "reason": ""}, "reason"),
        ({"power": "mutate", "context": float("nan")}, "not JSON"),
        ({"power": "observe", "context": float("inf")}, "not JSON"),
        ({"power": "mutate", "context": b"bytes"}, "not JSON"),
        ({"power": "mutate", "tools": {"read"}}, "not JSON"),
        ({"power": "mutate", "tools": [""]}, "tools"),
        ({"power": "mutate", "tools": "read"}, "tools"),
        ({"power": "mutate", "model": ""}, "model"),
        ({"power": "mutate", "reasoning_effort": 5}, "reasoning_effort"),
        ({"power": "mutate", "reasoningEffort": "low"}, "unknown key 'reasoningEffort'"),
        ({"power": "mutate", "context": "x" * 131_073}, "131073 bytes"),
        ({"power": "mutate", "context": "x", "display": "two\nlines"}, "line break"),
        ({"power": "mutate", 5: "x"}, "unknown key 5"),
    ],
)
def test_answers_that_fail_the_hook(program: Program, answer: Any, told: str) -> None:
    assert told in failure(program, answers(answer))


def test_an_exception_is_named_by_type_and_text(program: Program) -> None:
    def broken(turn: Payload) -> None:
        raise LookupError("no map here")

    async def broken_too(turn: Payload) -> None:
        raise LookupError("no map here")

    assert "LookupError: no map here" in failure(program, broken)
    assert "LookupError: no map here" in failure(program, broken_too)


def test_a_function_that_never_answers_fails_when_its_time_is_up(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_functions, "SECONDS", 0.05)
    held = threading.Event()

    assert "0.05 s" in failure(program, lambda turn: held.wait())
    held.set()


def test_a_failure_leaves_the_session_usable(program: Program) -> None:
    async def main() -> Reply:
        async with Home(program.home) as home:
            session = await program.session(home, prepare_turn=lambda turn: None if turn["prompt"] == "fine" else 1 / 0)
            with pytest.raises(PrepareTurnFailed, match="ZeroDivisionError"):
                await session.prompt("where?")
            return await session.prompt("fine")

    assert asyncio.run(main()).text == "Under the third palm."


def test_a_function_that_wants_to_leave_is_a_failed_function(program: Program) -> None:
    def leaves(turn: Payload) -> None:
        raise SystemExit(3)

    assert "it called sys.exit(3)" in failure(program, leaves)
    assert run("where?", **program.places, before_turn_ends=leaves).status == "finished"


def test_a_failure_in_a_subagent_is_that_subagents_alone(program: Program) -> None:
    program.plays({"tools": [{"name": "agent", "args": {"task": "count the palms"}}]}, {"text": "It could not."})

    def prepare(turn: Payload) -> None:
        if turn["spawned"]:
            raise LookupError("no map here")

    reply = run("how many?", **program.places, prepare_turn=prepare, approve="always")

    assert reply.text == "It could not."
    assert "LookupError: no map here" in of(reply, "tool_result")[0]["content"]


# before_turn_ends


def test_the_model_is_sent_back_once(program: Program) -> None:
    program.plays({"text": "Here."}, {"text": "With the map: there."})
    seen: list[int] = []

    def check(turn: Payload) -> Payload:
        seen.append(turn["continuations"])
        return {"power": "continue", "context": "look at the map", "display": None}

    reply = run("where?", **program.places, before_turn_ends=check)

    assert (reply.text, seen) == ("With the map: there.", [0, 1])
    assert [record["text"] for record in of(reply, "row")] == ["check continued the turn"]


@pytest.mark.parametrize(
    "answer",
    [
        {"power": "continue"},
        {"power": "continue", "context": "x", "reason": "y"},
        {"power": "block", "reason": "x"},
        5,
        {"power": float("nan")},
    ],
)
def test_a_failure_before_the_end_returns_the_reply(program: Program, answer: Any) -> None:
    reply = run("where?", **program.places, before_turn_ends=answers(answer))

    assert (reply.text, reply.status) == ("Under the third palm.", "finished")
    assert [record["ended"] for record in of(reply, "hook")] == ["failed"]


def test_an_exception_before_the_end_returns_the_reply(program: Program) -> None:
    reply = run("where?", **program.places, before_turn_ends=lambda turn: 1 / 0)

    assert reply.status == "finished"
    assert "ZeroDivisionError" in of(reply, "hook")[0]["error"]


# Functions


@pytest.mark.parametrize("which", ["prepare_turn", "before_turn_ends"])
def test_case_192_what_is_no_function_is_a_type_error(program: Program, which: str) -> None:
    with pytest.raises(TypeError, match=which):
        run("where?", **program.places, **{which: 5})

    assert not (program.home / "sessions").exists()


def test_each_call_has_a_payload_of_its_own(program: Program) -> None:
    turns: list[Payload] = []

    def spoil(turn: Payload) -> None:
        turns.append(dict(turn, tools=list(turn["tools"])))
        turn["tools"].clear()

    async def main() -> None:
        async with Home(program.home) as home:
            session = await program.session(home, prepare_turn=spoil)
            await session.prompt("1")
            await session.prompt("2")

    asyncio.run(main())

    assert turns[0]["tools"] == turns[1]["tools"] != []


def test_a_plain_function_may_use_another_home_of_its_own(program: Program) -> None:
    """It runs in a thread, so that it may block, and may have an event loop."""

    def prepare(turn: Payload) -> Payload:
        return {"power": "mutate", "context": run("ask somebody else", **program.places).text}

    reply = run("where?", **program.places, prepare_turn=prepare)

    assert of(reply, "hook")[0]["decision"]["text"] == "Under the third palm."


def test_an_object_that_can_be_called_is_a_function(program: Program) -> None:
    class Memory:
        async def __call__(self, turn: Payload) -> Payload:
            return {"power": "mutate", "context": "third palm"}

    reply = run("where?", **program.places, prepare_turn=Memory())

    assert [record["text"] for record in of(reply, "row")] == ["Memory added context"]
