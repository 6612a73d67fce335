"""Rows 13, 14 and 17 and the spill: what a call looks like, what surrounds it while it runs, and where a big result goes."""

import stat
from pathlib import Path
from typing import Any

from tests.support.call_rig import CallRig
from treblehook.engine import Tier
from treblehook.host.spill import LIMIT, limited
from treblehook.host.tool import ToolContext, ToolOutput
from treblehook.lifecycle import (
    BeforeExecute,
    Block,
    Display,
    Environment,
    PreToolCall,
    Replace,
    Rewrite,
    ToolFinished,
    ToolProposed,
    ToolRan,
    ToolShown,
    ToolStarted,
)


def gives(rig: CallRig, text: str) -> None:
    """Let the tool's result be `text`."""

    async def work(arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        return ToolOutput(text)

    rig.dig.work = work


async def test_what_hooks_add_to_the_environment_reaches_the_command(rig: CallRig) -> None:
    rig.on(BeforeExecute, Environment({"ISLAND": "Tortuga", "SHIP": "Hope"}))

    await rig.take("shell", command="ls")

    assert dict(rig.contexts[0].environment) == {"ISLAND": "Tortuga", "SHIP": "Hope"}
    assert (rig.contexts[0].workspace, rig.contexts[0].session, rig.contexts[0].call) == (Path("/ws"), "s1", "c1")


async def test_the_nearer_tier_wins_key_by_key_and_the_later_within_a_tier(rig: CallRig) -> None:
    rig.on(BeforeExecute, Environment({"FAR": "plugin", "BOTH": "plugin"}), tier=Tier.PLUGIN)
    rig.on(BeforeExecute, Environment({"BOTH": "session", "TWICE": "first"}), tier=Tier.SESSION)
    rig.on(BeforeExecute, Environment({"TWICE": "second"}), tier=Tier.SESSION)

    await rig.take("shell", command="ls")

    assert dict(rig.contexts[0].environment) == {"FAR": "plugin", "BOTH": "session", "TWICE": "second"}


async def test_cards_are_what_the_first_hook_makes_them(rig: CallRig) -> None:
    start, end = Display(label="Digging"), Display(summary="found it")
    rig.on(ToolStarted, start, tier=Tier.SESSION)
    rig.on(ToolStarted, Display(label="later"), tier=Tier.PLUGIN)
    rig.on(ToolShown, end)

    outcome = await rig.take("dig")

    ((_, _, started),) = rig.announced
    ((told, shown),) = rig.told
    assert (started, shown) == (start, end)
    assert told == outcome
    assert "found it" not in outcome.content


async def test_without_hooks_cards_are_plain(rig: CallRig) -> None:
    await rig.take("dig")

    assert [display for *_, display in rig.announced + rig.told] == [None, None]


async def test_a_call_that_did_not_run_has_a_plain_card(rig: CallRig) -> None:
    rig.on(ToolStarted, Display(label="Digging"))
    rig.on(ToolShown, Display(summary="found it"))
    rig.on(PreToolCall, Block("no"))

    await rig.take("dig")

    assert [display for *_, display in rig.announced + rig.told] == [None, None]


async def test_what_a_running_tool_says_is_told_at_once(rig: CallRig) -> None:
    async def work(arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        context.progress("knee-deep\n")
        assert rig.said == ["knee-deep\n"]
        return ToolOutput("done")

    rig.dig.work = work

    await rig.take("dig")

    assert rig.said == ["knee-deep\n"]


async def test_a_big_result_goes_to_a_file_after_hooks_have_seen_it_whole(rig: CallRig, tmp_path: Path) -> None:
    big = "gold\n" * LIMIT
    gives(rig, big)

    outcome = await rig.take("dig")

    for row in (ToolFinished, ToolRan, ToolShown):
        assert rig.event(row).content == big
    file = tmp_path / "results" / "c1.txt"
    assert file.read_text() == big
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert outcome.content.startswith(limited(big))
    assert str(file) in outcome.content
    assert rig.told[0][0].content == outcome.content


async def test_what_a_hook_makes_small_needs_no_file_and_what_it_makes_big_does(rig: CallRig, tmp_path: Path) -> None:
    gives(rig, "gold\n" * LIMIT)
    small = rig.on(ToolFinished, Rewrite(content="much gold"))
    assert (await rig.take("dig")).content == "much gold"
    assert not (tmp_path / "results").exists()

    rig.registry.remove(small)
    gives(rig, "little")
    rig.on(ToolFinished, Rewrite(content="silver\n" * LIMIT))

    assert (tmp_path / "results" / "c1.txt").name in (await rig.take("dig")).content
    assert (tmp_path / "results" / "c1.txt").read_text() == "silver\n" * LIMIT


async def test_a_big_replacement_goes_to_a_file_too(rig: CallRig, tmp_path: Path) -> None:
    rig.on(ToolProposed, Replace("x" * (LIMIT + 1)))

    outcome = await rig.take("dig")

    assert len(outcome.content) <= LIMIT
    assert (tmp_path / "results" / "c1.txt").read_text() == "x" * (LIMIT + 1)


async def test_a_result_of_exactly_the_limit_stays(rig: CallRig, tmp_path: Path) -> None:
    gives(rig, "x" * LIMIT)

    assert (await rig.take("dig")).content == "x" * LIMIT
    assert not (tmp_path / "results").exists()
