"""Which settings files count in a session of a home, and when those of a workspace do."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from treblehook.engine import Handler
from treblehook.gateway.lines import ClientPlace, command_line, http_url
from treblehook.home.handlers import session_registry
from treblehook.home.home import Home
from treblehook.home.trust import HeldBack, WorkspaceSettings, read_settings, trusted_settings, trusted_workspace

STOP = {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}


class Place:
    """A user's folder with a home and a workspace in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / ".treblehook"
        self.workspace = folder / "work"
        self.workspace.mkdir()
        self.path.mkdir()
        self.homes: list[Home] = []

    def settings(self, text: str) -> None:
        (self.path / "config.toml").write_text(f"[claude]\nsettings = {text}\n")

    def write(self, place: str, name: str, command: str = "true", **more: Any) -> Path:
        file = self.folder / place / ".claude" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        hooks = {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}
        file.write_text(json.dumps({"hooks": hooks, **more}))
        return file

    def open(self, **environ: str) -> Home:
        home = Home(self.path, {"HOME": str(self.folder), **environ})
        self.homes.append(home)
        return home

    async def bound(self, home: Home, **options: Any) -> list[Handler]:
        settings = home.claude.session(**{"workspace": self.workspace, **options})
        registry = await session_registry(home, spawned=False, claude=settings)
        return [handler for handler in registry.handlers() if handler.origin.contract == "claude-settings"]

    async def files(self, **options: Any) -> list[str]:
        """The files of the hooks of a session."""
        return [handler.origin.file.removeprefix(f"{self.folder}/") for handler in await self.bound(self.open(), **options)]


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    place = Place(tmp_path)
    yield place
    for home in place.homes:
        await home.close()


@pytest.fixture
def all_three(place: Place) -> Place:
    place.write(".", "settings.json", "user")
    place.write("work", "settings.json", "project")
    place.write("work", "settings.local.json", "local")
    return place


async def test_nothing_counts_unless_it_is_asked_for(all_three: Place) -> None:
    assert await all_three.files() == []


@pytest.mark.parametrize(
    ("sources", "files"),
    [
        ("[]", []),
        ('["user"]', [".claude/settings.json"]),
        ('["project"]', ["work/.claude/settings.json", "work/.claude/settings.local.json"]),
        ('["project", "user"]', [".claude/settings.json", "work/.claude/settings.json", "work/.claude/settings.local.json"]),
    ],
)
async def test_the_files_that_count(all_three: Place, sources: str, files: list[str]) -> None:
    all_three.settings(sources)

    assert await all_three.files(trust=True) == files


@pytest.mark.parametrize(
    ("elsewhere", "files"),
    [
        (["user", "project"], []),
        (["project"], [".claude/settings.json"]),
        (["user"], ["work/.claude/settings.json", "work/.claude/settings.local.json"]),
    ],
)
async def test_what_an_agent_runs_itself_is_left_to_it(all_three: Place, elsewhere: list[str], files: list[str]) -> None:
    all_three.settings('["user", "project"]')

    assert await all_three.files(trust=True, elsewhere=elsewhere) == files


async def test_what_is_left_to_an_agent_is_not_held_back(all_three: Place) -> None:
    all_three.settings('["user", "project"]')
    home = all_three.open()

    await all_three.bound(home, elsewhere=["project"])

    assert home.problems == []


@pytest.mark.parametrize(("seconds", "limit"), [(90.0, 90.0), (None, 600.0), (1000.0, 600.0)])
async def test_an_agent_that_does_not_wait_long_sets_the_limit(place: Place, seconds: float | None, limit: float) -> None:
    place.settings('["user"]')
    place.write(".", "settings.json")

    [handler] = await place.bound(place.open(), seconds=seconds)

    assert handler.timeout == limit


@pytest.mark.parametrize("curl", [None, "/usr/bin/curl"])
@pytest.mark.parametrize("closed", [True, False])
async def test_entries_that_ask_us_are_left_out(place: Place, curl: str | None, closed: bool) -> None:
    place.settings('["user", "project"]')
    where = ClientPlace(place.path, place.path / "gateway.sock", curl)
    for event in ("PreToolUse", "Stop"):
        place.write(".", "settings.json", command_line("claude-code", event, where, closed=closed))
        place.write("work", "settings.json", f"treblehook hook claude-code --event {event}")
        assert await place.files(trust=True) == []


async def test_entries_that_ask_us_over_http_are_left_out(place: Place) -> None:
    place.settings('["user"]')
    entries = [
        {"type": "http", "url": http_url("claude-code", "Stop", "http://127.0.0.1:7070")},
        {"type": "http", "url": "http://a/hooks/x"},
    ]
    place.write(".", "settings.json", hooks={"Stop": [{"hooks": entries}]})

    [handler] = await place.bound(place.open())

    assert handler.name == "a/hooks/x"


async def test_without_a_workspace_the_users_count(all_three: Place) -> None:
    all_three.settings('["user", "project"]')

    assert await all_three.files(workspace=None) == [".claude/settings.json"]


async def test_the_folder_of_the_user_may_be_named(place: Place) -> None:
    place.settings('["user"]')
    place.write("elsewhere", "settings.json")
    home = place.open(CLAUDE_CONFIG_DIR=str(place.folder / "elsewhere" / ".claude"))

    [handler] = await place.bound(home)

    assert handler.origin.file == str(place.folder / "elsewhere/.claude/settings.json")


async def test_a_users_folder_that_is_the_workspace_needs_no_trust(place: Place) -> None:
    place.settings('["user", "project"]')
    place.write(".", "settings.json")
    home = place.open()

    assert len(await place.bound(home, workspace=place.folder)) == 1
    assert home.problems == []


async def test_a_workspace_is_held_back_until_it_is_trusted_and_that_is_said(all_three: Place) -> None:
    all_three.settings('["user", "project"]')
    home = all_three.open()

    assert len(await all_three.bound(home)) == 1
    [problem] = home.problems
    assert (problem.file, problem.level) == (str(all_three.workspace / ".claude"), "warning")
    assert problem.message == "held back, it does not run: it has not been trusted yet"
    assert problem.remedy.endswith(f"treblehook trust {all_three.workspace} --home {all_three.path}")

    assert len(await all_three.bound(home, trust=True)) == 3
    assert len(await all_three.bound(home)) == 3


async def test_a_held_back_file_disables_nothing(place: Place) -> None:
    place.settings('["user", "project"]')
    place.write(".", "settings.json", "user")
    place.write("work", "settings.json", disableAllHooks=True)
    home = place.open()

    assert len(await place.bound(home)) == 1
    assert await place.bound(home, trust=True) == []


async def test_a_broken_file_is_told_and_opens(all_three: Place) -> None:
    all_three.settings('["user"]')
    file = all_three.folder / ".claude" / "settings.json"
    file.write_text('{"hooks": {},}')
    home = all_three.open()

    assert await all_three.bound(home) == []
    assert [(problem.file, problem.level) for problem in home.problems] == [(str(file), "error")]


@pytest.mark.parametrize("obstacle", ["folder", "link"])
async def test_a_file_that_cannot_be_read_is_told(place: Place, obstacle: str) -> None:
    place.settings('["user"]')
    file = place.folder / ".claude" / "settings.json"
    file.parent.mkdir()
    if obstacle == "folder":
        file.mkdir()
    else:
        file.symlink_to("nowhere")
    home = place.open()

    assert await place.bound(home) == []
    [problem] = home.problems
    assert problem.message.endswith(": it has no hooks now")


async def test_what_is_not_known_here_is_not_said_at_every_start(place: Place) -> None:
    place.settings('["user"]')
    place.write(".", "settings.json", hooks={"Notification": [], **STOP})
    home = place.open()

    assert len(await place.bound(home)) == 1
    assert home.problems == []


# What trust covers


def trusted(place: Place) -> bool:
    found = trusted_settings(place.path, place.workspace, trust_now=False)
    assert isinstance(found, WorkspaceSettings | HeldBack)
    return isinstance(found, WorkspaceSettings)


@pytest.mark.parametrize("change", ["command", "local", "script", "new script", "disable", "broken"])
def test_a_change_takes_the_trust_back(place: Place, change: str) -> None:
    file = place.write("work", "settings.json")
    script = file.parent / "hooks" / "guard.sh"
    script.parent.mkdir()
    script.write_text("exit 0")
    assert isinstance(trusted_settings(place.path, place.workspace, trust_now=True), WorkspaceSettings)
    assert trusted(place)

    match change:
        case "command":
            place.write("work", "settings.json", "false")
        case "local":
            place.write("work", "settings.local.json")
        case "script":
            script.write_text("exit 2")
        case "new script":
            (script.parent / "more.sh").touch()
        case "disable":
            place.write("work", "settings.json", disableAllHooks=False)
        case "broken":
            file.write_text("{")

    assert not trusted(place)


def test_other_settings_may_change(place: Place) -> None:
    """Claude Code writes down each permission that it is given."""
    place.write("work", "settings.json")
    trusted_settings(place.path, place.workspace, trust_now=True)

    place.write("work", "settings.json", permissions={"allow": ["Bash"]})
    (place.workspace / ".claude" / "settings.local.json").write_text('{"permissions": {"allow": ["Read"]}, "hooks": {}}')

    assert trusted(place)


def test_a_script_that_leads_out_can_not_be_trusted(place: Place) -> None:
    file = place.write("work", "settings.json")
    (file.parent / "hooks").mkdir()
    (file.parent / "hooks" / "x").symlink_to("/etc/passwd")

    found = trusted_settings(place.path, place.workspace, trust_now=True)

    assert isinstance(found, HeldBack)
    assert "is a link to /etc/passwd" in found.why


def test_a_workspace_without_hooks_has_nothing_to_trust(place: Place) -> None:
    (place.workspace / ".claude").mkdir()
    (place.workspace / ".claude" / "settings.json").write_text('{"permissions": {}}')

    assert read_settings(place.workspace) is None


def test_lua_and_settings_are_trusted_each_for_itself(place: Place) -> None:
    place.write("work", "settings.json")
    (place.workspace / ".crucible" / "lua").mkdir(parents=True)
    (place.workspace / ".crucible" / "lua" / "init.lua").write_text("return 1")
    trusted_settings(place.path, place.workspace, trust_now=True)

    lua = trusted_workspace(place.path, place.workspace, trust_now=False)

    assert isinstance(lua, HeldBack)
    assert lua.why == "it has not been trusted yet"
    assert trusted(place)
