"""`treblehook hooks list`, `check` and `fire` with Lua hooks."""

import json
import os
from pathlib import Path

import pytest

from tests.support.command_home import CommandHome, Ran

GUARD = """
cru.on("pre_tool_call", { pattern = "bash", priority = 5 }, function(ctx, event)
  if event.args.command:find("rm %-rf") then
    return { cancel = true, reason = "Leave the treasure where it is." }
  end
end)
cru.on("turn:complete", function() error("overboard") end)
"""


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the command runs."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def plugin(home: CommandHome, code: str = GUARD, name: str = "digest") -> Path:
    file = home.folder / "plugins" / name / "init.lua"
    file.parent.mkdir(parents=True)
    file.write_text(code)
    return file


def user(home: CommandHome, code: str) -> Path:
    file = home.folder / "init.lua"
    file.write_text(code)
    return file


def of_workspace(workspace: Path, code: str) -> Path:
    file = workspace / ".crucible" / "lua" / "init.lua"
    file.parent.mkdir(parents=True)
    file.write_text(code)
    return file


def trusted(home: CommandHome) -> None:
    ran = home.run("trust", "--yes")
    assert ran.status == 0, ran.err


class TestList:
    def test_handlers_stand_as_they_would_run_with_file_and_line(self, home: CommandHome, workspace: Path) -> None:
        file = plugin(home)
        mine = user(home, "cru.on('pre_tool_call', function() end)")
        theirs = of_workspace(workspace, "\ncru.on('pre_tool_call', {priority = 1}, function() end)")
        trusted(home)

        ran = home.run("hooks", "list", "--output", "jsonl")

        found = [(r["event"], r["hook"], r["tier"], r["priority"], r["pattern"], r["file"], r["line"]) for r in ran.records]
        assert found == [
            ("pre_tool_call", "workspace init.lua", "session", 1, None, str(theirs), 2),
            ("pre_tool_call", "init.lua", "session", 100, None, str(mine), 1),
            ("pre_tool_call", "digest", "plugin", 5, "bash", str(file), 2),
            ("pre_tool_call", "init.lua", "plugin", 100, None, str(mine), 1),
            ("turn:complete", "digest", "plugin", 100, None, str(file), 7),
        ]
        assert {(r["contract"], r["lane"], r["mode"], r["held_back"]) for r in ran.records} == {("crucible", "crucible", "on", None)}
        assert [r["on_failure"] for r in ran.records] == ["closed"] * 4 + ["open"]
        assert {r["timeout_ms"] for r in ran.records} == {30_000}

    def test_what_is_not_trusted_is_not_run_and_said_once(self, home: CommandHome, workspace: Path) -> None:
        of_workspace(workspace, "local f = io.open('canary', 'w') f:close()")

        ran = home.run("hooks", "list")

        assert ran.status == 0
        assert not (workspace / "canary").exists()
        assert ran.err.count("held back") == 1

    def test_lifecycle_and_permission_hooks_are_listed(self, home: CommandHome) -> None:
        plugin(home, "cru.on_session_start(function() end, {required = true}) cru.on_session_end(function() end)")
        user(home, "if cru.vm == 'session' then cru.permissions.on_request(function() end) end")

        found = [(r["event"], r["on_failure"], r["timeout_ms"]) for r in home.run("hooks", "list", "--output", "jsonl").records]

        assert found == [
            ("on_session_start", "closed", 120_000),
            ("permissions.on_request", "open", 1000),
            ("on_session_end", "open", 120_000),
        ]

    def test_modes_are_shown(self, home: CommandHome) -> None:
        plugin(home)
        home.settings('[hooks."digest"]\nmode = "report"\n')
        assert {r["mode"] for r in home.run("hooks", "list", "--output", "jsonl").records} == {"report"}


class TestCheck:
    @pytest.mark.parametrize(
        ("code", "words"),
        [
            ("cru.on('pre_toolcall', function() end)", ("pre_toolcall", "pre_tool_call", "init.lua:1")),
            ("\n\nif", ("init.lua:3",)),
            ("error({})", ("init.lua",)),
            ("while true do end", ("init.lua", "computed longer")),
        ],
    )
    @pytest.mark.parametrize("place", ["user", "plugin", "workspace"])
    def test_what_does_not_load_is_an_error_with_its_place(
        self, home: CommandHome, workspace: Path, place: str, code: str, words: tuple[str, ...]
    ) -> None:
        if place == "plugin":
            file = plugin(home, code)
        elif place == "user":
            file = user(home, "if cru.vm == 'session' then return end " + code)
        else:
            file = of_workspace(workspace, code)
            trusted(home)

        ran = home.run("hooks", "check", "--output", "jsonl")

        assert ran.status == 2
        (problem,) = ran.records
        assert (problem["file"], problem["level"]) == (str(file), "error")
        for word in words:
            assert word in problem["message"]

    def test_what_can_never_fire_is_a_warning(self, home: CommandHome) -> None:
        plugin(home, "cru.on('pre_llm_call', {pattern = '*'}, function() end)\ncru.on('tool_result', {pattern = '[a'}, function() end)")
        ran = home.run("hooks", "check", "--output", "jsonl")
        assert ran.status == 0
        assert [(r["level"], r["place"]) for r in ran.records] == [("warning", "line 1"), ("warning", "line 2")]

    def test_a_mode_for_a_name_without_hooks_is_told_which_there_are(self, home: CommandHome) -> None:
        plugin(home)
        plugin(home, "", "silent")
        home.settings(
            '[hooks."digst"]\nmode = "off"\n[hooks."zzz"]\nmode = "off"\n[hooks."silent"]\nmode = "off"\n[hooks."init.lua"]\nmode = "off"\n'
        )
        found = {r["place"]: r["remedy"] for r in home.found()}
        assert found == {
            'hooks."digst"': "did you mean digest?",
            'hooks."zzz"': "hooks here: digest",
            'hooks."init.lua"': "hooks here: digest",
        }

    @pytest.mark.parametrize("name", ["digest", "init.lua", "workspace init.lua"])
    def test_a_mode_for_lua_that_is_there_or_may_come_with_a_workspace_is_fine(self, home: CommandHome, name: str) -> None:
        plugin(home)
        user(home, "")
        home.settings(f'[hooks."{name}"]\nmode = "report"\n')
        assert home.found() == []

    def test_a_check_runs_no_handler_and_writes_nothing(self, home: CommandHome) -> None:
        plugin(home, "cru.on('pre_tool_call', function() error('never') end) cru.log('info', 'hello')")
        before = home.everything()
        assert home.run("hooks", "check").status == 0
        assert home.everything() == before

    def test_settings_for_no_plugin_are_a_warning(self, home: CommandHome) -> None:
        plugin(home)
        home.settings("[plugins.digset]\nfolder = 'x'\n")
        problem = home.only_problem()
        assert (problem["place"], problem["level"]) == ("plugins.digset", "warning")
        assert "digest" in problem["message"]


class TestFire:
    def fired(self, home: CommandHome, *arguments: str) -> Ran:
        plugin(home)
        return home.fire(*arguments)

    def test_a_cancel_blocks(self, home: CommandHome) -> None:
        ran = self.fired(home, "pre_tool_call", "--tool", "bash", "--input", '{"command": "rm -rf chest"}')
        assert ran.status == 3
        (call,) = ran.calls
        assert (call["event"], call["contract"], call["hook"], call["ended"]) == ("pre_tool_call", "crucible", "digest", "answered")
        assert "Leave the treasure" in ran.outcome["reason"]

    def test_a_pass_passes(self, home: CommandHome) -> None:
        ran = self.fired(home, "pre_tool_call", "--tool", "bash", "--input", '{"command": "ls"}')
        assert (ran.status, ran.outcome["status"], ran.calls[0]["ended"]) == (0, "passed", "passed")

    def test_a_pattern_that_does_not_match_is_said(self, home: CommandHome) -> None:
        ran = self.fired(home, "pre_tool_call", "--tool", "read", "--input", '{"path": "x"}')
        assert ran.calls == []
        assert [one["hook"] for one in ran.outcome["not_asked"]] == ["digest"]

    def test_a_failure_is_told_with_file_and_line(self, home: CommandHome) -> None:
        ran = self.fired(home, "turn:complete")
        assert ran.status == 0
        assert ran.calls[0]["ended"] == "failed"
        assert "init.lua:7: overboard" in ran.calls[0]["error"]

    def test_the_payload_is_the_event_as_the_handler_has_it(self, home: CommandHome) -> None:
        ran = self.fired(home, "pre_tool_call", "--tool", "bash", "--input", '{"command": "ls"}', "--show-payload")
        payload = ran.calls[0]["payload"]
        assert (json.loads(payload) if isinstance(payload, str) else payload) == {
            "type": "pre_tool_call",
            "tool": "bash",
            "args": {"command": "ls"},
        }

    @pytest.mark.parametrize(
        "name",
        [
            *("pre_tool_call", "tool_result", "pre_llm_call", "post_llm_call", "transform_context", "precognition_select"),
            *("precognition_format", "turn:complete", "tool:before_execute", "tool:display_start", "tool:display_complete"),
            *("FileChanged", "FileDeleted", "FileMoved", "note:created", "note:modified", "note:deleted", "note:renamed"),
            *("webhook:received", "on_session_start", "on_session_end"),
        ],
    )
    def test_every_name_can_be_fired(self, home: CommandHome, name: str) -> None:
        register = (
            f"cru.{name}(function(session) assert(session.id) end)"
            if name.startswith("on_")
            else (f"cru.on('{name}', function(ctx, event) assert(event.type == '{name}') end)")
        )
        plugin(home, register)
        ran = home.fire(name)
        assert [(call["event"], call["ended"]) for call in ran.calls] == [(name, "passed")], ran

    def test_a_required_start_hook_refuses(self, home: CommandHome) -> None:
        plugin(home, "cru.on_session_start(function() error('no container') end, {required = true})")
        ran = home.fire("on_session_start")
        assert ran.status == 4
        assert "no container" in ran.outcome["reason"]

    def test_untrusted_code_is_not_fired_at(self, home: CommandHome, workspace: Path) -> None:
        of_workspace(workspace, "cru.on('pre_tool_call', function() return {cancel = true} end)")
        ran = home.fire("pre_tool_call")
        assert (ran.status, ran.calls) == (0, [])
        assert "held back" in ran.err
        trusted(home)
        assert home.fire("pre_tool_call").status == 3


def test_doctor_tells_how_plugins_are(home: CommandHome) -> None:
    plugin(home)
    plugin(home, "no lua", "broken")
    ran = home.run("doctor")
    assert "plugin digest: loaded, 2 handlers" in ran.out
    assert "plugin broken" in ran.out
    assert ran.status != 0


def test_a_home_is_found_by_its_variable_too(home: CommandHome) -> None:
    plugin(home)
    ran = home.bare_run("hooks", "list", "--output", "jsonl", environment={"TREBLEHOOK_HOME": os.fspath(home.folder)})
    assert len(ran.records) == 2
