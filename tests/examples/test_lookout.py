"""examples/lookout and examples/lookout_py: the same extension in two languages."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.examples.conftest import EXAMPLES
from tests.support.needs import needs
from tests.support.program import Program, of
from treblehook import Reply, run

IDS = {"lookout": "example.lookout", "lookout_py": "example.lookout-py"}
both = pytest.mark.parametrize("example", [pytest.param("lookout", marks=needs("node")), "lookout_py"])


def played(folder: Path, example: str, config: Any = None) -> Reply:
    """A session about the treasure, whose model says done before it has drawn a map."""
    program = Program(folder)
    entry = {"path": str(EXAMPLES / example)} | ({} if config is None else {"config": config})
    program.files.config.write_text(json.dumps({"extensions": [entry]}))
    program.plays({"text": "Done."}, {"text": "Done, and here is the map."})
    return run("Where is the TREASURE?", **program.places)


def rows(reply: Reply) -> list[str]:
    return [record["text"] for record in of(reply, "row")]


@both
def test_it_adds_context_and_sends_the_model_back_once(tmp_path: Path, example: str) -> None:
    reply = played(tmp_path, example)

    assert reply.text == "Done, and here is the map."
    assert rows(reply) == [f"{IDS[example]} added context", f"{IDS[example]} continued the turn"]


@both
def test_its_rows_are_configured(tmp_path: Path, example: str) -> None:
    reply = played(tmp_path, example, {"rows": {"spotted": "Land ho", "nudge": "Keep digging"}})

    assert rows(reply) == [f"Land ho · {IDS[example]}", f"Keep digging · {IDS[example]}"]


@both
def test_other_talk_is_left_alone(tmp_path: Path, example: str) -> None:
    program = Program(tmp_path)
    program.files.config.write_text(json.dumps({"extensions": [{"path": str(EXAMPLES / example)}]}))
    program.plays({"text": "The tide is low at noon."})

    reply = run("When is the tide low?", **program.places)

    assert (reply.text, rows(reply)) == ("The tide is low at noon.", [])
