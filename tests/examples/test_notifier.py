"""examples/notifier"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.examples.conftest import Place
from tests.support.processes import until
from treblehook import Home


async def test_turns_and_sessions_are_told(place: Callable[[str], Place], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notifier = place("notifier")
    notifier.plays({"text": "Under the third palm."})
    ring = tmp_path / "ring"
    ring.write_text(f'#!/bin/sh\ncat > {tmp_path}/"$1.event"\nmv {tmp_path}/"$1.event" {tmp_path}/"$1"\necho noise\nexit 1\n')
    ring.chmod(0o755)
    monkeypatch.setenv("NOTIFY", str(ring))
    arguments = dict(notifier.arguments)

    async with Home(arguments.pop("home")) as home:
        session = await home.session(**arguments)
        reply = await session.prompt("where?")
        await session.close()
        await until((tmp_path / "session_end").exists)

    assert reply.status == "finished"
    events = [json.loads(line) for line in (notifier.home / "notifications.jsonl").read_text().splitlines()]
    assert [event["type"] for event in events] == ["turn_ending", "session_end"]
    assert json.loads((tmp_path / "turn_ending").read_text())["reply"] == "Under the third palm."
    assert json.loads((tmp_path / "session_end").read_text())["turns"] == 1
