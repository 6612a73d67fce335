"""A home that is open while its configuration is edited, broken, taken away and put back."""

import json
import os
from pathlib import Path

from treblehook.engine import Mode
from treblehook.home.home import Home
from treblehook.home.outside import OutsideWish, open_outside

GUARD = json.dumps({"hooks": [{"phase": "pre_tool_use", "argv": ["guard"]}]})


async def test_hooks_outlive_a_file_that_is_broken_or_gone(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text(GUARD)
    async with Home(tmp_path, os.environ) as home:
        config.write_text("")
        assert [entry.name for entry in home.vera().hooks] == ["guard"]

        config.unlink()
        assert [entry.name for entry in home.vera().hooks] == ["guard"]
        assert [problem.message for problem in home.problems if problem.level == "warning"] == [
            "it is gone; its hooks stay in force until a restart"
        ]

        config.write_text(GUARD.replace("guard", "lookout"))
        assert [entry.name for entry in home.vera().hooks] == ["lookout"]


async def test_a_link_that_leads_nowhere_any_more_takes_no_hooks_away(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.json"
    elsewhere.write_text(GUARD)
    (tmp_path / "config.json").symlink_to(elsewhere)
    async with Home(tmp_path, os.environ) as home:
        elsewhere.unlink()

        assert [entry.name for entry in home.vera().hooks] == ["guard"]


async def test_rules_and_modes_that_are_edited_hold_from_the_next_session_on(tmp_path: Path) -> None:
    settings = tmp_path / "config.toml"
    async with Home(tmp_path, os.environ) as home:
        assert not home.settings.permissions.guards
        settings.write_text('[permissions]\ndeny = ["bash"]\n[hooks."guard"]\nmode = "off"\n')
        session = await open_outside(home, OutsideWish("claude-code", tmp_path))
        await session.close()
        assert home.settings.permissions.guards
        assert home.settings.modes == {"guard": Mode.OFF}
        assert home.problems == []
        assert not home.outdated


async def test_rules_outlive_a_file_that_is_broken_or_gone(tmp_path: Path) -> None:
    settings = tmp_path / "config.toml"
    settings.write_text('[permissions]\ndeny = ["bash"]\n')
    async with Home(tmp_path, os.environ) as home:
        settings.write_text("[permissions")
        home.reread()
        assert home.settings.permissions.guards
        assert "no TOML" in home.problems[0].message

        settings.unlink()
        home.reread()
        home.reread()
        assert home.settings.permissions.guards
        assert [problem.message for problem in home.problems[1:]] == ["it is gone; what it said stays in force until a restart"]

        settings.write_text("[permissions]\ndeny = []\n")
        home.reread()
        assert not home.settings.permissions.guards


async def test_what_the_home_has_started_stays_and_that_is_said(tmp_path: Path) -> None:
    settings = tmp_path / "config.toml"
    settings.write_text("[web]\nport = 4000\n")
    async with Home(tmp_path, os.environ) as home:
        settings.write_text('[web]\nport = 5000\n[[artifacts]]\nname = "policy"\nruntime = "hook"\nsource = "policy"\n')
        home.reread()
        assert home.settings.web == {"port": 4000}
        assert [(problem.place, problem.level) for problem in home.problems] == [("web", "warning"), ("artifacts", "warning")]
        assert home.outdated
