"""The permission of a session reads a main argument by its name."""

from pathlib import Path

from treblehook.agent.permissions import Always, Never, Permissions, Rules
from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import ToolCall


def permission(workspace: Path, *, allow: tuple[str, ...] = (), deny: tuple[str, ...] = ()) -> Permissions:
    return Permissions(Rules.parse(allow, [], deny, "c"), Never(), workspace)


def test_a_command_is_read_as_one_whatever_its_tool_is_called(tmp_path: Path) -> None:
    spec = ToolSpec("git", "", {}, main_argument="command", asks=True)
    rules = permission(tmp_path, allow=("git(git *)",), deny=("git(git push*)",))

    assert rules.verdict(ToolCall("c", "git", {"command": "git log"}), spec).kind == "allow"
    assert rules.verdict(ToolCall("c", "git", {"command": "git log; git push"}), spec).kind == "deny"
    assert rules.verdict(ToolCall("c", "git", {"command": "git log; rm x"}), spec).kind == "ask"


def test_any_other_argument_is_plain_text(tmp_path: Path) -> None:
    spec = ToolSpec("agent", "", {}, main_argument="task", asks=True)
    rules = permission(tmp_path, allow=("agent(look*)",))

    assert rules.verdict(ToolCall("c", "agent", {"task": "look; and think"}), spec).kind == "allow"


def test_an_argument_of_another_type_is_none(tmp_path: Path) -> None:
    spec = ToolSpec("bash", "", {}, main_argument="command", asks=True)

    assert permission(tmp_path, allow=("bash(x*)",)).verdict(ToolCall("c", "bash", {"command": 5}), spec).kind == "ask"
    assert permission(tmp_path, deny=("bash",)).verdict(ToolCall("c", "bash", {}), spec).kind == "deny"


async def test_the_approver_answers(tmp_path: Path) -> None:
    call, spec = ToolCall("c", "write", {}), ToolSpec("write", "", {})

    assert await Permissions(Rules(), Always(), tmp_path).approve(call, spec)
    assert not await Permissions(Rules(), Never(), tmp_path).approve(call, spec)
