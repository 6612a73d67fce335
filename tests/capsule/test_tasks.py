"""Tasks: what hooks are told of them, artifacts, and tasks that are done again (murmur.md 4, 6.3, 6.5, cases 45, 46, 128 to 134)."""

import pytest

from tests.support.capsule_rig import CapsuleRig, call, calls
from tests.support.murmur_guests import Arm, Errs, hook
from tests.support.nest import texts

AGAIN = Arm("reopen-task", "there is no chest")


def reopens(rig: CapsuleRig, answer: Arm = AGAIN, *, name: str = "captain", policy: str = "reopen-task") -> None:
    rig.hook(name, hook({"on-task-end": answer}), binding="on-task-end", policy=policy)


def budget(rig: CapsuleRig, reopens: int) -> None:
    rig.sets(lifecycle={"max_task_reopens": reopens})


async def test_case_045_the_order_in_which_an_unbound_hook_hears(rig: CapsuleRig) -> None:
    order = ("session-start", "task-start", "inference", "tool-call", "shell", "task-end", "session-end")
    rig.hook("hears", hook({f"on-{name}": Errs(name) for name in order}))
    rig.plays(calls(call("bash", command="echo x")), {"text": "Done."})

    await rig.launch()

    assert rig.log("hears") == ["session-start", "task-start", "inference", "tool-call", "shell", "inference", "task-end", "session-end"]
    assert rig.trace("hook_dispatch_error") == []


async def test_case_046_what_is_once_a_launch_and_what_is_once_a_task(rig: CapsuleRig) -> None:
    names = ("session-start", "task-start", "task-end", "session-end")
    rig.hook("hears", hook({f"on-{name}": Errs(name) for name in names}))
    rig.plays(after={"text": "Done."})

    await rig.launch("one", "two", "three")

    assert [rig.log("hears").count(name) for name in names] == [1, 3, 3, 1]
    assert rig.only("session_end")["total_turns"] == 3


async def test_case_052_a_command_in_the_background_is_observed_as_a_tool_only(rig: CapsuleRig) -> None:
    rig.sets(lifecycle={"shell_grace_secs": 0.1})
    rig.hook("hears", hook({"on-tool-call": Errs("tool"), "on-shell": Errs("shell")}))
    rig.plays(calls(call("bash", command="echo begun; while [ ! -e go ]; do sleep 0.01; done; echo over")), {"text": "Done."})

    await rig.launch()

    assert rig.log("hears") == ["tool"]
    assert "still running" in rig.results()[0]["content"]
    assert rig.trace("shell") == []
    assert rig.only("tool_call")["status"] == "ok"


async def test_what_a_command_in_the_background_wrote_can_be_read(rig: CapsuleRig) -> None:
    rig.sets(lifecycle={"shell_grace_secs": 0.1}, inference={"max_turns": 100})
    rig.plays(
        calls(call("bash", command="echo begun; while [ ! -e go ]; do sleep 0.01; done; echo over")),
        calls(call("bash", command="touch go; until grep -q over logs/shell-*.log 2>/dev/null; do sleep 0.01; done; cat logs/shell-*.log")),
        {"text": "Done."},
    )

    await rig.launch()

    log = next((rig.work / "logs").glob("shell-*.log"))
    assert log.read_text() == "begun\nover\n[exit status 0]\n"


async def test_case_053_a_name_that_there_is_no_tool_for_is_observed(rig: CapsuleRig) -> None:
    rig.hook("hears", hook({"on-tool-call": Errs("tool")}), binding="on-tool-call")
    rig.plays(calls(call("fly")), {"text": "Done."})

    await rig.launch()

    assert rig.log("hears") == ["tool"]
    assert (rig.only("tool_call")["tool_name"], rig.only("tool_call")["status"]) == ("fly", "error")
    assert rig.only("session_end")["total_tool_calls"] == 1


async def test_case_054_two_calls_of_a_reply_one_after_the_other(rig: CapsuleRig) -> None:
    rig.plays(calls(call("bash", command="sleep 0.05; echo 1 > order"), call("bash", command="echo 2 >> order")), {"text": "Done."})

    await rig.launch()

    assert (rig.work / "order").read_text() == "1\n2\n"
    assert rig.types()[2:8] == ["inference", "tool_call", "shell", "tool_call", "shell", "inference"]


async def test_a_hook_that_nobody_waits_for_is_done_before_the_session_is_over(rig: CapsuleRig) -> None:
    names = ("session-start", "inference", "session-end")
    rig.hook("late", hook({f"on-{name}": Errs(name) for name in names}), mode="async")

    await rig.launch()

    assert rig.log("late") == list(names)
    assert [(line["event"], line["arm"]) for line in rig.trace("hook_dispatch_error")] == [(f"on-{name}", "error") for name in names]
    assert rig.types()[-1] == "session_end"


async def test_artifacts_of_the_last_turn_are_sent_before_the_end_in_the_hooks_order(rig: CapsuleRig) -> None:
    for name in ("scribe", "clock"):
        rig.hook(name, hook({"on-inference": Arm("artifact", f'{{"by":"{name}"}}')}), binding="on-inference")
    rig.plays(calls(call("echo", command="x")), {"text": "Done."})

    await rig.launch()

    sent = [(record["hook"], record["content"]) for record in rig.ears.of("artifact")]
    assert sent == [("scribe", '{"by":"scribe"}'), ("clock", '{"by":"clock"}')]
    assert rig.trace("hook_dispatch_error") == []


async def test_a_task_that_failed_sends_no_artifacts(rig: CapsuleRig) -> None:
    rig.hook("scribe", hook({"on-inference": Arm("artifact", "{}")}), binding="on-inference")
    rig.plays(calls(call("echo", command="x")), {"status": 400})

    await rig.launch()

    assert rig.ears.of("artifact") == []


# Reopening


async def test_a_reopened_task_begins_afresh_with_the_feedback_in_its_text(rig: CapsuleRig) -> None:
    rig.plays({"text": "Done."}, routes=[{"match": "there is no chest", "where": "any", "turns": [{"text": "Really done."}]}])
    reopens(rig)
    budget(rig, 1)

    ended = await rig.launch("Dig.  \n")

    task = (rig.work / "task.md").read_text()
    assert [texts(query) for query in rig.queries] == [["Dig.  \n"], [task]]
    assert task.startswith("Dig.\n\n---\n\n# ")
    assert "not accepted" in task
    assert "## Reopen 1 (captain)\n\nthere is no chest" in task
    reopened = rig.only("task_reopened")
    assert {key: reopened[key] for key in ("hook_name", "reason", "reopen_number")} == {
        "hook_name": "captain",
        "reason": "there is no chest",
        "reopen_number": 1,
    }
    assert reopened["parent_id"] == rig.only("task_start")["event_id"]
    assert ended.exit_status == "reopen_budget_exhausted"


async def test_case_128_a_hook_that_reopens_for_ever(rig: CapsuleRig) -> None:
    reopens(rig)
    rig.plays(after={"text": "Done."})

    ended = await rig.launch()

    assert len(rig.queries) == 2
    over = rig.only("task_end")
    assert (over["exit_status"], over["reopen_count"], over["turns"]) == ("reopen_budget_exhausted", 1, 2)
    assert ended.end.status == "failed"
    assert "captain" in ended.end.reason
    assert "after 1 reopens" in ended.end.reason
    assert not (rig.session / "out" / "result.txt").exists()


async def test_case_129_no_reopens_and_a_hook_that_wants_one(rig: CapsuleRig) -> None:
    reopens(rig)
    budget(rig, 0)

    await rig.launch()

    assert len(rig.queries) == 1
    assert rig.only("task_end")["exit_status"] == "reopen_budget_exhausted"
    assert rig.trace("task_reopened") == []


@pytest.mark.parametrize("last", [{"text": "Done."}, calls(call("echo", command="x"))])
async def test_case_130_an_attempt_that_used_all_turns(rig: CapsuleRig, last: dict[str, object]) -> None:
    reopens(rig)
    budget(rig, 5)
    rig.sets(inference={"max_turns": 2})
    rig.plays(calls(call("echo", command="x")), last)

    await rig.launch()

    assert len(rig.queries) == 2
    assert rig.only("task_end")["exit_status"] == "reopen_budget_exhausted"
    assert rig.trace("task_reopened") == []


async def test_case_131_attempts_share_the_turns_of_their_task(rig: CapsuleRig) -> None:
    reopens(rig)
    budget(rig, 5)
    rig.sets(inference={"max_turns": 3})
    rig.plays({"text": "Done."})

    await rig.launch()

    assert len(rig.queries) == 3
    assert [line["reopen_number"] for line in rig.trace("task_reopened")] == [1, 2]
    assert (rig.only("task_end")["exit_status"], rig.only("task_end")["reopen_count"]) == ("reopen_budget_exhausted", 2)


async def test_case_132_each_feedback_stands_there_once(rig: CapsuleRig) -> None:
    reopens(rig, Arm("reopen-task", "  no chest\n"))
    budget(rig, 2)

    await rig.launch("Dig.")

    task = (rig.work / "task.md").read_text()
    assert task.count("no chest") == 2
    assert task.count("# Reopen feedback") == task.count("## Reopen 1 (captain)") == task.count("## Reopen 2 (captain)") == 1
    assert task.count("Dig.") == 1


async def test_case_133_the_start_is_told_once_and_the_seed_is_there_again(rig: CapsuleRig) -> None:
    reopens(rig)
    rig.sets(context={"max_tokens": 100_000})
    rig.hook(
        "memory", hook({"on-task-start": Arm("seed-context", [("user", "I recall.")])}), binding="on-task-start", policy="seed-context"
    )
    rig.hook("hears", hook({"on-task-start": Errs("start")}), binding="on-task-start")

    await rig.launch("Dig.")

    assert [texts(query)[0] for query in rig.queries] == ["I recall.", "I recall."]
    assert [len(query.messages) for query in rig.queries] == [2, 2]
    assert rig.log("hears") == ["start"]
    assert len(rig.trace("context_seed")) == 1


async def test_case_134_without_the_policy_a_task_is_final(rig: CapsuleRig) -> None:
    reopens(rig, policy="none")

    assert (await rig.launch()).exit_status == "ok"

    assert len(rig.queries) == 1
    assert rig.trace("task_reopened", "hook_dispatch_error") == []


async def test_an_empty_reason_is_honoured_and_the_first_wish_counts(rig: CapsuleRig) -> None:
    reopens(rig, Arm("reopen-task", ""), name="first")
    reopens(rig, Arm("reopen-task", "second"), name="second")

    await rig.launch()

    assert (rig.only("task_reopened")["hook_name"], rig.only("task_reopened")["reason"]) == ("first", "")


async def test_a_failed_attempt_may_be_done_again(rig: CapsuleRig) -> None:
    reopens(rig)
    rig.plays({"status": 400}, routes=[{"match": "there is no chest", "where": "any", "turns": [{"text": "Done."}]}])

    await rig.launch()

    assert len(rig.trace("task_reopened")) == 1
    assert len(rig.queries) == 2


async def test_an_interpreter_gets_its_script_and_a_program_its_words(rig: CapsuleRig) -> None:
    rig.plays(calls(call("echo", command="'a  b' $HOME; c"), call("bash", command="echo $((1 + 1))")), {"text": "Done."})

    await rig.launch()

    assert [result["content"] for result in rig.results()] == ["a  b $HOME; c", "2"]
