"""The file of a scripted model: what it may say, and how a mistake in it is told."""

import json
from pathlib import Path

import pytest

from treblehook.agent.models import ModelSpecInvalid, open_model

TURN_KEYS = "text, tools, repeat, usage, delay, status, error, capture, stop"


def problem(tmp_path: Path, content: object) -> str:
    """What is said of a file, without its name."""
    file = tmp_path / "script.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(ModelSpecInvalid) as caught:
        open_model(f"script:{file}", environ={})
    assert "\n" not in str(caught.value)
    assert caught.value.problem.startswith(f"{file}: ")
    return caught.value.problem.removeprefix(f"{file}: ")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ([{}, {"tools": [{"name": 3}]}], "turns[1].tools[0].name: Expected `str`, got `int`"),
        ({"turns": [{"tools": [{"args": {}}]}]}, "turns[0].tools[0]: Object missing required field `name`"),
        ([{"tools": [{"name": ""}]}], "turns[0].tools[0].name: Expected `str` of length >= 1"),
        ([{"tools": [{"name": "a", "args": []}]}], "turns[0].tools[0].args: Expected `object`, got `array`"),
        ([{"tools": [{"name": "a", "arg": {}}]}], "turns[0].tools[0]: Object contains unknown field `arg`; allowed: name, args, input"),
        ([{"tool": []}], f"turns[0]: Object contains unknown field `tool`; allowed: {TURN_KEYS}"),
        ({"after": {"txt": ""}}, f"after: Object contains unknown field `txt`; allowed: {TURN_KEYS}"),
        ({"aux": {"usage": {"in": 1}}}, "aux.usage: Object contains unknown field `in`; allowed: input, output"),
        ({"turn": []}, "Object contains unknown field `turn`; allowed: turns, routes, after, aux"),
        ([{"repeat": -1}], "turns[0].repeat: Expected `int` >= 0"),
        ([{"delay": "1"}], "turns[0].delay: Expected `float | null`, got `str`"),
        (
            {"routes": [{"match": "a", "where": "frist", "turns": []}]},
            "routes[0].where: Invalid enum value 'frist'; allowed: first, last, any, system",
        ),
        ({"routes": [{"turns": []}]}, "routes[0]: Object missing required field `match`"),
        ([{"stop": "late"}], "turns[0].stop: Invalid enum value 'late'; allowed: end_turn, tool_use, max_tokens, refusal"),
        (
            {"routes": [{"match": "a", "turns": [{}, {"capture": "(x"}]}]},
            "routes[0].turns[1].capture: '(x' is no regular expression: missing ), unterminated subpattern at position 0",
        ),
        ({"after": {"capture": "("}}, "after.capture: '(' is no regular expression: missing ), unterminated subpattern at position 0"),
        ('[{"text": "a"\n "tools": []}]', "line 2, column 2: is no JSON: Expecting ',' delimiter"),
        ("", "line 1, column 1: is no JSON: Expecting value"),
        ("7", "Expected `object`, got `int`"),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, content: object, says: str) -> None:
    assert problem(tmp_path, content) == says


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelSpecInvalid) as caught:
        open_model(f"script:{tmp_path}/none.json", environ={})

    assert caught.value.problem == f"{tmp_path}/none.json: cannot be read: No such file or directory"


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "script.json").write_bytes(b'["\xff"]')

    with pytest.raises(ModelSpecInvalid) as caught:
        open_model(f"script:{tmp_path}/script.json", environ={})

    assert caught.value.problem == f"{tmp_path}/script.json: byte 2: is no UTF-8"


def test_a_file_beside_the_process_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "script.json").write_text("[]")
    monkeypatch.chdir(tmp_path)

    assert open_model("script:script.json", environ={}).spec == "script:script.json"


def test_everything_that_a_script_may_say_is_accepted(tmp_path: Path) -> None:
    turn = {
        "text": None,
        "tools": None,
        "repeat": 2,
        "usage": None,
        "delay": 1,
        "status": 529,
        "error": "overloaded",
        "capture": "(a)",
        "stop": "end_turn",
    }
    call = {"name": "Bash|bash", "args": {"command": "ls"}, "input": "free form"}
    script = {
        "turns": [turn, {"tools": [call]}],
        "routes": [{"match": "x", "where": "system", "turns": []}],
        "after": {"usage": {"input": 1}},
        "aux": None,
    }
    (tmp_path / "script.json").write_text(json.dumps(script))

    assert open_model(f"script:{tmp_path}/script.json", environ={})
