"""What a hook changes for one turn: the tools on offer and the model."""

from tests.agent.providers.test_whole_session import TOOLS
from tests.support.command_home import says
from tests.support.command_run import calls, only
from tests.support.provider_stage import ProviderStage


def test_tools_and_model_change_for_one_turn_only(stage: ProviderStage) -> None:
    change = {"power": "mutate", "tools": ["read", "chart"], "model": f"{stage.word}:model-2"}
    stage.home.hook("pre_turn", "captain", f'case "$(cat)" in *quietly*) echo \'{{"power":"observe"}}\';; *) {says(change)[14:]}\nesac')
    stage.home.hook("pre_tool_use", "guard", f'cat >> {stage.folder}/asked; echo \'{{"power":"observe"}}\'')
    stage.plays(calls("echo hi"), {"text": "I may only read."}, calls("echo again"), {"text": "Now I may."})

    first = stage.run("run", "look", "--approve", "always", "--output", "jsonl")
    second = stage.run("run", "quietly now", "--resume", first.records[0]["session"], "--approve", "always", "--output", "jsonl")

    one, two, three, four = stage.sent()
    assert [(request.model, request.tools) for request in (one, two)] == [("model-2", ["read"])] * 2
    assert [(request.model, request.tools) for request in (three, four)] == [("model-1", TOOLS)] * 2
    refused = only(first.records, "tool_result")
    assert (refused["ran"], refused["is_error"]) == (False, True)
    assert two.items[-1] == ("result", refused["content"])
    assert "no tool named 'bash'" in refused["content"]
    assert only(second.records, "tool_result")["content"] == "again\n"
    # A call that is not offered is refused before any hook sees it.
    assert "echo hi" not in (stage.folder / "asked").read_text()


def test_a_turn_without_tools_tells_earlier_calls_and_results(stage: ProviderStage) -> None:
    none = {"power": "mutate", "tools": []}
    stage.home.hook("pre_turn", "captain", f'case "$(cat)" in *hush*) {says(none)[14:]}\n;; *) echo \'{{"power":"observe"}}\';; esac')
    stage.plays(calls("echo gold", "exit 3", text="I dig."), {"text": "Found it."}, {"text": "Nothing more."}, aux=None)
    session = stage.run("run", "dig", "--approve", "always", "--output", "jsonl").records[0]["session"]

    stage.run("run", "hush now", "--resume", session)

    last = stage.sent()[-1]
    assert last.tools == []
    assert last.items == [
        ("user", "dig"),
        ("assistant", 'I dig.\n[Called bash: {"command":"echo gold"}]\n[Called bash: {"command":"exit 3"}]'),
        ("user", "[bash answered:]\ngold\n"),
        ("user", "[bash failed:]\n[exit status 3]"),
        ("assistant", "Found it."),
        ("user", "hush now"),
    ]
