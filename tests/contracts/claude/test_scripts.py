"""Scripts as people write them for Claude Code, in bash with jq, Python and Node, run unchanged."""

import json
import shutil
from pathlib import Path

import pytest

from tests.support.needs import needs
from tests.support.sample_events import closed, compacting, ending, proposed, started, submitted
from tests.support.vera_home import VeraHome, contexts
from treblehook.engine import Ended
from treblehook.lifecycle import AddContext, Block, Continue, ToolCall

SCRIPTS = Path(__file__).parent / "scripts"


def use(home: VeraHome, event: str, script: str) -> None:
    shutil.copy(SCRIPTS / script, home.hooks / script)
    (home.hooks / script).chmod(0o755)
    home.claude(event, script)


@needs("bash", "jq")
@pytest.mark.parametrize(
    ("command", "reason"),
    [("rm -rf build", "Recursive deletes are not allowed here: rm -rf build"), ("ls; rm file", None), ("echo 'rm'", None)],
)
async def test_a_guard_in_bash(home: VeraHome, command: str, reason: str | None) -> None:
    use(home, "PreToolUse", "guard.sh")

    outcome = await home.fire(proposed(ToolCall("c", "bash", {"command": command})))

    assert (outcome.decision, outcome.failure) == (None if reason is None else Block(reason), None)


@needs("python3")
async def test_a_guard_in_python(home: VeraHome) -> None:
    use(home, "PreToolUse", "protect_secrets.py")
    session = home.session()

    kept = await session.fire(proposed(ToolCall("c", "write", {"path": "deploy/.env.local", "content": "x"})))
    free = await session.fire(proposed(ToolCall("c", "write", {"path": "notes.md", "content": "x"})))

    assert kept.decision == Block("deploy/.env.local holds secrets")
    assert (free.decision, free.failure) == (None, None)


@needs("bash", "jq")
async def test_a_reminder_in_bash(home: VeraHome) -> None:
    use(home, "UserPromptSubmit", "remember.sh")

    outcome = await home.fire(submitted("write a Test"))

    assert contexts(outcome) == [AddContext("Workspace rules:\n- run the tests with make test\n- answer in one paragraph")]


@needs("node")
async def test_a_guard_of_prompts_in_node(home: VeraHome) -> None:
    use(home, "UserPromptSubmit", "no-secrets.js")
    session = home.session()

    assert (await session.fire(submitted("use sk-abcdefghijklmnop1234"))).decision == Block(
        "The prompt holds an API key. Take it out first."
    )
    assert contexts(await session.fire(submitted("use your head"))) == [AddContext("No secrets were found.")]


@needs("node")
async def test_a_greeting_in_node(home: VeraHome) -> None:
    use(home, "SessionStart", "session-context.mjs")
    session = home.session()

    assert contexts(await session.fire(started())) == [AddContext("Working in /path/to/the/nest (startup).")]
    assert contexts(await session.fire(started("compacted"))) == []
    assert home.log() == []


@needs("python3")
async def test_a_check_at_the_end_in_python(home: VeraHome) -> None:
    use(home, "Stop", "map_check.py")
    session = home.session()

    assert (await session.fire(ending("done"))).decision == Continue("Where is the map?")
    assert (await session.fire(ending("done", continuations=1))).decision is None
    assert (await session.fire(ending("done, see the map"))).decision is None


@needs("jq")
async def test_a_check_of_subagents_in_jq(home: VeraHome) -> None:
    use(home, "SubagentStop", "agent-report.sh")
    session = home.session(spawned=True)

    assert (await session.fire(ending("found it"))).decision == Continue("Agent sess_1: report as a list.")
    assert (await session.fire(ending("- found it"))).decision is None


@needs("jq")
async def test_a_diary_in_jq(home: VeraHome) -> None:
    use(home, "PreCompact", "diary.sh")
    use(home, "SessionEnd", "diary.sh")
    session = home.session()

    await session.fire(compacting("automatic"))
    await session.fire(closed("deleted"))
    await session.settle()

    diary = [json.loads(line) for line in (home.hooks / "diary.jsonl").read_text().splitlines()]
    assert sorted(diary, key=str) == [{"event": "PreCompact", "why": "auto"}, {"event": "SessionEnd", "why": "other"}]
    assert {call.ended for call in session.calls} == {Ended.PASSED}
