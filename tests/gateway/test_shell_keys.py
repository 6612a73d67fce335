"""A time or a folder that a hook gives to a command: said in the agent's own word for it, or the call is denied."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.test_protected import shell_call
from treblehook.gateway.agents import codec_of
from treblehook.gateway.values import CallComing, RunRewritten

COMMAND = "ls"
OWN = {
    "claude-code": {"timeout_ms": "timeout"},
    "gemini": {"workdir": "dir_path"},
    "copilot": {},
    "opencode": {"timeout_ms": "timeout", "workdir": "workdir"},
    "pi": {},
}
"""What the shells of those agents that take a new input call our keys; of any other they would not say a word."""


def answer(agent: str, workspace: Path, **more: Any) -> str:
    codec = codec_of(agent)
    arrived = codec.decode(*shell_call(agent, COMMAND, workspace))
    assert isinstance(arrived.what, CallComing)
    return json.dumps(codec.encode(arrived, RunRewritten({**arrived.what.call.input, "command": "pwd", **more})))


@pytest.mark.parametrize("agent", OWN)
@pytest.mark.parametrize(("key", "value"), [("timeout_ms", 4321), ("workdir", "/elsewhere")])
def test_it_is_said_or_the_call_is_denied(tmp_path: Path, agent: str, key: str, value: object) -> None:
    said = answer(agent, tmp_path, **{key: value})
    assert ("deny" in said) is (key not in OWN[agent])
    assert json.dumps(value) in said or json.dumps(json.dumps(value))[1:-1] in said
    if key in OWN[agent]:
        assert f'"{OWN[agent][key]}": {json.dumps(value)}' in said


@pytest.mark.parametrize("agent", OWN)
def test_without_one_the_call_runs_rewritten(tmp_path: Path, agent: str) -> None:
    assert "deny" not in answer(agent, tmp_path)
