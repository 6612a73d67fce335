"""crucible's rows of a tool call (crucible.md 2.6 to 3.2), played by stub handlers bound as that contract binds its own."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.contract_stubs import fired, lua
from tests.support.hooks import CALL, Rig, after
from tests.support.virtual import virtual
from treblehook.engine import Ended, Tier
from treblehook.lifecycle import (
    AddContext,
    Block,
    ContextAssembled,
    Event,
    FileChanged,
    FileDeleted,
    FileMoved,
    ModelRequest,
    ModelResponse,
    NoteModified,
    NoteRenamed,
    NotesChosen,
    NotesRetrieved,
    PreToolCall,
    Replace,
    Rewrite,
    ToolCall,
    ToolFinished,
    TurnComplete,
)

PLUGIN = Tier.PLUGIN
TOOL = PreToolCall(call=CALL)


def append(flag: str) -> Callable[[PreToolCall], Rewrite]:
    return lambda event: Rewrite(input={"command": event.call.input["command"] + flag})


# pre_tool_call


@virtual
async def test_case_020_equal_priorities_run_in_the_order_of_registration() -> None:
    _, rig = await fired(TOOL, *(lua(PreToolCall, name=name) for name in "abc"))
    assert rig.asked == ["a", "b", "c"]


@virtual
async def test_case_021_a_negative_priority_runs_before_zero() -> None:
    _, rig = await fired(TOOL, lua(PreToolCall, name="zero", priority=0), lua(PreToolCall, name="minus", priority=-5))
    assert rig.asked == ["minus", "zero"]


@virtual
async def test_case_022_the_session_comes_first_whatever_the_priority() -> None:
    _, rig = await fired(TOOL, lua(PreToolCall, vm=PLUGIN, priority=1, name="plugin"), lua(PreToolCall, priority=900, name="session"))
    assert rig.asked == ["session", "plugin"]


@virtual
async def test_case_024_a_plugin_sees_what_the_session_rewrote() -> None:
    outcome, _ = await fired(TOOL, lua(PreToolCall, append("1")), lua(PreToolCall, append("2"), vm=PLUGIN))
    assert outcome.value.call.input == {"command": "ls12"}


@virtual
async def test_case_025_the_default_priority_is_100() -> None:
    _, rig = await fired(
        TOOL, lua(PreToolCall, name="101", priority=101), lua(PreToolCall, name="default"), lua(PreToolCall, name="99", priority=99)
    )
    assert rig.asked == ["99", "default", "101"]


@virtual
async def test_case_032_a_pattern_never_fires_on_an_event_without_identifier() -> None:
    for event in (FileChanged(path="/a", change="created"), FileDeleted(path="/a"), FileMoved(source="/a", destination="/b")):
        _, rig = await fired(event, lua(type(event), vm=PLUGIN, pattern="*", name="pattern"), lua(type(event), vm=PLUGIN, name="none"))
        assert rig.asked == ["none"]


@virtual
async def test_case_033_a_pattern_is_matched_with_the_notes_path() -> None:
    for path, asked in (("Daily/2026-08-18.md", 1), ("Daily/2026/08.md", 0), ("Other/a.md", 0)):
        _, rig = await fired(NoteModified(path=path), lua(NoteModified, pattern="Daily/*", vm=PLUGIN))
        assert len(rig.asked) == asked


@virtual
async def test_case_034_a_rename_is_matched_by_its_destination() -> None:
    event = NoteRenamed(source="Inbox/x.md", path="Daily/x.md")
    _, rig = await fired(event, *(lua(NoteRenamed, pattern=f"{name}/*", name=name, vm=PLUGIN) for name in ("Daily", "Inbox")))
    assert rig.asked == ["Daily"]


@virtual
async def test_case_036_the_stages_of_a_turn_have_no_identifier() -> None:
    events = (
        ModelRequest(prompt="p"),
        TurnComplete(outcome="completed", turns=1),
        ContextAssembled(messages=()),
        NotesRetrieved(prompt="p", char_budget=3000),
        NotesChosen(prompt="p"),
        ModelResponse(turn=0, text=""),
    )
    for event in events:
        _, rig = await fired(event, lua(type(event), pattern="**"))
        assert rig.asked == []


@virtual
async def test_case_037_a_malformed_pattern_disturbs_nobody() -> None:
    _, rig = await fired(TOOL, lua(PreToolCall, pattern="[abc", name="malformed"), lua(PreToolCall, name="other"))
    assert rig.asked == ["other"]


@virtual
async def test_case_046_what_was_rewritten_is_the_returned_value_alone() -> None:
    outcome, _ = await fired(TOOL, lua(PreToolCall), lua(PreToolCall))
    assert outcome.value is TOOL


@virtual
async def test_case_049_nothing_returned_proceeds_with_the_original_arguments() -> None:
    outcome, _ = await fired(TOOL, lua(PreToolCall))
    assert (outcome.decision, outcome.value) == (None, TOOL)


@virtual
async def test_case_050_a_cancel_stops_both_registries() -> None:
    outcome, rig = await fired(
        TOOL,
        lua(PreToolCall, Block("no")),
        lua(PreToolCall, name="later"),
        lua(PreToolCall, Replace("out"), vm=PLUGIN, name="plugin"),
    )
    assert outcome.blocked == Block("no")
    assert rig.asked == ["hook"]


@virtual
async def test_case_053_handled_stops_both_registries_too() -> None:
    outcome, rig = await fired(TOOL, lua(PreToolCall, Replace("out")), lua(PreToolCall, Block("no"), vm=PLUGIN))
    assert outcome.replaced == Replace("out")
    assert (outcome.blocked, len(rig.asked)) == (None, 1)


@virtual
async def test_case_057_arguments_are_replaced_and_not_merged() -> None:
    outcome, _ = await fired(TOOL, lua(PreToolCall, Rewrite(input={"path": "/b"})))
    assert outcome.value.call == ToolCall("call_1", "bash", {"path": "/b"})


@virtual
async def test_case_058_arguments_may_become_empty() -> None:
    outcome, _ = await fired(TOOL, lua(PreToolCall, Rewrite(input={})))
    assert outcome.value.call.input == {}


@virtual
async def test_case_060_each_handler_sees_what_the_one_before_made() -> None:
    outcome, _ = await fired(TOOL, lua(PreToolCall, append(" -a")), lua(PreToolCall, append(" -l")))
    assert outcome.value.call.input == {"command": "ls -a -l"}


@virtual
async def test_case_061_a_rewrite_before_an_error_is_denied_with_neither_arguments() -> None:
    outcome, _ = await fired(TOOL, lua(PreToolCall, append(" -a")), lua(PreToolCall, ValueError("boom"), name="guard"))
    assert outcome.blocked == Block("PreToolCall hook guard failed: ValueError: boom")
    assert outcome.value.call.input == {"command": "ls"}


@pytest.mark.parametrize("given", [ValueError("boom"), 7, AddContext("x"), after(31), asyncio.CancelledError()])
@virtual
async def test_case_062_069_every_failure_of_pre_tool_call_denies(given: Any) -> None:
    outcome, _ = await fired(TOOL, lua(PreToolCall, given))
    assert outcome.blocked


@virtual
async def test_case_066_after_an_error_nobody_can_allow() -> None:
    outcome, rig = await fired(TOOL, lua(PreToolCall, ValueError("boom")), lua(PreToolCall, Replace("fine"), name="second"))
    assert outcome.blocked
    assert rig.asked == ["hook"]


@virtual
async def test_case_068_a_failing_handler_of_another_tool_has_no_effect() -> None:
    outcome, _ = await fired(TOOL, lua(PreToolCall, ValueError("boom"), pattern="read"))
    assert outcome.decision is None


@virtual
async def test_case_080_a_plugin_that_reloads_while_its_list_is_in_flight_denies_nothing() -> None:
    rig = Rig()
    plugin = lua(PreToolCall, ValueError("its function is gone"), vm=PLUGIN, name="plugin")

    async def meanwhile(event: Event) -> None:
        await asyncio.sleep(1)
        rig.registry.remove(plugin)
        rig.add(lua(PreToolCall, vm=PLUGIN, name="reloaded"))

    rig.add(lua(PreToolCall, meanwhile), plugin)

    assert (await rig.fire(TOOL)).decision is None
    assert rig.asked == ["hook", "reloaded"]


@virtual
async def test_case_080_a_handler_whose_machine_goes_away_under_it_denies_nothing() -> None:
    rig = Rig()

    async def torn_down(event: Event) -> None:
        rig.registry.remove(handler)
        raise RuntimeError("this machine is closed")

    handler = lua(PreToolCall, torn_down, vm=PLUGIN)
    rig.add(handler, lua(PreToolCall, vm=PLUGIN, name="next"))

    assert (await rig.fire(TOOL)).decision is None
    assert rig.asked == ["hook", "next"]


@virtual
async def test_case_018_a_handler_registered_by_a_running_one_is_first_seen_by_the_next_dispatch() -> None:
    rig = Rig()

    def register(event: Event) -> None:
        rig.add(lua(PreToolCall, name="new"))

    rig.add(lua(PreToolCall, register, name="old"))
    await rig.fire(TOOL)
    assert rig.asked == ["old"]
    await rig.fire(TOOL)
    assert rig.asked == ["old", "old", "new"]


@virtual
async def test_the_plugins_list_is_taken_after_the_sessions_handlers_ran() -> None:
    rig = Rig()
    rig.add(lua(PreToolCall, lambda event: rig.add(lua(PreToolCall, vm=PLUGIN, name="plugin"))))

    await rig.fire(TOOL)

    assert rig.asked == ["hook", "plugin"]


# tool_result


FINISHED = ToolFinished(call=CALL, content="secret", duration_ms=1.5)


@virtual
async def test_case_081_a_patch_changes_the_text_alone() -> None:
    outcome, _ = await fired(FINISHED, lua(ToolFinished, Rewrite(content="x")))
    assert (outcome.value.content, outcome.value.error) == ("x", None)


@virtual
async def test_case_082_an_error_is_set_and_the_result_kept() -> None:
    seen = []
    outcome, _ = await fired(
        FINISHED,
        lua(ToolFinished, Rewrite(content="bad", is_error=True)),
        lua(ToolFinished, lambda event: seen.append((event.result, event.error)), vm=PLUGIN),
    )
    assert (outcome.value.content, outcome.value.is_error) == ("bad", True)
    assert seen == [("secret", "bad")]


@virtual
async def test_case_085_a_failing_handler_leaves_the_text_and_the_next_one_runs() -> None:
    outcome, rig = await fired(
        FINISHED,
        lua(ToolFinished, Rewrite(content="one")),
        lua(ToolFinished, ValueError("boom")),
        lua(ToolFinished, lambda event: Rewrite(content=event.content + " two"), vm=PLUGIN),
    )
    assert outcome.value.content == "one two"
    assert [end for _, end in rig.ends] == [Ended.ANSWERED, Ended.FAILED, Ended.ANSWERED]


@virtual
async def test_case_086_what_a_patch_may_not_be_changes_nothing() -> None:
    for given in (Rewrite(input={}), Block("no"), Replace("z"), "text"):
        outcome, _ = await fired(FINISHED, lua(ToolFinished, given), lua(ToolFinished))
        assert (outcome.value, outcome.decision) == (FINISHED, None)
