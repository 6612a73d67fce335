"""A home that is open while its config.json is broken, taken away and put back."""

import json
import os
from pathlib import Path

from treblehook.home.home import Home

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
