"""What a type checker says about programs that use the public names: right ones pass, wrong ones are told."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

GOOD = """
import asyncio
from typing import Any

from treblehook import (
    Block, Home, Hooks, PreToolCall, PromptSubmitted, AddContext, Reply, Rewrite, SessionEnd, ToolCall, ToolFinished, arun, run,
)
from treblehook.workflow import CommandHook, step, workflow

hooks = Hooks()


@hooks.on(PreToolCall, pattern="bash", priority=5, timeout=2.0, on_error="closed")
async def guard(event: PreToolCall) -> Block | Rewrite | None:
    return Block("no") if "rm " in event.call.input["command"] else None


@hooks.on(ToolFinished)
def redact(event: ToolFinished) -> Rewrite | None:
    return Rewrite(content=event.content.replace("hunter2", "***"))


@hooks.on(SessionEnd)
def note(event: SessionEnd) -> None:
    print(event.reason, event.turns)


def prepare(turn: dict[str, Any]) -> dict[str, Any] | None:
    return {"power": "mutate", "tools": []}


async def ends(turn: dict[str, Any]) -> dict[str, Any] | None:
    return None


async def approve(call: ToolCall) -> bool:
    return call.name == "bash"


async def main() -> str:
    outcome = await hooks.fire(PreToolCall(session="s1", call=ToolCall("c1", "bash", {"command": "rm x"})))
    command: PreToolCall = outcome.value
    if outcome.blocked is not None:
        print(outcome.blocked.reason, command.call.name)
    async with Home("~/.treblehook") as home:
        session = await home.session(workspace=".", model="script:f.json", hooks=hooks, approve=approve, before_turn_ends=ends)
        reply = await session.prompt("where?")
        return reply.text + reply.status + str([record["type"] for record in reply.records])


reply: Reply = run("where?", model="script:f.json", prepare_turn=prepare, approve="always")


@step
def fetch(name: str, *, size: int = 1) -> list[str]:
    return [name] * size


@workflow
def report(name: str) -> int:
    return len(fetch(name, size=2))


total: int | None = report.run("a", journal_dir="runs", prepare_step=[CommandHook(["notify"])]).result
names: list[str] = fetch("a")
"""

BAD = {
    "run('where?', modle='x')": "modle",
    "run('where?', approve='ask')": "approve",
    "run('where?', prepare_turn=5)": "prepare_turn",
    "run(5)": "arg-type",
    "run('where?', hooks=[print])": "hooks",
    "run('where?').txt": "txt",
    "Home(5)": "arg-type",
    "hooks.on(PreToolCall)(wrong_event)": "arg-type",
    "hooks.on(SessionEnd)(wrong_answer)": "arg-type",
    "hooks.on(PreToolCall, on_error='shut')": "call-overload",
    "hooks.on('PreToolCall')": "call-overload",
    "fetch(5)": "arg-type",
    "fetch('a').append(5)": "arg-type",
    "report.run('a')": "journal_dir",
    "CommandHook(['a'], timeout_ms='1')": "arg-type",
}
HEAD = """
from treblehook import Block, Home, Hooks, PreToolCall, SessionEnd, run
from treblehook.workflow import CommandHook, step, workflow
hooks = Hooks()
def wrong_event(event: SessionEnd) -> None: ...
def wrong_answer(event: SessionEnd) -> Block | None: ...
@step
def fetch(name: str) -> list[str]: ...
@workflow
def report(name: str) -> int: ...
"""


def mypy(file: Path) -> list[str]:
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "", "--cache-dir", str(ROOT / ".cache" / "mypy-snippets")]
    run = subprocess.run([*command, "--no-error-summary", str(file)], cwd=file.parent, capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1), run.stderr
    return run.stdout.splitlines()


@pytest.mark.slow
def test_a_right_program_is_right(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(GOOD)

    assert mypy(file) == []


@pytest.mark.slow
def test_every_wrong_line_is_told(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(HEAD.replace(": ...", ": raise NotImplementedError") + "\n".join(BAD) + "\n")
    first = HEAD.count("\n") + 1

    told = mypy(file)

    wrong = {place: [line for line in told if line.startswith(f"program.py:{first + place}: error")] for place in range(len(BAD))}
    missed = [line for place, line in enumerate(BAD) if not any(list(BAD.values())[place] in text for text in wrong[place])]
    assert missed == [], "\n".join(told)
    assert {int(line.split(":")[1]) for line in told if ": error:" in line} == set(range(first, first + len(BAD)))
