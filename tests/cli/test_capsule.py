"""`treblehook capsule run|check|trace`, as a user runs them."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.command_home import Ran
from tests.support.command_run import COMMAND, Running, Stage, calls, types, wait_for
from tests.support.murmur_guests import Arm, Errs, hook


class Capsule:
    """A capsule beside a stage's home and model."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.folder = stage.folder / "capsule"
        self.folder.mkdir()
        self.file = self.folder / "murmur.yaml"
        self.manifest: dict[str, Any] = {
            "name": "digger",
            "version": "1.0.0",
            "capabilities": {"shell": {"allow": ["bash"]}},
            "inference": {"model": f"script:{stage.model}"},
        }
        self.write()

    def write(self, **parts: Any) -> None:
        self.manifest.update(parts)
        self.file.write_text(yaml.safe_dump(self.manifest))

    def hook(self, name: str, payload: bytes, contract: str = "") -> None:
        folder = self.folder / name
        folder.mkdir()
        (folder / "murmur.yaml").write_text(f"name: {name}\nversion: 1.0.0\nruntime: hook\n{contract}")
        (folder / "hook.wasm").write_bytes(payload)
        self.write(artifacts=[*self.manifest.get("artifacts", []), {"name": name, "runtime": "hook", "source": name}])

    def do(self, command: str, *arguments: str, **environment: str) -> Ran:
        home = [] if command == "trace" else ["--home", str(self.stage.home.folder)]
        return self.stage.bare("capsule", command, *arguments, *home, **environment)

    def start(self, *arguments: str) -> Running:
        argv = [*COMMAND, "capsule", "run", str(self.file), *arguments, "--home", str(self.stage.home.folder), "--output", "jsonl"]
        return Running(argv, self.stage.folder / "stderr", self.stage.environment())

    @property
    def session(self) -> Path:
        (found,) = (self.folder / "workdir").iterdir()
        return found

    def trace(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.session / "trace.jsonl").read_text().splitlines()]


@pytest.fixture
def capsule(stage: Stage) -> Capsule:
    return Capsule(stage)


def test_a_launch_as_text(capsule: Capsule) -> None:
    capsule.stage.plays(calls("echo gold"), {"text": "It is gold."})

    ran = capsule.do("run", str(capsule.file), "Dig.")

    assert (ran.status, ran.err) == (0, "")
    assert "> bash: echo gold" in ran.out
    assert ran.out.endswith("It is gold.\n")


def test_a_launch_as_records_with_the_trace_on_disk(capsule: Capsule) -> None:
    capsule.stage.plays(calls("echo gold"), {"text": "It is gold."})
    capsule.hook("watch", hook())

    ran = capsule.do("run", str(capsule.file), "Dig.", "--output", "jsonl")

    assert ran.status == 0
    shown = [kind for kind in types(ran.records) if kind != "hook"]
    assert shown == ["session", "prompt", "tool_call", "tool_result", "reply", "end"]
    assert ran.records[0]["id"] == capsule.session.name
    asked = [record["event"] for record in ran.records if record["type"] == "hook"]
    assert asked == [
        "on-session-start",
        "on-task-start",
        "on-inference",
        "on-tool-call",
        "on-shell",
        "on-inference",
        "on-task-end",
        "on-session-end",
    ]
    assert capsule.trace()[-1]["event_type"] == "session_end"
    assert "compiled watch" in ran.err


def test_the_task_beside_the_file(capsule: Capsule) -> None:
    assert "task.md" in capsule.do("run", str(capsule.file)).err
    (capsule.folder / "task.md").write_text("Dig where the palm was.")

    ran = capsule.do("run", str(capsule.file), "--output", "jsonl")

    assert [record["text"] for record in ran.records if record["type"] == "prompt"] == ["Dig where the palm was."]


def test_several_tasks_a_workdir_and_another_model(capsule: Capsule, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"turns": [], "after": {"text": "Other."}}))
    workdir = tmp_path / "given"

    ran = capsule.do("run", str(capsule.folder), "one", "two", "--workdir", str(workdir), "--model", f"script:{other}")

    assert (ran.status, ran.out) == (0, "Other.\nOther.\n")
    (session,) = (workdir / ".murmur").iterdir()
    assert (session / "out" / "result.txt").read_text() == "Other."


def test_a_script_in_the_manifest_is_beside_it(capsule: Capsule) -> None:
    (capsule.folder / "model.json").write_text(json.dumps({"turns": [{"text": "Mine."}]}))
    capsule.write(inference={"model": "script:model.json"})

    assert capsule.do("run", str(capsule.file), "dig").out == "Mine.\n"


def test_1_for_a_task_that_failed(capsule: Capsule) -> None:
    capsule.stage.plays({"status": 400, "error": "no such model"})

    ran = capsule.do("run", str(capsule.file), "dig")

    assert ran.status == 1
    assert "no such model" in ran.err + ran.out
    assert capsule.trace()[-1]["exit_status"] == "failed"


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ({"version": None}, ["version", "missing"]),
        ({"inference": {"max_turns": "many"}}, ["inference.max_turns", "many"]),
        ({"inference": {"model": "nothing:x"}}, ["nothing:x"]),
        ({"inference": {}}, ["inference.model", "no model is named"]),
        ({"artifacts": [{"name": "gone", "version": "1.0.0", "runtime": "hook"}]}, ["gone-1.0.0.mur.zip"]),
    ],
)
def test_2_for_what_cannot_be_staged(capsule: Capsule, manifest: dict[str, Any], words: list[str]) -> None:
    capsule.write(**manifest)

    ran = capsule.do("run", str(capsule.file), "dig")

    assert (ran.status, ran.out) == (2, "")
    assert all(word in ran.err for word in words), ran.err
    assert "Traceback" not in ran.err
    assert not (capsule.folder / "workdir").exists()


def test_2_for_a_manifest_that_is_not_there_or_is_a_list(capsule: Capsule) -> None:
    assert capsule.do("run", str(capsule.folder / "no.yaml"), "dig").status == 2
    capsule.file.write_text("- one\n- two\n")
    ran = capsule.do("run", str(capsule.file), "dig")
    assert ran.status == 2
    assert "a list" in ran.err


@pytest.mark.parametrize("blank", ["", " \n"])
def test_2_for_a_blank_task(capsule: Capsule, blank: str) -> None:
    assert capsule.do("run", str(capsule.file), blank).status == 2


def test_a_hook_that_is_no_component(capsule: Capsule) -> None:
    capsule.hook("text", b"no component")

    ran = capsule.do("run", str(capsule.file), "dig")

    assert ran.status == 2
    assert "hook text@" in ran.err
    assert "hook.wasm" in ran.err


def waiting(capsule: Capsule) -> tuple[Running, int]:
    """A launch in the middle of a command, and the process of that."""
    folder = capsule.stage.folder
    capsule.stage.plays(calls(f"echo $$ > {folder}/pid.new; mv {folder}/pid.new {folder}/pid; exec sleep 600"))
    running = capsule.start("dig", "again")
    wait_for((folder / "pid").exists)
    return running, int((folder / "pid").read_text())


def test_ctrl_c_ends_properly(capsule: Capsule) -> None:
    capsule.hook("ends", hook({"on-session-end": Errs("told")}), "binding: on-session-end\n")
    running, command = waiting(capsule)

    running.signal(signal.SIGINT)

    status, records, errors = running.end()
    assert status == 130
    assert (records[-1]["type"], records[-1]["status"], records[-1]["reason"]) == ("end", "interrupted", "stopped by the user")
    assert "Traceback" not in errors
    assert [line["event_type"] for line in capsule.trace()][-2:] == ["task_end", "session_end"]
    assert capsule.trace()[-1]["exit_status"] == "canceled"
    assert (capsule.session / "logs" / "hook-ends.log").read_text() == "told\n"
    wait_for(lambda: not Path(f"/proc/{command}").exists() or "Z" in Path(f"/proc/{command}/stat").read_text())


def test_a_kill_leaves_a_trace_that_can_be_read(capsule: Capsule) -> None:
    running, command = waiting(capsule)

    running.signal(signal.SIGKILL)

    running.process.wait()
    assert [line["event_type"] for line in capsule.trace()] == ["session_start", "task_start", "inference"]
    ran = capsule.do("trace", str(capsule.session))
    assert (ran.status, ran.err) == (0, "")
    assert len(ran.out.splitlines()) == 3
    os.kill(command, signal.SIGKILL)


def test_a_disk_that_is_full(capsule: Capsule) -> None:
    capsule.stage.plays(after=calls("head -c 3000 /dev/zero | tr '\\0' x"))
    program = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2500, 2500))\n"
        "from treblehook.cli.main import main\n"
        "main(sys.argv[1:], prog_name='treblehook')\n"
    )
    argv = [sys.executable, "-c", program, "capsule", "run", str(capsule.file), "dig", "--home", str(capsule.stage.home.folder)]

    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=capsule.stage.environment())

    assert done.returncode == 1
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    # What was written before is whole.
    assert [line["event_type"] for line in capsule.trace()][:2] == ["session_start", "task_start"]


# check


def test_check_finds_nothing_and_writes_nothing_beside_the_capsule(capsule: Capsule) -> None:
    capsule.hook("guard", hook({"on-stage": Errs("ran")}), "binding: on-stage\n")

    ran = capsule.do("check", str(capsule.file))

    assert (ran.status, ran.out) == (0, "1 artifact, no errors, no warnings\n")
    assert sorted(path.name for path in capsule.folder.iterdir()) == ["guard", "murmur.yaml"]


def test_check_tells_everything_at_once(capsule: Capsule) -> None:
    capsule.hook("bad", hook(), "binding: on-foo\n")
    capsule.hook("narrow", hook(without=["on-shell"]))
    capsule.write(
        artifacts=[*capsule.manifest["artifacts"], {"name": "gone", "version": "2.0.0", "runtime": "hook"}],
        capabilities={"shell": {"allow": ["bash", "no-such-program"]}},
        contxt={"max_tokens": 5},
    )

    ran = capsule.do("check", str(capsule.file), "--output", "jsonl")

    assert ran.status == 2
    assert all(list(record) == ["file", "place", "level", "message", "remedy"] for record in ran.records)
    found = {(record["place"], record["level"]) for record in ran.records}
    assert found == {
        ("artifacts[0]", "error"),
        ("artifacts[1]", "error"),
        ("artifacts[2]", "error"),
        ("capabilities.shell.allow[1]", "warning"),
        ("contxt", "warning"),
    }
    told = {record["place"]: record for record in ran.records}
    assert "on-foo" in told["artifacts[0]"]["message"]
    assert "on-shell" in told["artifacts[1]"]["message"]
    assert told["artifacts[2]"]["file"].endswith("gone-2.0.0.mur.zip")
    assert "context" in told["contxt"]["remedy"]


def test_check_of_a_manifest_that_does_not_load(capsule: Capsule) -> None:
    capsule.write(context={"max_tokens": 0, "seed_budget": 2}, lifecycle={"conversation": "forked"}, name="Not A Name")

    ran = capsule.do("check", str(capsule.file))

    assert ran.status == 2
    for place in ("context.max_tokens", "context.seed_budget", "lifecycle.conversation", "name"):
        assert f"{place}: found" in ran.out
    assert "4 errors" in ran.out


# trace


def test_trace_shows_the_newest_launch_of_a_capsule(capsule: Capsule) -> None:
    capsule.hook("guard", hook({"on-shell": Arm("deny", "not\n\x1b[31mtoday")}), "binding: on-shell\ncommit_policy: deny\n")
    capsule.stage.plays(calls("rm x"), {"text": "Done."})
    capsule.do("run", str(capsule.file), "dig")

    ran = capsule.do("trace", str(capsule.folder))

    assert (ran.status, ran.err) == (0, "")
    kinds = [line.split()[1] for line in ran.out.splitlines()]
    assert kinds == ["session_start", "task_start", "inference", "call_denied", "inference", "task_end", "session_end"]
    (denied,) = [line for line in ran.out.splitlines() if "call_denied" in line]
    assert "guard" in denied
    assert "\x1b" not in ran.out
    records = capsule.do("trace", str(capsule.session), "--output", "jsonl").records
    assert records == capsule.trace()


def test_trace_where_there_is_none(capsule: Capsule) -> None:
    ran = capsule.do("trace", str(capsule.folder))

    assert ran.status == 1
    assert "there is no trace" in ran.err


def test_trace_of_a_file_with_torn_and_broken_lines(capsule: Capsule, tmp_path: Path) -> None:
    (tmp_path / "trace.jsonl").write_text('{"event_type":"session_start","event_id":"a","parent_id":null}\nnot json\n[]\n{"event_t')

    ran = capsule.do("trace", str(tmp_path))

    assert ran.status == 0
    assert "session_start" in ran.out
    assert "not finished" in ran.out
    assert "line 2" in ran.err
    assert "line 3" in ran.err
