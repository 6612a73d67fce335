"""A whole session with each provider: real tools, real hooks, and what the model was sent at every request."""

import json
from typing import Any

from tests.support.command_home import Ran, says
from tests.support.command_run import only, types
from tests.support.provider_stage import Item, ProviderStage

PREVIOUSLY = "## Session start hook 1\n\nThe crow likes short answers."
PALM = "The crow buried it under the third palm."
TOOLS = ["bash", "read", "write", "edit", "glob", "grep", "agent"]

FAILED = ["one\n[exit status 3]", "Leave the treasure where it is."]

GUARD = """call=$(cat)
case "$call" in
  *"rm chest"*) echo '{"power":"block","reason":"Leave the treasure where it is."}';;
  *"dig hard"*) echo '{"power":"mutate","input":{"command":"echo dig gently"}}';;
  *"ask oracle"*) echo '{"power":"replace","result":{"content":[{"type":"text","text":"Ask again later."}],"isError":false}}';;
  *) echo '{"power":"observe"}';;
esac"""

REDACT = """case "$(cat)" in
  *hunter2*) echo '{"power":"mutate","patch":{"content":[{"type":"text","text":"the password is gone"}]}}';;
  *) echo '{"power":"observe"}';;
esac"""


def tool(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "args": arguments}


TURNS = (
    {"text": "I look around.", "tools": [tool("bash", command="echo one; exit 3"), tool("glob", pattern="*.txt")]},
    {"tools": [tool("write", path="map.txt", content="second palm\n"), tool("grep", pattern="gold")]},
    {"tools": [tool("read", path="chest.txt"), tool("bash", command="rm chest.txt")]},
    {"text": "Then differently.", "tools": [tool("bash", command="dig hard"), tool("bash", command="ask oracle")]},
    {"tools": [tool("edit", path="map.txt", old="second", new="third"), tool("read", path="map.txt")]},
    {"text": "Under the third palm.", "usage": {"input": 200, "output": 7}},
)


def set_up(stage: ProviderStage) -> None:
    (stage.workspace / "chest.txt").write_text("gold and hunter2\n")
    stage.home.hook("session_start", "crow", says({"power": "mutate", "context": "The crow likes short answers."}))
    stage.home.hook("pre_turn", "remember", says({"power": "mutate", "context": PALM}))
    stage.home.hook("pre_tool_use", "guard", GUARD)
    stage.home.hook("post_tool_use", "redact", REDACT)
    stage.plays(*TURNS)


def conversation(results: list[str]) -> list[list[Item]]:
    """What each request must add to the one before, with the results of the tools that really ran."""
    return [
        [("user", PREVIOUSLY), ("user", "where is it?"), ("user", PALM)],
        [
            ("assistant", "I look around."),
            ("call", "bash", {"command": "echo one; exit 3"}),
            ("call", "glob", {"pattern": "*.txt"}),
            ("result", "one\n[exit status 3]"),
            ("result", "chest.txt"),
        ],
        [
            ("call", "write", {"path": "map.txt", "content": "second palm\n"}),
            ("call", "grep", {"pattern": "gold"}),
            ("result", results[2]),
            ("result", "the password is gone"),
        ],
        [
            ("call", "read", {"path": "chest.txt"}),
            ("call", "bash", {"command": "rm chest.txt"}),
            ("result", "the password is gone"),
            ("result", "Leave the treasure where it is."),
        ],
        [
            ("assistant", "Then differently."),
            ("call", "bash", {"command": "echo dig gently"}),
            ("call", "bash", {"command": "ask oracle"}),
            ("result", "dig gently\n"),
            ("result", "Ask again later."),
        ],
        [
            ("call", "edit", {"path": "map.txt", "old": "second", "new": "third"}),
            ("call", "read", {"path": "map.txt"}),
            ("result", results[8]),
            ("result", "     1\tthird palm"),
        ],
    ]


def test_a_whole_session(stage: ProviderStage) -> None:
    set_up(stage)

    ran = stage.run("run", "where is it?", "--approve", "always", "--output", "jsonl")

    assert (ran.status, ran.err) == (0, ""), ran
    assert only(ran.records, "reply")["text"] == "Under the third palm."
    every_request_carries_the_conversation_as_the_hooks_made_it(stage, ran)
    what_was_blocked_or_replaced_did_not_run(stage, ran)
    the_session_file_has_the_costs_and_no_secrets(stage)


def every_request_carries_the_conversation_as_the_hooks_made_it(stage: ProviderStage, ran: Ran) -> None:
    results = [record["content"] for record in ran.records if record["type"] == "tool_result"]
    expected: list[Item] = []
    for request, added in zip(stage.sent(), conversation(results), strict=True):
        expected += added
        assert request.items == expected
        assert request.tools == TOOLS
        assert request.model == "model-1"
        assert str(stage.workspace) in request.system
        if request.failed is not None:
            assert request.failed == [text for text in FAILED if ("result", text) in expected]


def what_was_blocked_or_replaced_did_not_run(stage: ProviderStage, ran: Ran) -> None:
    ends = [(record["name"], record["ran"], record["is_error"]) for record in ran.records if record["type"] == "tool_result"]
    assert ends == [
        ("bash", True, True),
        ("glob", True, False),
        ("write", True, False),
        ("grep", True, False),
        ("read", True, False),
        ("bash", False, True),
        ("bash", True, False),
        ("bash", False, False),
        ("edit", True, False),
        ("read", True, False),
    ]
    rewritten = [record for record in ran.records if record["type"] == "tool_call"][6]
    assert (rewritten["asked"], rewritten["input"]) == ({"command": "dig hard"}, {"command": "echo dig gently"})
    assert (stage.workspace / "map.txt").read_text() == "third palm\n"
    assert (stage.workspace / "chest.txt").exists()


def the_session_file_has_the_costs_and_no_secrets(stage: ProviderStage) -> None:
    text = stage.sessions()[0].read_text()
    stored = [json.loads(line) for line in text.splitlines()]
    costs = [(record["use"], record["model"], record["input"], record["output"]) for record in stored if record["type"] == "usage"]
    assert costs == [("turn", stage.spec, 10, 5)] * 5 + [("turn", stage.spec, 200, 7)]
    # Of the reply whose input was rewritten nothing that the provider signed is kept.
    assert types(stored).count("raw") == len(TURNS) - 1
    assert "hunter2" not in text
    assert "dig hard" not in text


def test_every_request_asks_for_a_stream(stage: ProviderStage) -> None:
    stage.plays({"text": "Under the third palm."})

    ran = stage.run("run", "where is it?")

    (request,) = stage.fake.requests()
    assert request["body"].get("stream") or ":streamGenerateContent" in request["path"]
    assert ran.out == "Under the third palm.\n"
