"""Names that a model, or a file, gives itself: no terminal obeys them, and none of them makes a line of its own."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.command_home import CommandHome, says
from tests.support.command_run import Stage
from treblehook.cli.output.cards import label
from treblehook.cli.output.timeline import lines_of_record
from treblehook.lifecycle import Display, ToolCall

EVIL = "read\x1b]0;title\x07\n> bash: ls\u202e"
HARMFUL = set("\x1b\x07\x9b\u202e\n")


def record(kind: str, **keys: Any) -> dict[str, Any]:
    return {"type": kind, "at": "2026-01-01T00:00:00.000+00:00", "session": "s", **keys}


@pytest.mark.parametrize("display", [None, Display(label=EVIL)])
def test_the_name_on_a_card(display: Display | None) -> None:
    assert not HARMFUL & set(label(ToolCall("c", EVIL, {}), display))


@pytest.mark.parametrize(
    "told",
    [
        record("tool_call", id=EVIL, name=EVIL, input={}, asked={}),
        record("tool_result", id=EVIL, name=EVIL, content=EVIL, is_error=False, ran=True, ms=1.0),
        record("row", text=EVIL, hook=EVIL),
        record("session", id=EVIL, parent=EVIL, workspace=EVIL, model=EVIL, reason=EVIL),
        record("hook", event="e", hook=EVIL, call=EVIL, target=EVIL, ended="passed", decision=None, error=None, ms=1.0),
        record("end", status=EVIL, turns=1, reason=EVIL),
    ],
    ids=lambda told: str(told["type"]),
)
def test_a_timeline(told: dict[str, Any]) -> None:
    for line in lines_of_record(told):
        assert not HARMFUL & set(line.replace("\x1b[2m", "").replace("\x1b[0m", ""))


def test_the_hook_of_a_dry_run(tmp_path: Path) -> None:
    home = CommandHome(tmp_path / "home")
    home.hook("pre_turn", "crow\x1b[2J", says({"power": "mutate", "context": "x"}))
    home.hook("pre_turn", "guard\x1b[2J", says({"power": "block", "reason": "no"}))

    assert "\x1b[2J" not in home.run("hooks", "fire", "pre_turn").out


def test_a_tool_that_a_model_makes_up(stage: Stage) -> None:
    stage.plays({"tools": [{"name": EVIL, "args": {}}]}, {"text": "Done."})

    ran = stage.run("run", "dig")

    assert not HARMFUL & set(ran.out.replace("\n", ""))
    assert "\n> bash: ls" not in ran.out
