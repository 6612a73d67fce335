"""Runs, their journal and how they are gone on with."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.program import Program
from tests.workflow.conftest import Search
from treblehook import run as run_agent
from treblehook.workflow import JournalFailed, RunBusy, RunNotFound, WorkflowError, step, workflow


def test_a_run_has_a_result_and_records_its_steps(search: Search) -> None:
    run = search.run()

    assert (run.status, run.result, run.error) == ("ok", "2 places", None)
    assert search.did == [("beach", 1), ("cave", 3), 2]
    records = [json.loads(line) for line in search.journal(run.id).read_text().splitlines()]
    assert [(record["type"], record.get("step")) for record in records] == [
        ("run", None),
        ("step", "look"),
        ("step", "look"),
        ("step", "tell"),
        ("end", None),
    ]


def test_called_directly_everything_is_a_plain_call(search: Search) -> None:
    assert search.hunt("beach") == "2 places"
    assert not search.folder.exists()
    assert search.hunt.__name__ == "hunt"


def test_recorded_steps_are_not_run_again(search: Search) -> None:
    run = search.run()
    search.did.clear()

    again = search.resume(run)

    assert (again.id, again.status, again.result, search.did) == (run.id, "ok", "2 places", [])


def test_a_step_that_failed_is_tried_again_and_the_ones_before_are_not(tmp_path: Path) -> None:
    did: list[str] = []
    tide = "high"

    @step
    def dig(place: str) -> str:
        did.append(place)
        if place == "reef" and tide == "high":
            raise OSError("under water")
        return place

    @workflow
    def treasure() -> list[str]:
        return [dig("beach"), dig("reef")]

    run = treasure.run(journal_dir=tmp_path)
    assert (run.status, run.result) == ("failed", None)
    assert run.error is not None
    assert (run.error.kind, run.error.message) == ("step", "OSError: under water")
    assert isinstance(run.error.__cause__, OSError)
    tide = "low"

    assert treasure.resume(run.id, journal_dir=tmp_path).result == ["beach", "reef"]
    assert did == ["beach", "reef", "reef"]


def test_calls_with_equal_arguments_are_told_apart_by_their_order(tmp_path: Path) -> None:
    count = 0

    @step
    def roll() -> int:
        nonlocal count
        count += 1
        return count

    @workflow
    def dice() -> list[int]:
        return [roll(), roll(), roll()]

    run = dice.run(journal_dir=tmp_path)

    assert run.result == dice.resume(run.id, journal_dir=tmp_path).result == [1, 2, 3]


def test_a_result_is_what_json_makes_of_it_from_the_first_run_on(tmp_path: Path) -> None:
    @step
    def pair() -> Any:
        return ("a", {"b": (1, None)})

    @workflow
    def pairs() -> Any:
        return pair()

    run = pairs.run(journal_dir=tmp_path)

    assert run.result == pairs.resume(run.id, journal_dir=tmp_path).result == ["a", {"b": [1, None]}]


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, float("nan"), object(), {1: "x"}, {"deep": [{None: 1}]}])
def test_a_value_that_is_not_json_is_told_and_not_recorded(tmp_path: Path, value: Any) -> None:
    did = []

    @step
    def give(what: Any = None) -> Any:
        did.append(what)
        return value

    @workflow
    def results() -> None:
        give()

    @workflow
    def arguments() -> None:
        give(value)

    for flow in (results, arguments):
        run = flow.run(journal_dir=tmp_path)
        assert run.error is not None
        assert run.error.kind == "serialize"
        assert '"step"' not in (tmp_path / run.id / "journal.jsonl").read_text()
    # An argument is looked at before the body runs.
    assert did == [None]


def test_arguments_of_the_run_must_be_json(search: Search) -> None:
    with pytest.raises(WorkflowError) as error:
        search.hunt.run(b"beach", journal_dir=search.folder)

    assert error.value.kind == "serialize"
    assert not search.folder.exists()


def test_a_step_may_run_an_agent_between_hooks(tmp_path: Path) -> None:
    program = Program(tmp_path)

    @step
    def ask(prompt: str) -> str:
        return run_agent(prompt, **program.places).text

    @workflow
    def questions() -> list[str]:
        return [ask("where?"), ask("and how deep?")]

    run = questions.run(journal_dir=tmp_path / "runs", prepare_step=lambda payload: {"power": "observe"})

    assert run.result == ["Under the third palm."] * 2


def test_a_run_inside_a_step_is_one_of_its_own(tmp_path: Path, search: Search) -> None:
    @step
    def ask() -> str:
        return search.run().id

    @workflow
    def outer() -> str:
        return ask()

    run = outer.run(journal_dir=tmp_path / "outer")

    assert search.journal(str(run.result)).exists()
    assert len(search.did) == 3


def test_a_workflow_called_inside_another_is_part_of_its_run(tmp_path: Path, search: Search) -> None:
    @workflow
    def outer() -> str:
        return search.hunt("beach")

    run = outer.run(journal_dir=tmp_path / "outer")

    assert (tmp_path / "outer" / run.id / "journal.jsonl").read_text().count('"type":"step"') == 3


def test_a_run_that_there_is_not(search: Search, tmp_path: Path) -> None:
    run = search.run()

    @workflow
    def other() -> None: ...

    for run_id in ("run_x", "../runs", ""):
        with pytest.raises(RunNotFound):
            search.hunt.resume(run_id, journal_dir=search.folder)
    with pytest.raises(RunNotFound, match="'hunt', not of 'other'"):
        other.resume(run.id, journal_dir=search.folder)


def test_a_run_that_is_under_way_is_not_run_twice(search: Search) -> None:
    def twice(payload: dict[str, Any]) -> dict[str, Any]:
        with pytest.raises(RunBusy):
            search.hunt.resume(payload["run_id"], journal_dir=search.folder)
        return {"power": "observe"}

    assert search.run(twice).status == "ok"


def test_an_exception_that_ends_the_program_comes_out_and_the_run_can_go_on(tmp_path: Path) -> None:
    stop = True

    @step
    def wait() -> str:
        if stop:
            raise KeyboardInterrupt
        return "done"

    @workflow
    def patient() -> str:
        return wait()

    with pytest.raises(KeyboardInterrupt):
        patient.run(journal_dir=tmp_path)
    stop = False
    [run_id] = [path.name for path in tmp_path.iterdir()]

    assert patient.resume(run_id, journal_dir=tmp_path).result == "done"


def test_a_journal_that_cannot_be_written_is_raised(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    @workflow
    def nothing() -> None: ...

    with pytest.raises(JournalFailed):
        nothing.run(journal_dir=tmp_path / "file")


@pytest.mark.parametrize("decorate", [step, workflow])
def test_coroutine_functions_and_other_things_are_refused(decorate: Any) -> None:
    async def later() -> None: ...

    for thing in (later, 5):
        with pytest.raises(TypeError, match="plain function"):
            decorate(thing)


def test_a_parameter_that_run_takes_for_itself_is_refused() -> None:
    with pytest.raises(TypeError, match="journal_dir"):

        @workflow
        def mine(journal_dir: str) -> None: ...


def test_a_journal_cut_at_any_byte_is_gone_on_with(search: Search) -> None:
    whole = search.run()
    journal = search.journal(whole.id)
    content = journal.read_bytes()
    steps = [at for at, line in enumerate(content.splitlines(keepends=True)) if b'"type":"step"' in line]
    ends = [len(b"".join(content.splitlines(keepends=True)[: at + 1])) for at in steps]
    first = content.index(b"\n") + 1

    for cut in range(len(content) + 1):
        journal.write_bytes(content[:cut])
        search.did.clear()
        if cut < first:
            with pytest.raises(RunNotFound):
                search.resume(whole)
            continue
        assert search.resume(whole).result == "2 places"
        assert len(search.did) == 3 - sum(end <= cut for end in ends)


def test_a_killed_process_loses_no_recorded_step(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        """
import os, signal, sys
from treblehook.workflow import step, workflow

@step
def note(word):
    with open("notes", "a") as notes:
        notes.write(word + "\\n")
    if word == "three" and len(sys.argv) == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return word

@workflow
def count():
    return [note(word) for word in ("one", "two", "three", "four")]

if len(sys.argv) == 1:
    count.run(journal_dir="runs")
else:
    print(count.resume(sys.argv[1], journal_dir="runs").result)
"""
    )
    command = [sys.executable, str(program)]

    killed = subprocess.run(command, cwd=tmp_path, check=False)
    [run_id] = os.listdir(tmp_path / "runs")
    resumed = subprocess.run([*command, run_id], cwd=tmp_path, check=True, capture_output=True, text=True)

    assert killed.returncode == -signal.SIGKILL
    assert resumed.stdout.strip() == "['one', 'two', 'three', 'four']"
    assert (tmp_path / "notes").read_text().split() == ["one", "two", "three", "three", "four"]


def test_without_hooks_a_run_may_stand_inside_an_event_loop(search: Search) -> None:
    async def main() -> str | None:
        return search.run().result

    assert asyncio.run(main()) == "2 places"


def test_with_hooks_it_says_what_to_use_there(search: Search) -> None:
    async def main() -> str | None:
        with pytest.raises(RuntimeError, match=r"asyncio\.to_thread"):
            search.run(lambda payload: {"power": "observe"})
        assert not search.folder.exists()
        return (await asyncio.to_thread(search.run, lambda payload: {"power": "observe"})).result

    assert asyncio.run(main()) == "2 places"
