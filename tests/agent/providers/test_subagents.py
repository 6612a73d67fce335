"""Subagents with each provider: conversations of their own, and results that come back."""

from tests.support.command_run import Record
from tests.support.provider_stage import ProviderStage


def agent(task: str, **more: object) -> Record:
    return {"name": "agent", "args": {"task": task, **more}}


def test_an_awaited_one_has_its_own_conversation_and_its_text_is_the_result(stage: ProviderStage) -> None:
    dig = {"text": "I dig.", "tools": [{"name": "bash", "args": {"command": "echo gold"}}]}
    stage.plays(
        {"text": "Somebody shall dig.", "tools": [agent("dig at the palm"), {"name": "bash", "args": {"command": "echo rest"}}]},
        {"text": "It was gold."},
        routes=[{"match": "dig at the palm", "turns": [dig, {"text": "I found gold."}]}],
    )

    ran = stage.run("run", "where is it?", "--approve", "always", "--output", "jsonl")

    assert ran.status == 0, ran
    parent, child, child_again, parent_again = stage.sent()
    assert child.items == [("user", "dig at the palm")]
    assert (child.system, child.tools) == (parent.system, parent.tools)
    assert child_again.items[1:] == [("assistant", "I dig."), ("call", "bash", {"command": "echo gold"}), ("result", "gold\n")]
    assert parent_again.items[1:] == [
        ("assistant", "Somebody shall dig."),
        ("call", "agent", {"task": "dig at the palm"}),
        ("call", "bash", {"command": "echo rest"}),
        ("result", "I found gold."),
        ("result", "rest\n"),
    ]


def test_what_one_in_the_background_found_is_delivered(stage: ProviderStage) -> None:
    stage.plays(
        {"tools": [agent("dig at the palm", background=True)]},
        {"text": "I wait."},
        {"text": "It was gold."},
        routes=[{"match": "dig at the palm", "turns": [{"text": "I found gold.", "delay": 0.3}]}],
    )

    ran = stage.run("run", "where is it?", "--approve", "always", "--output", "jsonl")

    assert ran.status == 0, ran
    delivery = stage.sent()[-1].items
    child = next(record["session"] for record in ran.records if record["type"] == "session" and record["parent"])
    assert delivery[-2:] == [("assistant", "I wait."), ("user", f"Subagent {child} has finished.\n\nI found gold.")]
    assert [record["text"] for record in ran.records if record["type"] == "reply"] == ["I wait.", "I found gold.", "It was gold."]
