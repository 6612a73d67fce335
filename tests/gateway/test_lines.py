"""The installed command line where neither the daemon nor the client can be had."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.gateway.honoured import HONOURED, honours
from tests.support.needs import require
from treblehook.gateway.agents import codec_of
from treblehook.gateway.lines import ClientPlace, command_line

COMMANDS = ("claude-code", "codex", "gemini", "qwen", "copilot")


def run(agent: str, event: str, folder: Path, *, closed: bool) -> "subprocess.CompletedProcess[str]":
    """The line, where nothing listens and the Python that it knows is gone."""
    require("curl")
    place = ClientPlace(folder / "home", folder / "no.sock", shutil.which("curl"), str(folder / "no python"))
    line = command_line(agent, event, place, closed=closed)
    return subprocess.run(["sh", "-c", line], input='{"a": "b"}', capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize(("agent", "event"), [(agent, hooked.name) for agent in COMMANDS for hooked in codec_of(agent).hooked])
def test_a_closed_line_denies_and_says_why(tmp_path: Path, agent: str, event: str) -> None:
    ran = run(agent, event, tmp_path, closed=True)
    assert ran.returncode == 2
    assert "the gateway cannot be reached, the call is denied" in ran.stderr
    if agent != "copilot":
        assert ran.stdout == ""
        return
    assert honours(HONOURED[agent], event, json.loads(ran.stdout))
    assert json.loads(ran.stdout).keys() == codec_of(agent).refuse(event, "words").keys()


@pytest.mark.parametrize("agent", COMMANDS)
def test_an_open_line_lets_pass_and_says_so(tmp_path: Path, agent: str) -> None:
    ran = run(agent, codec_of(agent).hooked[0].name, tmp_path, closed=False)
    assert ran.returncode == 0
    assert "the hooks were not asked" in ran.stderr
    assert json.loads(ran.stdout).keys() == {"systemMessage"}
