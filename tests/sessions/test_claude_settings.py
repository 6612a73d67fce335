"""Hooks that a user has for Claude Code guard our own sessions, where `[claude] settings` says so."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.nest import Nest, Prompts, agent, bash, texts
from tests.support.settings_rig import printing, specific
from treblehook.agent.permissions import Never


class User:
    """A user's settings file, and that of the workspace."""

    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        nest.settings('[claude]\nsettings = ["user", "project"]\n')

    def has(self, place: Path, **events: list[tuple[str, str]]) -> None:
        """Write a file with a group for each pair of matcher and command."""
        hooks = {
            event: [{"matcher": matcher, "hooks": [{"type": "command", "command": command}]} for matcher, command in groups]
            for event, groups in events.items()
        }
        file = place / ".claude" / "settings.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"hooks": hooks}))

    def log(self) -> list[dict[str, Any]]:
        """What the hooks that keep their input were sent."""
        file = self.nest.workspace / "log"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.fixture
def user(nest: Nest, monkeypatch: pytest.MonkeyPatch) -> User:
    monkeypatch.setenv("HOME", str(nest.place))
    return User(nest)


LOG = ("", 'payload=$(cat); printf "%s\\n" "$payload" >> log')


async def test_a_call_is_denied_and_the_model_is_told_why(nest: Nest, user: User) -> None:
    user.has(nest.place, PreToolUse=[("Bash", "echo no digging >&2; exit 2"), LOG])
    nest.plays(bash("touch dug"), {"text": "Aye."})
    session = await nest.open()

    await session.prompt("dig")

    assert not (nest.workspace / "dug").exists()
    assert nest.queries[1].messages[-1].text == "no digging"
    assert [payload["tool_input"] for payload in user.log()] == [{"command": "touch dug"}]


async def test_a_whole_session(nest: Nest, user: User) -> None:
    events = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")
    groups = {event: [LOG] for event in events}
    groups["SessionStart"].append(("startup", "echo ebb at six"))
    groups["PreToolUse"].append(("Bash", printing(specific("PreToolUse", updatedInput={"command": "echo gold"}))))
    groups["PostToolUse"].append(("Bash", printing({"decision": "block", "reason": "count it"})))
    groups["Stop"].append(("", "grep -q '\"stop_hook_active\":true' || { echo once more >&2; exit 2; }"))
    user.has(nest.place, **groups)
    nest.plays(bash("echo sand"), {"text": "Gold."}, {"text": "Counted."})
    session = await nest.open()

    await session.prompt("dig")
    await session.finish("closed")

    assert [payload["hook_event_name"] for payload in user.log()] == [*events[:4], "Stop", "Stop", "SessionEnd"]
    assert texts(nest.queries[0])[0].endswith("ebb at six")
    assert nest.queries[1].messages[-1].text == "gold\n\n\nPostToolUse:Bash hook blocking error: count it"
    assert texts(nest.queries[2])[-1] == "once more"


async def test_a_granted_permission_spares_the_prompt(nest: Nest, user: User) -> None:
    allow = printing(specific("PermissionRequest", decision={"behavior": "allow"}))
    user.has(nest.place, PermissionRequest=[("Bash", allow)])
    nest.plays(bash("touch dug"), {"text": "Aye."})
    session = await nest.open(approver=Never())

    await session.prompt("dig")

    assert (nest.workspace / "dug").exists()


def decides(decision: str) -> str:
    return printing(specific("PreToolUse", permissionDecision=decision, permissionDecisionReason="mind the tide"))


async def test_a_call_that_a_hook_allows_asks_nobody(nest: Nest, user: User) -> None:
    user.has(nest.place, PreToolUse=[("Bash", decides("allow"))])
    nest.plays(bash("touch dug"), {"text": "Aye."})
    session = await nest.open(approver=Never())

    await session.prompt("dig")

    assert (nest.workspace / "dug").exists()


@pytest.mark.parametrize("answer", [True, False])
async def test_a_call_that_a_hook_wants_asked_is_asked_about_whatever_is_allowed(nest: Nest, user: User, answer: bool) -> None:
    nest.settings('[claude]\nsettings = ["user"]\n[permissions]\nallow = ["bash"]\n')
    user.has(nest.place, PreToolUse=[("Bash", decides("ask"))])
    nest.plays(bash("touch dug"), {"text": "Aye."})
    prompts = Prompts(answer)
    session = await nest.open(approver=prompts)

    await session.prompt("dig")

    assert prompts.reasons == ["A hook wants the user asked: mind the tide"]
    assert (nest.workspace / "dug").exists() is answer
    assert answer or nest.queries[1].messages[-1].text.endswith("A hook wants the user asked: mind the tide")


async def test_a_subagent_has_the_hooks_that_its_parent_has(nest: Nest, user: User) -> None:
    """Whatever a tool has written into the file meanwhile."""
    user.has(nest.workspace, PreToolUse=[("Bash", "echo no digging >&2; exit 2")])
    routes = [{"match": "dig", "turns": [bash("touch dug"), {"text": "Dug."}]}]
    nest.plays(agent("dig"), {"text": "Aye."}, routes=routes)
    session = await nest.open(trust=True)
    user.has(nest.workspace)

    await session.prompt("go")

    assert not (nest.workspace / "dug").exists()


async def test_a_subagent_has_its_own_events(nest: Nest, user: User) -> None:
    user.has(nest.place, **{event: [LOG] for event in ("SessionStart", "UserPromptSubmit", "SubagentStart", "Stop", "SubagentStop")})
    nest.plays(agent("dig"), {"text": "Aye."}, routes=[{"match": "dig", "turns": [{"text": "Dug."}]}])
    session = await nest.open()

    await session.prompt("go")

    names = [payload["hook_event_name"] for payload in user.log()]
    assert names == ["SessionStart", "UserPromptSubmit", "SubagentStart", "SubagentStop", "Stop"]


async def test_a_workspace_has_a_say_once_it_is_trusted(nest: Nest, user: User) -> None:
    user.has(nest.workspace, PreToolUse=[("Bash", "exit 2")])
    nest.plays(bash("touch dug"), {"text": "Aye."})

    await (await nest.open()).prompt("dig")
    assert (nest.workspace / "dug").exists()
    assert [problem.message for problem in nest.home.problems] == ["held back, it does not run: it has not been trusted yet"]

    (nest.workspace / "dug").unlink()
    await (await nest.open(trust=True)).prompt("dig")
    assert not (nest.workspace / "dug").exists()


@pytest.mark.parametrize("profile", ["bare", "prompt-only"])
async def test_a_bare_session_has_none(nest: Nest, user: User, profile: str) -> None:
    user.has(nest.place, SessionStart=[LOG])

    await nest.open(profile=profile)

    assert user.log() == []


async def test_a_background_hook_ends_with_the_home(nest: Nest, user: User) -> None:
    file = nest.place / ".claude" / "settings.json"
    file.parent.mkdir()
    entry = {"type": "command", "command": "echo $$ > pid; exec sleep 600", "async": True}
    file.write_text(json.dumps({"hooks": {"UserPromptSubmit": [{"hooks": [entry]}]}}))
    session = await nest.open()

    await session.prompt("dig")
    await session.finish("closed")
    await nest.home.close()

    assert nest.queries
