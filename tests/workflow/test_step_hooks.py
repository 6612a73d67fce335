"""Hooks before a step (vera.md 7.2; cases 193 and 194)."""

import asyncio
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.workflow.conftest import Search
from treblehook.workflow import CommandHook, Run, hooks, step, workflow

Payload = dict[str, Any]
OBSERVE = {"power": "observe"}


def answers(value: Any, seen: list[Payload] | None = None) -> Callable[[Payload], Any]:
    def hook(payload: Payload) -> Any:
        if seen is not None:
            seen.append(payload)
        return value

    return hook


def told(run: Run[Any], kind: str = "hook") -> str:
    assert (run.status, run.result) == ("failed", None)
    assert run.error is not None
    assert run.error.kind == kind
    return run.error.message


def test_the_payload(search: Search) -> None:
    seen: list[Payload] = []

    run = search.run(answers(OBSERVE, seen))

    keys = [payload.pop("key") for payload in seen]
    assert seen[1] == {
        "type": "pre_step",
        "run_id": run.id,
        "workflow": "hunt",
        "step": "look",
        "args": ["cave"],
        "kwargs": {"depth": 3},
        "journal_dir": str(search.folder),
        "inbox": {},
    }
    assert len(set(keys)) == 3
    assert keys == [json.loads(line)["key"] for line in search.journal(run.id).read_text().splitlines()[1:4]]


def test_observe_runs_the_step_as_it_is(search: Search) -> None:
    assert search.run(answers(OBSERVE)).result == "2 places"
    assert search.did == [("beach", 1), ("cave", 3), 2]


def test_mutate_is_seen_by_later_hooks_and_by_the_step_under_the_key_it_had(search: Search) -> None:
    plain, seen = search.run(), list[Payload]()
    search.did.clear()

    def deeper(payload: Payload) -> Payload:
        return {"power": "mutate", "args": ["reef"], "kwargs": {"depth": 9}} if payload["step"] == "look" else OBSERVE

    run = search.run([deeper, answers(OBSERVE, seen)])

    assert search.did == [("reef", 9), ("reef", 9), 2]
    assert [(payload["args"], payload["kwargs"]) for payload in seen[:2]] == [(["reef"], {"depth": 9})] * 2
    recorded = [[json.loads(line).get("key") for line in search.journal(each.id).read_text().splitlines()[1:3]] for each in (plain, run)]
    assert recorded[0] == recorded[1]
    search.did.clear()
    assert search.resume(run).result == "2 places"
    assert search.did == []


@pytest.mark.parametrize(
    ("answer", "did"),
    [({"args": ["reef", 7]}, ("reef", 7)), ({"kwargs": {"place": "reef"}, "args": []}, ("reef", 1)), ({}, ("beach", 1))],
)
def test_what_a_mutation_leaves_out_stays(search: Search, answer: Payload, did: Any) -> None:
    count = 0

    def once(payload: Payload) -> Payload:
        nonlocal count
        count += 1
        return {"power": "mutate", **answer} if count == 1 else OBSERVE

    search.run(once)

    assert search.did[0] == did


def test_block_fails_the_run_before_the_body_and_records_nothing(search: Search) -> None:
    later: list[Payload] = []

    run = search.run([answers({"power": "block", "reason": "waiting for the tide"}), answers(OBSERVE, later)])

    assert "waiting for the tide" in told(run)
    assert (search.did, later) == ([], [])
    assert '"type":"step"' not in search.journal(run.id).read_text()
    assert search.resume(run).result == "2 places"


def test_replace_skips_the_body_and_later_hooks_and_is_recorded(search: Search) -> None:
    later: list[Payload] = []

    def known(payload: Payload) -> Payload:
        return {"power": "replace", "result": "all of them"} if payload["step"] == "tell" else OBSERVE

    run = search.run([known, answers(OBSERVE, later)])

    assert run.result == search.resume(run).result == "all of them"
    assert [payload["step"] for payload in later] == ["look", "look"]


def test_case_193_a_replacement_may_be_null(tmp_path: Path) -> None:
    did = []

    @step
    def dig() -> Any:
        did.append("dig")
        return "gold"

    @workflow
    def treasure() -> Any:
        return dig()

    run = treasure.run(journal_dir=tmp_path, prepare_step=answers({"power": "replace", "result": None}))

    assert (run.status, run.result, did) == ("ok", None, [])
    record = json.loads((tmp_path / run.id / "journal.jsonl").read_text().splitlines()[1])
    assert (record["type"], record["result"]) == ("step", None)
    assert treasure.resume(run.id, journal_dir=tmp_path).status == "ok"
    assert did == []


def test_case_194_a_replacement_without_a_result_fails(search: Search) -> None:
    assert "without a result" in told(search.run(answers({"power": "replace"})))
    assert search.did == []


@pytest.mark.parametrize("result", [float("inf"), b"bytes", object(), {"deep": {1: 2}}])
def test_a_replacement_that_is_not_json_fails_as_such(search: Search, result: Any) -> None:
    told(search.run(answers({"power": "replace", "result": result})), "serialize")
    assert search.did == []


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        "observe",
        {},
        {"power": None},
        {"power": "allow"},
        {"power": "block"},
        {"power": "block", "reason": ""},
        {"power": "block", "reason": 5},
        {"power": "mutate", "args": "beach"},
        {"power": "mutate", "args": None},
        {"power": "mutate", "kwargs": ["depth"]},
        {"power": "mutate", "args": [b"bytes"]},
        {"power": "mutate", "kwargs": {1: "x"}},
    ],
)
def test_answers_that_fail_the_run(search: Search, answer: Any) -> None:
    run = search.run(answers(answer))

    told(run)
    assert search.did == []
    assert '"type":"step"' not in search.journal(run.id).read_text()


def test_a_hook_that_raises_is_named_with_type_and_text(search: Search) -> None:
    def lost(payload: Payload) -> Payload:
        raise LookupError("no map here")

    message = told(search.run(lost))

    assert "lost" in message
    assert "LookupError: no map here" in message


def test_a_hook_that_wants_to_leave_is_a_failed_hook(search: Search) -> None:
    def leaves(payload: Payload) -> Payload:
        raise SystemExit(3)

    assert "it called sys.exit(3)" in told(search.run(leaves))


def test_async_hooks_are_hooks(search: Search) -> None:
    async def later(payload: Payload) -> Payload:
        await asyncio.sleep(0)
        return {"power": "replace", "result": {}} if payload["step"] == "look" else OBSERVE

    assert search.run(later).result == "2 places"
    assert search.did == [2]


def test_the_chain_shares_its_time_and_nobody_waits_for_a_hook_that_hangs(search: Search, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "SECONDS", 0.1)
    held = threading.Event()

    def hangs(payload: Payload) -> Payload:
        held.wait()
        return OBSERVE

    message = told(search.run([answers(OBSERVE), hangs]))
    held.set()

    assert "the time that its hooks share" in message
    assert search.did == []


def test_no_hook_changes_what_another_one_or_the_step_sees(search: Search) -> None:
    seen: list[Payload] = []

    def spoil(payload: Payload) -> Payload:
        payload["args"].clear()
        payload["kwargs"]["depth"] = 100
        payload["inbox"]["approved"] = True
        return OBSERVE

    search.run([spoil, answers(OBSERVE, seen)])

    assert search.did == [("beach", 1), ("cave", 3), 2]
    assert (seen[0]["args"], seen[0]["kwargs"], seen[1]["inbox"]) == (["beach"], {}, {})


def test_restored_steps_are_not_shown_and_hooks_must_be_given_again(search: Search) -> None:
    def not_yet(payload: Payload) -> Payload:
        return {"power": "block", "reason": "not yet"} if payload["step"] == "tell" else OBSERVE

    run, seen = search.run(not_yet), list[Payload]()
    assert "not yet" in told(run)
    assert "not yet" in told(search.resume(run, not_yet))

    assert search.resume(run, answers(OBSERVE, seen)).result == "2 places"
    assert [payload["step"] for payload in seen] == ["tell"]


def test_the_inbox_is_read_when_an_attempt_starts(search: Search) -> None:
    def approved(payload: Payload) -> Payload:
        return OBSERVE if payload["inbox"].get("approved") else {"power": "block", "reason": "waiting for approval"}

    run = search.run(approved)
    assert "waiting for approval" in told(run)
    search.journal(run.id).with_name("inbox.json").write_text('{"approved": true}')

    assert search.resume(run, approved).result == "2 places"


def test_a_run_inside_a_step_does_not_inherit_hooks(tmp_path: Path, search: Search) -> None:
    seen: list[Payload] = []

    @step
    def ask() -> Any:
        return search.run().result

    @workflow
    def outer() -> Any:
        return ask()

    assert outer.run(journal_dir=tmp_path, prepare_step=answers(OBSERVE, seen)).result == "2 places"
    assert [payload["step"] for payload in seen] == ["ask"]


@pytest.mark.parametrize("given", [[], (), None])
def test_no_hooks_are_fine(search: Search, given: Any) -> None:
    assert search.run(given).result == "2 places"


@pytest.mark.parametrize("given", [5, "hook", [5], [lambda payload: OBSERVE, None], {}, b"x"])
def test_what_is_no_hook_is_a_type_error_before_anything_is_kept(search: Search, given: Any) -> None:
    with pytest.raises(TypeError, match="prepare_step"):
        search.run(given)
    assert not search.folder.exists()


def test_an_executable_stands_in_a_chain(search: Search, tmp_path: Path) -> None:
    script = tmp_path / "known"
    script.write_text('#!/bin/sh\ncat > "$0.stdin"\necho \'{"power":"replace","result":{}}\'\n')
    script.chmod(0o755)

    def looks(payload: Payload) -> Payload:
        return OBSERVE

    run = search.run([looks, CommandHook([str(script)], timeout_ms=30_000)])

    assert (run.result, search.did) == ({}, [])
    assert json.loads((tmp_path / "known.stdin").read_text())["step"] == "tell"


def test_an_executable_that_fails_fails_the_run(search: Search) -> None:
    assert "ended with status 1" in told(search.run(CommandHook(["false"], timeout_ms=30_000)))
    assert search.did == []
