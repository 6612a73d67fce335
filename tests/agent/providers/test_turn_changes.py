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
