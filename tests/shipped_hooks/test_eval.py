"""eval: the scores of a session in eval.jsonl."""

import json
from typing import Any

import pytest

from tests.shipped_hooks.conftest import ShippedRig
from tests.support.murmur_rig import START
from treblehook.lifecycle import SessionEnd, ToolCall, ToolRan


async def scored(rig: ShippedRig, config: str | None, *tools: str, **end: Any) -> list[dict[str, Any]]:
    """The lines of eval.jsonl after a session that called `tools`."""
    rig.ship("eval", capabilities={"filesystem": {"scope": "."}})
    rig.environment = {"MURMUR_CASE_ID": "case-1"} | ({} if config is None else {"MURMUR_EVAL_CONFIG": config})
    await rig.start()
    await rig.fire(START)
    for name in tools:
        await rig.fire(ToolRan(call=ToolCall("c", name, {}), content=""))
    await rig.fire(SessionEnd(reason="closed", **end))
    return [json.loads(line) for line in (rig.accessible / "eval.jsonl").read_text().splitlines()]


def scorers(*entries: dict[str, Any]) -> str:
    return json.dumps({"scorers": entries})


async def test_all_scorers_pass(rig: ShippedRig) -> None:
    config = scorers(
        {"type": "exit_ok"},
        {"type": "max_turns", "limit": 3},
        {"type": "max_tokens", "limit": 100},
        {"type": "tool_sequence", "tools": ["read", "edit"]},
    )
    found = await scored(rig, config, "read", "grep", "edit", requests=3, input_tokens=60, output_tokens=40)

    who = {"session_id": "ses_1", "case_id": "case-1", "dataset_id": None}
    names = ("exit_ok", "max_turns", "max_tokens", "tool_sequence")
    assert found[:-1] == [{"type": "event_score", "scorer": name, "passed": True, **who} for name in names]
    assert found[-1] == {"type": "dataset_run", "overall": "pass", "scores": 4, "error": None, **who}
    assert rig.sink.lines == []


@pytest.mark.parametrize(
    ("scorer", "end"),
    [
        ({"type": "exit_ok"}, {"exit_status": "failed"}),
        ({"type": "max_turns", "limit": 2}, {"requests": 3}),
        ({"type": "max_tokens", "limit": 99}, {"input_tokens": 60, "output_tokens": 40}),
        ({"type": "tool_sequence", "tools": ["edit", "read"]}, {}),
    ],
)
async def test_a_scorer_fails(rig: ShippedRig, scorer: dict[str, Any], end: dict[str, Any]) -> None:
    found = await scored(rig, scorers(scorer), "read", "edit", **end)

    assert [line.get("passed") for line in found] == [False, None]
    assert found[-1]["overall"] == "fail"


async def test_without_scorers_there_are_no_scores(rig: ShippedRig) -> None:
    (run,) = await scored(rig, None)

    assert (run["overall"], run["scores"]) == ("no_scores", 0)


@pytest.mark.parametrize(
    ("config", "error"),
    [
        (scorers({"type": "exit_ok"}, {"type": "llm_judge"}), "llm_judge is not supported"),
        (scorers({"type": "vibes"}), "unknown scorer vibes"),
        (scorers({"type": "max_turns"}), "max_turns needs a limit"),
        (scorers({"type": "tool_sequence", "tools": "read"}), "tool_sequence needs tools"),
        (scorers({}), "a scorer has no type"),
        ("{", "no table with a list of scorers"),
        ("[]", "no table with a list of scorers"),
    ],
)
async def test_a_configuration_that_cannot_be_used_is_told_and_nothing_is_scored(rig: ShippedRig, config: str, error: str) -> None:
    (run,) = await scored(rig, config)

    assert (run["overall"], run["scores"]) == ("config_error", 0)
    assert error in run["error"]
    assert error in rig.sink.of("eval")[0]
