"""examples/guard.py"""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.examples.conftest import EXAMPLES
from treblehook import PreToolCall, ToolCall, ToolFinished


@pytest.fixture
def guard() -> ModuleType:
    spec = importlib.util.spec_from_file_location("guard", EXAMPLES / "guard.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("command", ["rm x", "cd a && /bin/rm -r b", "ls; rmdir c", "(rm x)", "echo 'unbalanced"])
async def test_what_removes_files_or_cannot_be_read_is_blocked(guard: ModuleType, command: str) -> None:
    outcome = await guard.hooks.fire(PreToolCall(call=ToolCall("c1", "bash", {"command": command})))

    assert outcome.blocked is not None


@pytest.mark.parametrize("command", ["ls", "grep rmdirs notes", "echo 'rm is a word' # rm"])
async def test_everything_else_passes(guard: ModuleType, command: str) -> None:
    outcome = await guard.hooks.fire(PreToolCall(call=ToolCall("c1", "bash", {"command": command})))

    assert outcome.blocked is None


async def test_secrets_do_not_reach_the_model(guard: ModuleType) -> None:
    event = ToolFinished(call=ToolCall("c1", "read", {"path": "x"}), content="user: jim\nPassword = parrot\n")

    assert (await guard.hooks.fire(event)).value.content == "user: jim\nPassword = [redacted]\n"


def test_the_program(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(
        json.dumps([{"tools": [{"name": "bash", "args": {"command": "rm chest"}}]}, {"text": "I left it."}])
    )
    (tmp_path / "chest").write_text("gold")
    command = [sys.executable, str(EXAMPLES / "guard.py"), "--model", "script:model.json", "tidy up"]

    run = subprocess.run(command, cwd=tmp_path, env={"TREBLEHOOK_HOME": str(tmp_path / "home")}, capture_output=True, text=True, check=True)

    assert run.stdout == "I left it.\n"
    assert (tmp_path / "chest").exists()
