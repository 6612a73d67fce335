"""A session whose model goes for the hooks: the user is asked, whatever config.toml allows."""

import pytest

from tests.support.nest import Nest, Prompts, bash
from treblehook.agent.permissions import Always, Never

ALLOWS_ALL = '[permissions]\nallow = ["*"]\n'


async def test_the_user_is_asked_and_the_model_is_told_why(nest: Nest) -> None:
    nest.settings(ALLOWS_ALL)
    settings = nest.workspace / ".claude" / "settings.json"
    (nest.workspace / "link").symlink_to(nest.folder)
    write = {"name": "write", "args": {"path": ".claude/settings.json", "content": "{}"}}
    nest.plays({"tools": [write]}, bash("echo > link/config.toml"), bash("echo sand > beach"), {"text": "Done."})
    before = (nest.folder / "config.toml").read_text()
    prompts = Prompts(answer=False)
    session = await nest.open(approver=prompts)

    await session.prompt("go")

    results = nest.ears.of("tool_result")
    assert [result["ran"] for result in results] == [False, False, True]
    assert [call.name for call in prompts.calls] == ["write", "bash"]
    assert "Claude Code" in prompts.reasons[0]
    assert "home of Treblehook" in prompts.reasons[1]
    assert f"the tool did not run. {prompts.reasons[0]}" in results[0]["content"]
    assert (settings.exists(), (nest.folder / "config.toml").read_text()) == (False, before)
    assert (nest.workspace / "beach").exists()


@pytest.mark.parametrize(("approver", "ran"), [(Always(), True), (Never(), False)])
async def test_whoever_answers_prompts_answers_this_one(nest: Nest, approver: Always | Never, ran: bool) -> None:
    nest.settings(ALLOWS_ALL)
    nest.plays(bash("mkdir -p .crucible/plugins"), {"text": "Done."})
    session = await nest.open(approver=approver)

    await session.prompt("go")

    assert (nest.workspace / ".crucible").exists() is ran


async def test_a_subagent_is_no_way_around(nest: Nest) -> None:
    nest.settings(ALLOWS_ALL)
    agent = {"name": "agent", "args": {"task": "dig here"}}
    nest.plays({"tools": [agent]}, {"text": "Done."}, routes=[{"match": "dig here", "turns": [bash("rm -rf .crucible"), {"text": "Dug."}]}])
    (nest.workspace / ".crucible").mkdir()
    session = await nest.open(approver=Never())

    await session.prompt("go")

    assert (nest.workspace / ".crucible").exists()
