"""A hook that was written in Python, in a whole launch: what it is told, and what it asks its host for (murmur.md 3.5, 3.7)."""

import json
from typing import Any

import pytest

from tests.support.capsule_rig import CapsuleRig, call, calls
from tests.support.guests import CODE, python_scripted
from treblehook.runtimes.wasm import WasmRuntime


@pytest.fixture(autouse=True)
def compiled_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """With compiled code from earlier runs: 18 MB take their time."""
    monkeypatch.setattr("treblehook.capsule.staging.stage.WasmRuntime", lambda cache: WasmRuntime(CODE))


def scripted(
    rig: CapsuleRig, sources: dict[str, str], name: str = "hook", capabilities: dict[str, Any] | None = None, **contract: str
) -> None:
    """A hook that runs Python at each function."""
    entry = {"config": sources, "capabilities": capabilities or {}}
    rig.hook(name, python_scripted().read_bytes(), entry=entry, **contract)


TASK = """
form = task.TaskInputForm
def tried(ask):
    try:
        return ask()
    except Err as error:
        return error.value.name
said([tried(lambda: task.read_input(form.AS_GIVEN, 0, 1000)), tried(lambda: task.read_input(form.ORIGINAL, 0, 1000)),
      tried(lambda: task.read_output(0, 1000))])
"""
POINTS = ("session-start", "task-start", "inference", "tool-call", "shell", "task-end", "session-end")


async def test_case_141_the_texts_of_a_task_through_a_launch(rig: CapsuleRig) -> None:
    scripted(rig, {f"on-{point}": TASK for point in POINTS}, capabilities={"task_io": {"read": True}})
    rig.plays(calls(call("bash", command="true")), {"text": "Done."})

    await rig.launch("Dig.")

    none, under_way = str(["NO_TASK"] * 3), str(["Dig.", "Dig.", "NO_OUTPUT"])
    over = str(["Dig.", "Dig.", "Done."])
    assert rig.log("hook") == [none, none, under_way, under_way, under_way, under_way, over, none]


async def test_case_141_a_reopened_task_has_two_texts(rig: CapsuleRig) -> None:
    rig.sets(lifecycle={"max_task_reopens": 1})
    source = "seen.append(1)\nif len(seen) == 1: answer = lifecycle.HookOutput_ReopenTask('no chest')\nelse:" + TASK.replace("\n", "\n    ")
    scripted(rig, {"on-task-end": source}, capabilities={"task_io": {"read": True}}, binding="on-task-end", policy="reopen-task")

    assert (await rig.launch("Dig.")).exit_status == "ok"

    (line,) = rig.log("hook")
    assert "no chest" in line
    assert "'Dig.'" in line
    assert rig.only("task_end")["reopen_count"] == 1


async def test_case_122_the_ratio_that_was_measured(rig: CapsuleRig) -> None:
    scripted(
        rig, {"on-compaction": "said([event.threshold, event.session_tokens, event.model, event.system_prompt])"}, binding="on-compaction"
    )
    rig.sets(context={"max_tokens": 100}, inference={"compaction": {"model": "acme/small", "system_prompt": "Be short."}})

    await rig.launch()

    tokens = rig.only("compaction_declined")["tokens"]
    assert rig.log("hook") == [str([tokens / 100, tokens, "acme/small", "Be short."])]


async def test_case_144_a_hook_that_summarises_with_the_capsules_model(rig: CapsuleRig) -> None:
    source = """
M = lifecycle.Message
reply = inference.run_inference(inference.InferenceRequest([M('user', 'Sum up.', None, None, None)], None, None))
answer = lifecycle.HookOutput_ReplaceContext([M('user', json.dumps([{'type': 'text', 'text': reply.text}]), None, None, None)])
"""
    scripted(rig, {"on-compaction": source}, binding="on-compaction", policy="replace-context")
    rig.sets(context={"max_tokens": 100})
    rig.plays(calls(call("echo", command="sand")), {"text": "Done."}, aux={"text": "You have dug."})

    await rig.launch()

    assert rig.log("hook") == []
    assert rig.trace("inference")[1]["origin"] == "hook:hook"
    assert rig.types()[2:5] == ["inference", "inference", "compaction"]
    assert rig.queries[2].messages[0].text == "You have dug."


async def test_case_144_there_is_no_model_at_staging(rig: CapsuleRig) -> None:
    source = """
try:
    inference.run_inference(inference.InferenceRequest([], None, None))
except Err as error:
    said(error.value)
"""
    scripted(rig, {"on-stage": source}, binding="on-stage")

    await rig.launch()

    (line,) = rig.log("hook")
    assert "inference.driver.artifact" in line
    assert rig.trace("inference")[0].get("origin") is None


async def test_memory_of_earlier_tasks_of_the_launch(rig: CapsuleRig) -> None:
    source = "said([json.loads(m.content)[0]['text'] for m in conversation.read_messages(None, 10).messages])"
    scripted(rig, {"on-task-start": source}, capabilities={"conversation": {"read": True}}, binding="on-task-start")
    rig.plays(after={"text": "Done."})

    await rig.launch("one", "two")

    # Newest first; its own task is there already.
    assert rig.log("hook") == [str(["one"]), str(["two", "Done.", "one"])]


async def test_what_a_session_start_and_end_are_told(rig: CapsuleRig) -> None:
    sources = {
        "on-session-start": "said([event.capsule_name, event.capsule_version, event.session_id, event.capabilities])",
        "on-session-end": "said([event.total_turns, event.total_tool_calls, event.total_shell_calls, event.exit_status])",
    }
    scripted(rig, sources)
    rig.plays(calls(call("bash", command="true"), call("fly")), {"text": "Done."})

    await rig.launch()

    assert rig.log("hook") == [str(["nest", "0.1.0", rig.session.name, ["shell"]]), str([2, 2, 1, "ok"])]


async def test_what_the_start_of_a_task_is_told(rig: CapsuleRig) -> None:
    source = "said([event.source, event.input_bytes, event.budget_tokens, event.context_window, event.prior_tokens > 0])"
    rig.sets(lifecycle={"conversation": "threaded"}, context={"max_tokens": 1009})
    scripted(rig, {"on-task-start": source}, binding="on-task-start")
    rig.plays(after={"text": "Done."})

    await rig.launch("grün", "two")

    assert rig.log("hook") == [str(["task_md", 5, 100, 1009, False]), str(["task_md", 3, 100, 1009, True])]
    first, second = rig.trace("task_start")
    assert (first["context_id"], first["message_parts_bytes"]) == (second["context_id"], 5)


async def test_observability_reaches_hooks(rig: CapsuleRig) -> None:
    rig.sets(observability={"otel_endpoint": "http://127.0.0.1:4318", "eval": {"scorers": ["exit_ok"]}})
    scripted(rig, {"on-session-start": "said([os.environ['MURMUR_OTEL_ENDPOINT'], os.environ['MURMUR_EVAL_CONFIG'], sorted(os.environ)])"})

    await rig.launch()

    (line,) = rig.log("hook")
    assert line == str(
        [
            "http://127.0.0.1:4318",
            json.dumps({"scorers": ["exit_ok"]}, separators=(",", ":")),
            ["MURMUR_ARTIFACT_CONFIG", "MURMUR_EVAL_CONFIG", "MURMUR_OTEL_ENDPOINT"],
        ]
    )
