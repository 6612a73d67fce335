"""Which hooks a session has when config.json is edited, and limits that are checked as it starts (vera.md 2.3, 2.4; cases 18, 20, 26)."""

import json

import pytest

from tests.support.nest import Nest
from treblehook.host.problems import ConfigInvalid


async def test_case_026_a_broken_edit_leaves_everybody_the_hooks_of_before(nest: Nest) -> None:
    nest.recorder("pre_turn")
    session = await nest.open()
    nest.config.write_text('{"hooks": [')

    await session.prompt("one")
    new = await nest.open()
    await new.prompt("two")

    assert [payload["prompt"] for payload in nest.sent("pre_turn")] == ["one", "two"]
    assert [problem.file for problem in nest.home.problems] == [str(nest.config)]


async def test_a_session_keeps_the_hooks_that_it_started_with_and_so_do_its_subagents(nest: Nest) -> None:
    nest.recorder("pre_turn", "old")
    nest.plays({"tools": [{"name": "agent", "args": {"task": "dig"}}]}, routes=[{"match": "dig", "turns": [{"text": "Dug."}]}])
    session = await nest.open()
    nest.entries.clear()
    nest.recorder("pre_turn", "new")

    await session.prompt("one")
    await (await nest.open()).prompt("two")

    assert [payload["prompt"] for payload in nest.sent("old")] == ["one", "dig"]
    assert [payload["prompt"] for payload in nest.sent("new")] == ["two", "dig"]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"timeout_ms": 30_001}, ("hooks[1].timeout_ms", "30001", "30000")),
        ({"argv": ["watch", *"abcdefghijklmnop"]}, ("hooks[1].argv", "17", "16")),
        ({"argv": ["watch", "x" * 8192]}, ("hooks[1].argv", "8192")),
    ],
)
async def test_case_018_and_020_an_entry_over_a_limit_fails_the_session(
    nest: Nest, entry: dict[str, object], words: tuple[str, ...]
) -> None:
    """Whatever its phase; nothing is started, and no session file is left."""
    nest.recorder("session_start")
    nest.recorder("session_end", "watch", **entry)

    with pytest.raises(ConfigInvalid) as caught:
        await nest.open()

    assert all(word in str(caught.value) for word in words)
    assert nest.sent("session_start") == []
    assert not (nest.folder / "sessions").exists()


async def test_an_edit_over_a_limit_fails_new_sessions_only(nest: Nest) -> None:
    nest.recorder("pre_turn")
    session = await nest.open()
    nest.entries[0]["timeout_ms"] = 40_000
    nest.config.write_text(json.dumps({"hooks": nest.entries}))

    with pytest.raises(ConfigInvalid):
        await nest.open()
    assert (await session.prompt("one")).status == "finished"
    assert len(nest.sent("pre_turn")) == 1


async def test_a_session_that_starts_no_hooks_does_not_mind_their_limits(nest: Nest) -> None:
    nest.recorder("pre_turn", timeout_ms=30_001)

    session = await nest.open(profile="bare")

    assert (await session.prompt("one")).status == "finished"
