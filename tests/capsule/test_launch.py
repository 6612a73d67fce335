"""A launch without hooks: its workdir, its trace, its tasks one after another (murmur.md 8)."""

import stat
from pathlib import Path

import pytest

from tests.support.capsule_rig import CapsuleRig, call, calls
from tests.support.nest import texts
from treblehook.contracts.murmur.errors import StagingFailed


async def test_what_a_launch_leaves_in_a_workdir_of_its_own(rig: CapsuleRig) -> None:
    rig.plays(calls(call("bash", command="echo gold")), {"text": "Gold."})

    ended = await rig.launch("Dig.")

    assert (ended.exit_status, ended.end.status) == ("ok", "finished")
    assert rig.session == rig.work
    assert rig.session.parent == rig.place / "workdir"
    assert (rig.session / "out" / "result.txt").read_text() == "Gold."
    assert (rig.work / "task.md").read_text() == "Dig."
    assert sorted(path.name for path in rig.session.iterdir()) == ["MURMUR.md", "logs", "out", "task.md", "tools", "trace.jsonl"]
    assert rig.log("any") == []


async def test_a_workdir_that_is_given_is_worked_in_and_the_bookkeeping_is_below_it(rig: CapsuleRig, tmp_path: Path) -> None:
    rig.given_workdir = tmp_path / "given"
    rig.given_workdir.mkdir()
    rig.plays(calls(call("bash", command="pwd; echo mine > file")), {"text": "Done."})

    await rig.launch()

    assert rig.session == rig.given_workdir / ".murmur" / rig.session.name
    assert rig.results()[0]["content"] == str(rig.given_workdir)
    assert sorted(path.name for path in rig.given_workdir.iterdir()) == [".murmur", "file", "task.md"]
    assert (rig.session / "trace.jsonl").exists()


async def test_files_and_folders_are_their_owners_alone(rig: CapsuleRig) -> None:
    await rig.launch()

    for path in (rig.session, *rig.session.rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


async def test_the_lines_of_a_trace_and_the_tree_that_they_make(rig: CapsuleRig) -> None:
    rig.plays(calls(call("bash", command="echo gold; echo err >&2; exit 3"), call("read", path="task.md")), {"text": "Gold."})

    await rig.launch("Dig.")

    lines = rig.trace()
    assert [line["event_type"] for line in lines] == [
        "session_start",
        "task_start",
        "inference",
        "tool_call",
        "shell",
        "tool_call",
        "inference",
        "task_end",
        "session_end",
    ]
    start, task, turn, called, shell, read, last, over, end = lines
    assert all(list(line)[:5] == ["event_type", "event_id", "parent_id", "session_id", "timestamp"] for line in lines)
    assert len({line["event_id"] for line in lines}) == len(lines)
    assert {line["session_id"] for line in lines} == {rig.session.name}
    assert start["parent_id"] is None
    assert task["parent_id"] == end["parent_id"] == start["event_id"]
    assert turn["parent_id"] == last["parent_id"] == over["parent_id"] == task["event_id"]
    assert called["parent_id"] == shell["parent_id"] == read["parent_id"] == turn["event_id"]
    assert (start["capsule_name"], start["capsule_version"], start["max_turns"], start["capabilities"]) == ("nest", "0.1.0", 10, ["shell"])
    assert {"bash", "echo", "read", "write", "edit", "glob", "grep"} == set(start["tools_declared"])
    assert (turn["turn"], turn["decision"], turn["tool_name"]) == (0, "tool_call", "bash")
    assert (last["turn"], last["decision"], "tool_name" in last) == (1, "end_turn", False)
    assert (called["tool_name"], called["status"], called["input"]) == ("bash", "error", {"command": "echo gold; echo err >&2; exit 3"})
    assert called["tool_call_id"] == rig.results()[0]["id"]
    assert called["output_bytes"] == len(rig.results()[0]["content"])
    assert "output" not in called
    assert (shell["exit_code"], shell["stdout_bytes"], shell["stderr_bytes"]) == (3, 5, 4)
    assert shell["binary"].endswith("bash")
    assert shell["command"] == "echo gold; echo err >&2; exit 3"
    assert (read["tool_name"], read["status"]) == ("read", "ok")
    assert (over["exit_status"], over["turns"], over["tool_calls"], over["shell_calls"], over["reopen_count"]) == ("ok", 2, 2, 1, 0)
    assert over["input_tokens"] == turn["input_tokens"] + last["input_tokens"] == end["total_input_tokens"]
    totals = (end["total_turns"], end["total_tool_calls"], end["total_shell_calls"], end["exit_status"])
    assert totals == (2, 2, 1, "ok")


async def test_tasks_are_taken_in_order_and_each_begins_with_a_fresh_conversation(rig: CapsuleRig) -> None:
    rig.plays(after={"text": "Yes."})

    ended = await rig.launch("one", "two", "three")

    assert ended.exit_status == "ok"
    assert [texts(query) for query in rig.queries] == [["one"], ["two"], ["three"]]
    assert [end.text for end in rig.ends] == ["Yes.", "Yes.", "Yes."]
    assert len({line["task_id"] for line in rig.trace("task_start")}) == 3
    assert rig.only("session_end")["total_turns"] == 3
    assert (rig.work / "task.md").read_text() == "three"


async def test_threaded_tasks_share_a_conversation_and_have_a_result_each(rig: CapsuleRig) -> None:
    rig.sets(lifecycle={"conversation": "threaded"})
    rig.plays({"text": "First."}, {"text": "Second."})

    await rig.launch("one", "two")

    assert texts(rig.queries[1]) == ["one", "two"]
    first, second = (line["task_id"] for line in rig.trace("task_start"))
    out = rig.session / "out"
    assert (out / f"result_{first}.txt").read_text() == "First."
    assert (out / f"result_{second}.txt").read_text() == (out / "result.txt").read_text() == "Second."


async def test_a_task_that_fails_does_not_keep_the_next_from_its_turn(rig: CapsuleRig) -> None:
    rig.plays({"status": 400, "error": "no"}, routes=[{"match": "two", "turns": [{"text": "Two."}]}])

    ended = await rig.launch("one", "two")

    assert ended.end.status == "failed"
    assert [line["exit_status"] for line in rig.trace("task_end")] == ["failed", "ok"]
    assert ended.exit_status == rig.only("session_end")["exit_status"] == "ok"
    assert (rig.session / "out" / "result.txt").read_text() == "Two."


async def test_the_turns_of_a_task_are_bounded(rig: CapsuleRig) -> None:
    rig.sets(inference={"max_turns": 2})
    rig.plays(after=calls(call("echo", command="again")))

    ended = await rig.launch("one", "two")

    assert ended.end.status == "failed"
    assert [(line["exit_status"], line["turns"]) for line in rig.trace("task_end")] == [("max_turns_reached", 2)] * 2
    assert rig.only("session_end")["exit_status"] == "max_turns_reached"


async def test_the_guide_is_what_the_model_is_told(rig: CapsuleRig) -> None:
    await rig.launch()

    guide = (rig.session / "MURMUR.md").read_text()
    assert rig.queries[0].system == guide
    assert all(word in guide for word in ("nest 0.1.0", str(rig.work), "### bash", "### echo", "compaction is not configured"))


async def test_the_homes_hooks_run_too(rig: CapsuleRig) -> None:
    rig.home.hook("pre_tool_use", "guard", """echo '{"power":"block","reason":"not today"}'""")
    rig.plays(calls(call("bash", command="touch x")), {"text": "Done."})

    await rig.launch()

    assert "not today" in rig.results()[0]["content"]
    assert rig.trace("tool_call") == []
    assert not (rig.work / "x").exists()


async def test_a_start_hook_that_refuses_ends_the_launch(rig: CapsuleRig) -> None:
    pytest.importorskip("lupa")
    (rig.home.folder / "init.lua").write_text("cru.on_session_start(function() error('shut') end, {required = true})")

    ended = await rig.launch()

    assert ended.end.status == "refused"
    assert "shut" in ended.end.reason
    assert rig.types() == ["session_start", "session_end"]
    assert rig.queries == []


async def test_a_prompt_that_a_hook_blocks_is_a_task_that_never_began(rig: CapsuleRig) -> None:
    rig.home.claude("UserPromptSubmit", "warden", "echo 'not here' >&2; exit 2")

    ended = await rig.launch("one")

    assert (ended.exit_status, ended.end.status) == ("failed", "blocked")
    assert rig.types() == ["session_start", "session_end"]
    assert rig.queries == []


async def test_a_driver_is_read_and_not_needed(rig: CapsuleRig) -> None:
    rig.manifest["artifacts"] = [{"name": "talk", "version": "1.0.0", "runtime": "driver"}]

    assert (await rig.launch()).exit_status == "ok"
    assert "talk" not in (rig.session / "MURMUR.md").read_text()


@pytest.mark.needs("git")
async def test_real_git_works_in_the_workdir(rig: CapsuleRig) -> None:
    rig.sets(capabilities={"shell": {"allow": ["git"]}})
    identity = "-c user.name=n -c user.email=n@example.org"
    rig.plays(
        calls(
            call("git", command="init -q ."),
            call("write", path="map.md", content="gold\n"),
            call("git", command="add map.md"),
            call("git", command=f"{identity} commit -q -m 'the map'"),
            call("git", command="log --format=%s"),
        ),
        {"text": "Done."},
    )

    await rig.launch()

    assert [result["is_error"] for result in rig.results()] == [False] * 5
    assert rig.results()[-1]["content"] == "the map"


async def test_a_folder_that_cannot_be_made_keeps_it_from_being_staged(rig: CapsuleRig) -> None:
    (rig.place / "workdir").write_text("in the way")

    with pytest.raises(StagingFailed, match="workdir"):
        await rig.launch()
