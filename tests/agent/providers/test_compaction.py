"""A conversation that fills its window: how the summary is asked for, and what the model is sent from then on."""

import json
from typing import Any

from tests.support.command_home import says
from tests.support.command_run import calls, only
from tests.support.provider_stage import ProviderStage

CROW = "The crow likes short answers."


def stored(stage: ProviderStage) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stage.sessions()[0].read_text().splitlines()]


def test_a_turn_goes_on_from_its_summary(stage: ProviderStage) -> None:
    stage.home.settings("[model]\ncontext_window = 100000\n")
    stage.home.hook("session_start", "crow", says({"power": "mutate", "context": CROW}))
    stage.home.hook("pre_turn", "remember", says({"power": "mutate", "context": "It is under a palm."}))
    stage.home.hook("pre_compact", "logbook", f"cat > {stage.folder}/compaction")
    full = {"text": "I dig.", "usage": {"input": 89_000, "output": 1_000}}
    stage.plays(calls("echo sand"), calls("echo gold") | full, {"text": "Found it."}, aux={"text": "We dug and found sand."})

    ran = stage.run("run", "where is it?", "--approve", "always", "--output", "jsonl")

    first, second, summary, after = stage.sent()
    assert summary.tools == []
    assert summary.system != first.system
    # Providers refuse calls and results in a request without tools, so they are told.
    told = [item for item in second.items if item[0] in ("user", "assistant")]
    told += [("assistant", '[Called bash: {"command":"echo sand"}]'), ("user", "[bash answered:]\nsand\n")]
    assert summary.items[:-1] == told
    assert summary.items[-1][0] == "user"
    assert after.tools == first.tools
    assert after.system == first.system
    said, *rest = after.items
    assert said[0] == "user"
    assert said[1].endswith("We dug and found sand.")
    assert [item for item in rest if item not in [("user", "It is under a palm."), ("user", f"## Session start hook 1\n\n{CROW}")]] == [
        ("user", "where is it?"),
        ("assistant", "I dig."),
        ("call", "bash", {"command": "echo gold"}),
        ("result", "gold\n"),
    ]
    assert ("user", f"## Session start hook 1\n\n{CROW}") in rest
    compaction = only(ran.records, "compaction")
    assert (compaction["reason"], compaction["tokens_before"]) == ("automatic", 90_000)
    assert compaction["tokens_after"] < 90_000
    told = json.loads((stage.folder / "compaction").read_text())
    assert (told["reason"], told["tokens"], told["capacity"]) == ("automatic", 90_000, 100_000)
    # Nothing that was said is lost: the file only grows.
    assert any(record["type"] == "tool_result" and record["content"] == "sand\n" for record in stored(stage))
    assert [record["use"] for record in stored(stage) if record["type"] == "usage"] == ["turn", "turn", "compaction", "turn"]


def test_a_resumed_session_goes_on_from_the_summary(stage: ProviderStage) -> None:
    stage.home.settings("[model]\ncontext_window = 100000\n")
    full = calls("echo gold") | {"usage": {"input": 89_000, "output": 1_000}}
    stage.plays(calls("echo sand"), full, {"text": "Found it."}, {"text": "Nothing more."}, aux={"text": "They found sand."})
    session = stage.run("run", "dig", "--approve", "always", "--output", "jsonl").records[0]["session"]
    before = stage.sent()[-1].items

    stage.run("run", "dig deeper", "--resume", session)

    assert before[0][1].endswith("They found sand.")
    assert stage.sent()[-1].items == [*before, ("assistant", "Found it."), ("user", "dig deeper")]
