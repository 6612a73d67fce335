"""A workdir is what an agent was given: links that it has left there lead the runtime nowhere (murmur.md 8.2)."""

import os
from pathlib import Path

import pytest

from tests.support.capsule_rig import CapsuleRig, call, calls
from tests.support.murmur_guests import Arm, hook
from treblehook.capsule.launch import tasks_beside
from treblehook.contracts.murmur.errors import StagingFailed


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """An empty folder beside the capsule."""
    folder = tmp_path / "outside"
    folder.mkdir()
    return folder


def names(folder: Path) -> list[str]:
    return os.listdir(folder)


async def test_a_result_is_not_written_through_a_link(rig: CapsuleRig, outside: Path) -> None:
    rig.plays(calls(call("bash", command=f"rm -r out; ln -s {outside} out")), {"text": "Done."})

    assert (await rig.launch()).exit_status == "ok"

    assert names(outside) == []
    assert "result" in (rig.work / "logs" / "bootstrap.log").read_text()


async def test_logs_are_not_written_through_a_link(rig: CapsuleRig, outside: Path) -> None:
    rig.hook("guard", hook({"on-tool-call": Arm("reopen-task", "x")}), binding="on-tool-call", policy="deny")
    rig.plays(calls(call("bash", command=f"rm -r logs; ln -s {outside} logs"), call("write", path="x", content="y")), {"text": "Done."})

    await rig.launch()

    assert not (rig.work / "x").exists()
    assert names(outside) == []


async def test_bookkeeping_does_not_begin_behind_a_link(rig: CapsuleRig, outside: Path, tmp_path: Path) -> None:
    rig.given_workdir = tmp_path / "work"
    rig.given_workdir.mkdir()
    (rig.given_workdir / ".murmur").symlink_to(outside)

    with pytest.raises(StagingFailed, match="link"):
        await rig.launch()

    assert names(outside) == []


async def test_a_workdir_may_itself_be_given_by_a_link(rig: CapsuleRig, outside: Path, tmp_path: Path) -> None:
    rig.given_workdir = tmp_path / "work"
    rig.given_workdir.symlink_to(outside)

    assert (await rig.launch()).exit_status == "ok"

    assert (outside / "task.md").read_text() == "dig"


def test_a_task_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "task.md")

    with pytest.raises(OSError, match="regular"):
        tasks_beside((), tmp_path)
