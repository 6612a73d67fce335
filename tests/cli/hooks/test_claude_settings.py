"""Hooks of Claude Code's settings on the command line: listed, checked, trusted, tried out."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_home import CommandHome, Ran


@pytest.fixture
def settings(home: CommandHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "Settings":
    return Settings(home, tmp_path, monkeypatch)


class Settings:
    """A user's settings and those of a workspace in which commands run."""

    def __init__(self, home: CommandHome, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home = home
        self.user = folder / "user"
        self.workspace = folder / "work"
        for place in (self.user, self.workspace):
            (place / ".claude").mkdir(parents=True)
        monkeypatch.setenv("HOME", str(self.user))
        monkeypatch.chdir(self.workspace)
        home.settings('[claude]\nsettings = ["user", "project"]\n')

    def write(self, place: Path, hooks: dict[str, Any]) -> str:
        file = place / ".claude" / "settings.json"
        file.write_text(json.dumps({"hooks": hooks}, indent=1))
        return str(file)

    def listed(self) -> list[dict[str, Any]]:
        return self.home.run("hooks", "list", "--output", "jsonl").records

    def trust(self, *options: str) -> Ran:
        return self.home.run("trust", str(self.workspace), *options)


def guard(command: str, **more: Any) -> dict[str, Any]:
    return {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": command, **more}]}]}


def test_hooks_are_listed_with_file_and_line(settings: Settings) -> None:
    file = settings.write(settings.user, guard("~/guard.py", timeout=5))

    first, second = settings.listed()

    assert {key: first[key] for key in ("event", "contract", "hook", "file", "line", "tier", "timeout_ms", "on_failure", "held_back")} == {
        "event": "PreToolUse",
        "contract": "claude-settings",
        "hook": "guard.py",
        "file": file,
        "line": 7,
        "tier": "config",
        "timeout_ms": 5000,
        "on_failure": "open",
        "held_back": None,
    }
    assert second["hook"] == "context of PreToolUse hooks"


def test_what_is_held_back_is_listed_as_such_until_it_is_trusted(settings: Settings) -> None:
    settings.write(settings.workspace, {"Stop": [{"hooks": [{"type": "command", "command": "./check.sh"}]}]})

    assert [record["held_back"] for record in settings.listed()] == ["it has not been trusted yet"]

    shown = settings.trust()
    assert shown.status == 1
    assert "    settings.json (" in shown.out
    assert "  Stop: ./check.sh\n" in shown.out
    assert settings.trust("--yes").status == 0
    assert [record["held_back"] for record in settings.listed()] == [None]
    assert settings.trust("--revoke").out == f"{settings.workspace} is not trusted any more.\n"
    assert [record["held_back"] for record in settings.listed()] == ["it has not been trusted yet"]


def test_settings_that_do_not_count_are_nothing_to_trust(settings: Settings) -> None:
    settings.write(settings.workspace, guard("true"))
    settings.home.settings("")

    assert settings.trust().out == f"{settings.workspace} has no .crucible/lua/init.lua: there is nothing to trust.\n"


def test_a_check_lists_what_is_not_supported(settings: Settings) -> None:
    hooks = {**guard("true"), "Notification": [{"hooks": []}]}
    hooks["PreToolUse"][0]["hooks"].append({"type": "prompt", "prompt": "ok?"})
    file = settings.write(settings.user, hooks)

    ran = settings.home.run("hooks", "check", "--output", "jsonl")

    assert ran.status == 0
    assert [(record["file"], record["place"], record["level"]) for record in ran.records] == [
        (file, "hooks.PreToolUse[0].hooks[1].type", "warning"),
        (file, "hooks.Notification", "warning"),
    ]
    assert all(record["message"] and record["remedy"] for record in ran.records)


def test_a_check_fails_for_a_file_that_is_broken(settings: Settings) -> None:
    (settings.user / ".claude" / "settings.json").write_text("{,}")

    ran = settings.home.run("hooks", "check")

    assert ran.status == 2
    assert "is not JSON, so it has no hooks now" in ran.out


def test_a_mode_may_name_such_a_hook(settings: Settings) -> None:
    settings.write(settings.user, guard("./guard.py"))
    settings.home.settings('[claude]\nsettings = ["user"]\n[hooks."guard.py"]\nmode = "report"\n')

    assert settings.home.found() == []
    assert settings.listed()[0]["mode"] == "report"


def test_a_hook_is_tried_out(settings: Settings) -> None:
    hooks = guard("cat > sent; echo no digging >&2; exit 2")
    hooks["PreToolUse"].append({"matcher": "Read", "hooks": [{"type": "command", "command": "true"}]})
    settings.write(settings.user, hooks)

    ran = settings.home.fire("PreToolUse", "--input", '{"command": "dig"}', "--workspace", str(settings.workspace), "--show-payload")

    assert (ran.outcome["status"], ran.outcome["reason"]) == ("blocked", "no digging")
    [call] = ran.calls
    sent = json.loads((settings.workspace / "sent").read_text())
    assert sent["transcript_path"].endswith("/sessions/dry-run.jsonl")
    assert json.loads(call["payload"]) == sent
    assert [(one["hook"], one["why"]) for one in ran.outcome["not_asked"]] == [("true", "it is not for this event")]


def test_what_a_hook_says_of_a_permission_is_shown(settings: Settings) -> None:
    answer = {"hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": "may I?"}
    settings.write(settings.user, guard(f"echo '{json.dumps({'hookSpecificOutput': answer})}'"))

    ran = settings.home.fire("PreToolUse", "--input", '{"command": "dig"}', "--workspace", str(settings.workspace))

    assert (ran.status, ran.outcome["status"]) == (0, "contributed")
    assert ran.outcome["contributions"] == [{"hook": "PreToolUse hooks", "decision": {"type": "ask", "reason": "may I?"}}]


def test_what_an_agent_runs_itself_is_not_found_wanting_there(settings: Settings) -> None:
    settings.write(settings.user, {"Stop": [{"hooks": [{"type": "command", "command": "./finished.sh"}]}]})

    for agent, told in (("opencode", True), ("claude-code", False)):
        ran = settings.home.run("hooks", "check", "--agent", agent)
        assert ("finished.sh" in ran.out) is told, ran.out


@pytest.mark.parametrize("sources", ['"user"', '["users"]', "[1]"])
def test_what_the_setting_may_say(settings: Settings, sources: str) -> None:
    settings.home.settings(f"[claude]\nsettings = {sources}\n")

    problem = settings.home.only_problem()

    assert problem["level"] == "error"
    assert problem["place"].startswith("claude.settings")
