"""The oci example: tools in a container, which a stand-in for `docker` on PATH plays with real processes."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.examples.conftest import EXAMPLES
from tests.support.command_home import Ran
from tests.support.command_run import Stage, calls, only
from tests.support.needs import needs

pytestmark = needs("bash", "sed", "grep")

DOCKER = """#!/bin/sh
# Plays containers: what is to run inside runs here, with a mark in its environment. Every call is written down.
printf '%s\\n' "$*" >> "$DOCKER_LOG"
case "$1" in
    run) if [ -n "$DOCKER_BROKEN" ]; then echo "Cannot connect to the Docker daemon" >&2; exit 125; fi
         echo "container-$(wc -l < "$DOCKER_LOG" | tr -d ' ')" ;;
    exec) shift 5; IN_CONTAINER=yes exec "$@" ;;
    rm) ;;
    *) exit 64 ;;
esac
"""


class Dock(Stage):
    """A home with the plugin, and the stand-in first on PATH."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        shutil.copytree(EXAMPLES / "oci", self.home.folder / "plugins" / "oci")
        self.log = folder / "docker.log"
        programs = folder / "bin"
        programs.mkdir()
        (programs / "docker").write_text(DOCKER)
        (programs / "docker").chmod(0o755)
        self.path = f"{programs}{os.pathsep}{os.environ['PATH']}"

    def environment(self, **more: str) -> dict[str, str]:
        return super().environment(PATH=self.path, DOCKER_LOG=str(self.log), **more)

    def goes(self, *turns: dict[str, Any], **environment: str) -> Ran:
        """A session in which the model plays these turns, and then says that it is done."""
        self.plays(*turns, {"text": "Done."})
        return self.run("run", "dig", "--approve", "never", "--output", "jsonl", **environment)

    def docker(self) -> list[str]:
        """What docker was told, call by call."""
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def dock(tmp_path: Path) -> Dock:
    return Dock(tmp_path)


def uses(tool: str, **args: Any) -> dict[str, Any]:
    return {"text": "", "tools": [{"name": tool, "args": args}]}


def answers(ran: Ran) -> list[dict[str, Any]]:
    """What the tool calls answered, decoded."""
    assert (ran.status, ran.err) == (0, "")
    results = [record for record in ran.records if record["type"] == "tool_result"]
    assert [(result["ran"], result["is_error"]) for result in results] == [(False, False)] * len(results)
    return [json.loads(result["content"]) for result in results]


def test_a_command_runs_in_the_container_and_needs_no_permission(dock: Dock) -> None:
    ran = dock.goes(calls("echo $IN_CONTAINER; pwd; echo oops >&2; exit 3"))

    assert answers(ran) == [{"exit_code": 3, "stdout": f"yes\n{dock.workspace}\n", "stderr": "oops\n"}]
    where = f"--volume {dock.workspace}:{dock.workspace} --workdir {dock.workspace}"
    assert dock.docker() == [
        f"run --detach --rm --init {where} docker.io/library/debian:stable-slim sleep infinity",
        f"exec --interactive --workdir {dock.workspace} container-1 bash -c echo $IN_CONTAINER; pwd; echo oops >&2; exit 3",
        "rm --force container-1",
    ]


def test_every_tool_works_on_real_files(dock: Dock) -> None:
    ran = dock.goes(
        uses("write", path="deep/a.txt", content="one\ntwo\nthree\n"),
        uses("edit", path="deep/a.txt", old="two", new="$(touch pwned)"),
        uses("read", path="deep/a.txt", offset=2, limit=1),
        uses("glob", pattern="**/*.txt"),
        uses("grep", pattern="^thr", path="deep"),
    )

    assert answers(ran) == [
        {"output": "wrote 14 bytes to deep/a.txt"},
        {"output": "edited deep/a.txt"},
        {"output": "$(touch pwned)\n"},
        {"output": "deep/a.txt\n"},
        {"output": "deep/a.txt:3:three\n"},
    ]
    assert (dock.workspace / "deep" / "a.txt").read_text() == "one\n$(touch pwned)\nthree\n"
    assert not (dock.workspace / "pwned").exists()


def test_docker_s_words_reach_the_user_where_it_fails(dock: Dock) -> None:
    ran = dock.goes(calls("touch escaped"), DOCKER_BROKEN="yes")

    assert ran.status == 4
    said = f"oci: no container for {dock.workspace}: docker run failed: Cannot connect to the Docker daemon"
    assert said in only(ran.records, "end")["reason"]
    assert said in ran.err
    assert not (dock.workspace / "escaped").exists()


def test_without_docker_the_session_is_refused(dock: Dock) -> None:
    (dock.folder / "bin" / "docker").unlink()
    dock.home.settings('[plugins.oci]\nprogram = "no-such-docker"\n')

    ran = dock.goes(calls("touch escaped"))

    assert ran.status == 4
    assert "no-such-docker" in only(ran.records, "end")["reason"]
    assert not (dock.workspace / "escaped").exists()


def test_a_broken_plugin_does_not_open_the_host(dock: Dock) -> None:
    """Where another hook lets the call go on without a container, isolation refuses it."""
    init = dock.home.folder / "plugins" / "oci" / "init.lua"
    init.write_text(init.read_text().replace("containers.of(ctx.session_id)", "nil"))

    ran = dock.goes(calls("touch escaped"))

    result = only(ran.records, "tool_result")
    assert (result["ran"], result["is_error"]) == (False, True)
    assert "the oci plugin runs tools in containers only" in result["content"]
    assert not (dock.workspace / "escaped").exists()


def test_settings_are_honoured(dock: Dock) -> None:
    dock.home.settings('[plugins.oci]\nimage = "alpine"\nrun_args = ["--network", "none"]\n')

    dock.goes()

    assert dock.docker()[0].endswith("--network none alpine sleep infinity")


def test_its_own_tests_pass(dock: Dock) -> None:
    ran = dock.bare("hooks", "test", str(EXAMPLES / "oci"))

    assert (ran.status, ran.err) == (0, ""), ran.out
    assert "FAILED" not in ran.out
    assert dock.docker() == []
