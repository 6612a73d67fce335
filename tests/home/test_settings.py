"""`config.toml`: what it sets, and how what is wrong with it is told."""

from pathlib import Path

import pytest

from treblehook.engine import Mode
from treblehook.home.settings import ModelSettings, Settings, load_settings
from treblehook.host.mcp.config import McpServerConfig
from treblehook.host.problems import ConfigInvalid, Problem

EVERYTHING = """
[model]
default = "anthropic:claude-x"
context_window = 200000
effort = "high"

[kilns]
notes = "/home/dev/notes"

[permissions]
allow = ["read", "bash(git status*)"]
ask = ["bash"]
deny = ["bash(sudo *)"]

[plugins.digest]
enabled = true
folder = "Daily"

[mcp.files]
command = ["npx", "files", ""]
env = { TOKEN = "x" }

[mcp.remote]
url = "https://example.com/mcp"
headers = { Authorization = "Bearer x" }

[hooks."lookout.py"]
mode = "report"

[hooks.guard]
mode = "off"

[hooks.plain]

[web]
port = 1

[[artifacts]]
name = "a"
version = 2026-01-01

[[artifacts]]
name = "b"
"""


def load(home: Path, text: str) -> Settings:
    (home / "config.toml").write_text(text)
    return load_settings(home)


def problems(home: Path, text: str) -> list[Problem]:
    with pytest.raises(ConfigInvalid) as caught:
        load(home, text)
    assert {problem.file for problem in caught.value.problems} == {str(home / "config.toml")}
    return list(caught.value.problems)


def problem(home: Path, text: str) -> Problem:
    (found,) = problems(home, text)
    assert found.level == "error"
    return found


def test_everything_is_read(tmp_path: Path) -> None:
    settings = load(tmp_path, EVERYTHING)

    assert settings.file == tmp_path / "config.toml"
    assert settings.model == ModelSettings("anthropic:claude-x", 200000, "high")
    assert settings.permissions.verdict("bash", "ls; sudo x", True).kind == "deny"
    assert settings.permissions.verdict("bash", "git status", True).kind == "ask"
    assert settings.permissions.verdict("read", "x", True).kind == "allow"
    assert settings.mcp == (
        McpServerConfig(name="files", command=("npx", "files", ""), env={"TOKEN": "x"}),
        McpServerConfig(name="remote", url="https://example.com/mcp", headers={"Authorization": "Bearer x"}),
    )
    assert settings.modes == {"lookout.py": Mode.REPORT, "guard": Mode.OFF, "plain": Mode.ON}
    assert settings.kilns == {"notes": Path("/home/dev/notes")}
    assert settings.plugins == {"digest": {"enabled": True, "folder": "Daily"}}
    assert settings.web == {"port": 1}
    assert [artifact["name"] for artifact in settings.artifacts] == ["a", "b"]
    assert settings.warnings == ()


@pytest.mark.parametrize("text", [None, "", "# nothing\n", "\ufeff[model]\n"])
def test_without_settings_nothing_is_set(tmp_path: Path, text: str | None) -> None:
    settings = load_settings(tmp_path) if text is None else load(tmp_path, text)

    assert settings.model == ModelSettings(None, None, None)
    assert settings.permissions.verdict("write", "x", True).kind == "ask"
    assert (settings.mcp, settings.modes, settings.plugins, settings.artifacts, settings.warnings) == ((), {}, {}, (), ())


@pytest.mark.parametrize(
    ("text", "place", "found", "allowed"),
    [
        ("model = 1", "model", "1", "a table"),
        ("[model]\ndefault = 5", "model.default", "5", "a text"),
        ('[model]\ndefault = " "', "model.default", "' '", "not empty"),
        ('[model]\ncontext_window = "big"', "model.context_window", "'big'", "a whole number of tokens"),
        ("[model]\ncontext_window = 0", "model.context_window", "0", "at least 1"),
        ("[model]\ncontext_window = true", "model.context_window", "true", "a whole number"),
        ("[model]\ncontext_window = 1.5", "model.context_window", "1.5", "a whole number"),
        ("[permissions]\nallow = 'read'", "permissions.allow", "'read'", "a list of rules"),
        ("[permissions]\nallow = ['read', 'bash(']", "permissions.allow[1]", "'bash('", "TOOL(glob"),
        ("[permissions]\ndeny = [1]", "permissions.deny[0]", "1", "TOOL(glob"),
        ("[mcp]\nfiles = 'x'", "mcp.files", "'x'", "a table"),
        ("[mcp.x]\ncommand = 'npx'", "mcp.x.command", "'npx'", "a list of texts"),
        ("[mcp.x]\ncommand = ['a', 1]", "mcp.x.command[1]", "1", "a text"),
        ("[mcp.x]\ncommand = ['']", "mcp.x.command[0]", "''", "a program"),
        ("[mcp.x]\ncommand = ['a']\nenv = {A = 1}", "mcp.x.env.A", "1", "a text"),
        ("[mcp.x]\nurl = 'https://x'\nheaders = {\"a b\" = []}", 'mcp.x.headers."a b"', "a list", "a text"),
        ("[mcp.x]", "mcp.x", "neither", "command"),
        ("[mcp.x]\ncommand = []", "mcp.x", "neither", "command"),
        ("[mcp.x]\ncommand = ['a']\nurl = 'https://x'", "mcp.x", "both", "exactly one"),
        ("[mcp.x]\nurl = 'ftp://x'", "mcp.x", "ftp://x", "http://"),
        ("[hooks]\nlookout = 'off'", "hooks.lookout", "'off'", "a table"),
        ("[hooks.lookout]\nmode = 'maybe'", "hooks.lookout.mode", "'maybe'", '"on", "report", "off"'),
        ("[hooks.lookout]\nmode = false", "hooks.lookout.mode", "false", '"off"'),
        ('[hooks."a b"]\nmode = 1', 'hooks."a b".mode', "1", '"on"'),
        ("[hooks.lookout.py]\nmode = 'off'", "hooks.lookout.py", "a table", "quoted"),
        ("kilns = []", "kilns", "a list", "a table"),
        ("[plugins]\ndigest = true", "plugins.digest", "true", "a table"),
        ("web = 'x'", "web", "'x'", "a table"),
        ("[artifacts]\nname = 'a'", "artifacts", "a table", "[[artifacts]]"),
        ("artifacts = [1]", "artifacts[0]", "1", "a table"),
    ],
)
def test_a_wrong_value_is_told_with_its_place(tmp_path: Path, text: str, place: str, found: str, allowed: str) -> None:
    told = problem(tmp_path, text)

    assert told.place == place
    assert found in f"{told.message} {told.remedy}"
    assert allowed in f"{told.message} {told.remedy}"


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    text = "[model]\ncontext_window = 0\ndefualt = 'x'\n[permissions]\nask = [1, 2]\n[hooks.a]\nmode = 1\n[mcp.x]\n[extra]\n"

    assert [(problem.place, problem.level) for problem in problems(tmp_path, text)] == [
        ("model.context_window", "error"),
        ("model.defualt", "warning"),
        ("permissions.ask[0]", "error"),
        ("permissions.ask[1]", "error"),
        ("mcp.x", "error"),
        ("hooks.a.mode", "error"),
        ("extra", "warning"),
    ]


@pytest.mark.parametrize(
    ("text", "place", "known"),
    [
        ("[permision]\n", "permision", "permissions?"),
        ("[model]\ncontext_windows = 1\n", "model.context_windows", "context_window?"),
        ("[permissions]\ndenny = []\n", "permissions.denny", "deny?"),
        ("[mcp.x]\nurl = 'https://x'\nheader = {}\n", "mcp.x.header", "headers?"),
        ("[hooks.x]\nmod = 'off'\n", "hooks.x.mod", "mode?"),
        ("[zzz]\n", "zzz", "known: artifacts, claude, enrichment, hooks, kilns, mcp, model, permissions, plugins, precognition, web"),
        ('"a.b" = 1\n', '"a.b"', "known: "),
    ],
)
def test_an_unknown_key_is_a_warning_with_the_nearest_known_one(tmp_path: Path, text: str, place: str, known: str) -> None:
    (warning,) = load(tmp_path, text).warnings

    assert (warning.file, warning.place, warning.level) == (str(tmp_path / "config.toml"), place, "warning")
    assert known in warning.remedy


def test_a_warning_takes_nothing_else_away(tmp_path: Path) -> None:
    settings = load(tmp_path, "[model]\ndefault = 'script:x'\nother = 1\n")

    assert settings.model.default == "script:x"
    assert len(settings.warnings) == 1


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[model]\ndefault = \n", "line 2, column 11"),
        ("[model\n", "line 1, column 7"),
        ("[model]\n[model]\n", "line 2, column 7"),
        ("[model]\na = '''", "end of document"),
    ],
)
def test_a_syntax_error_has_a_line_and_a_column(tmp_path: Path, text: str, place: str) -> None:
    found = problem(tmp_path, text)

    assert found.place == place
    assert found.message.startswith("no TOML: ")
    assert "(at " not in found.message


def test_bytes_that_are_no_text_are_told(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(b"[model]\n# caf\xe9\n")

    with pytest.raises(ConfigInvalid) as caught:
        load_settings(tmp_path)
    assert caught.value.problems[0].place == "line 2"


def test_a_file_nested_beyond_reason_is_told(tmp_path: Path) -> None:
    assert "nested" in problem(tmp_path, f"a = {'[' * 100_000}").message


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()

    with pytest.raises(ConfigInvalid) as caught:
        load_settings(tmp_path)
    assert caught.value.problems[0].message == "it cannot be read: Is a directory"


def test_a_link_that_leads_nowhere_is_not_taken_for_no_settings(tmp_path: Path) -> None:
    (tmp_path / "config.toml").symlink_to(tmp_path / "unmounted" / "config.toml")

    with pytest.raises(ConfigInvalid, match="leads nowhere"):
        load_settings(tmp_path)


def test_a_long_value_is_shown_short(tmp_path: Path) -> None:
    assert len(problem(tmp_path, f"[model]\ncontext_window = '{'x' * 1000}'").message) < 100
