"""What a handler's pattern is matched with (crucible.md 2.4 and 5)."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.crucible_rig import LuaRig
from treblehook.contracts.crucible.events import EVENTS
from treblehook.lifecycle import (
    BeforeExecute,
    Event,
    FileChanged,
    FileDeleted,
    FileMoved,
    NoteCreated,
    NoteDeleted,
    NoteModified,
    NoteRenamed,
    PreToolCall,
    ToolCall,
    ToolFinished,
    ToolShown,
    ToolStarted,
    WebhookReceived,
)


def on(name: str, pattern: str, label: str | None = None) -> str:
    return f'cru.on("{name}", {{pattern = [==[{pattern}]==]}}, function() seen("{label or pattern}") end)\n'


def call(tool: str) -> ToolCall:
    return ToolCall("c1", tool, {})


async def fired(rig: LuaRig, event: Event) -> list[str]:
    """The labels of the handlers that ran."""
    rig.seen.clear()
    await rig.fire(event)
    return [label for (label,) in rig.seen]


async def test_case_029_a_prefix(rig: LuaRig, kind: str) -> None:
    rig.load(kind, on("pre_tool_call", "just_test*"))
    assert [len(await fired(rig, PreToolCall(call=call(tool)))) for tool in ("just_test", "just_test_all", "justtest")] == [1, 1, 0]


async def test_case_030_a_part(rig: LuaRig, kind: str) -> None:
    rig.load(kind, on("pre_tool_call", "*delete*"))
    assert await fired(rig, PreToolCall(call=call("note_delete")))


async def test_case_031_a_star_is_all_tools_but_those_with_a_slash(rig: LuaRig, kind: str) -> None:
    rig.load(kind, on("pre_tool_call", "*") + on("pre_tool_call", "**"))
    assert await fired(rig, PreToolCall(call=call("bash"))) == ["*", "**"]
    assert await fired(rig, PreToolCall(call=call("mcp/list"))) == ["**"]


async def test_case_032_file_events_have_no_identifier(rig: LuaRig) -> None:
    for name in ("FileChanged", "FileDeleted", "FileMoved"):
        rig.load("plugin", on(name, "*") + f'cru.on("{name}", function() seen("none") end)')
    for event in (FileChanged(path="/a", change="created"), FileDeleted(path="/a"), FileMoved(source="/a", destination="/b")):
        assert await fired(rig, event) == ["none"]
    assert len(rig.warnings) == 3
    assert all("never matches" in text for text in rig.warnings)


async def test_case_033_a_notes_path(rig: LuaRig) -> None:
    rig.load("plugin", on("note:modified", "Daily/*"))
    for path, runs in (("Daily/2026-08-18.md", 1), ("Daily/2026/08.md", 0), ("Other/a.md", 0)):
        assert len(await fired(rig, NoteModified(path=path))) == runs


async def test_case_034_a_rename_is_matched_by_its_destination(rig: LuaRig) -> None:
    rig.load("plugin", on("note:renamed", "Daily/*") + on("note:renamed", "Inbox/*"))
    assert await fired(rig, NoteRenamed(source="Inbox/x.md", path="Daily/x.md")) == ["Daily/*"]


async def test_case_035_a_webhooks_name(rig: LuaRig) -> None:
    rig.load("plugin", on("webhook:received", "ci"))
    for name, runs in (("ci", 1), ("CI", 0), ("ci-main", 0)):
        assert len(await fired(rig, WebhookReceived(name=name, headers={}, body=""))) == runs


@pytest.mark.parametrize("name", [name for name, hook in EVENTS.items() if not hook.identifier])
async def test_case_036_a_pattern_on_an_event_without_identifier_never_fires(
    rig: LuaRig, kind: str, name: str, events: dict[str, Event]
) -> None:
    rig.load(kind, on(name, "**"))
    assert await fired(rig, events[name]) == []
    assert any(f"{name}: has no identifier" in text for text in rig.warnings)


@pytest.mark.parametrize("pattern", ["[abc", "{a,b", "a\\"])
async def test_case_037_a_malformed_pattern_disturbs_nobody(rig: LuaRig, kind: str, pattern: str) -> None:
    rig.load(kind, on("pre_tool_call", pattern, "malformed") + on("pre_tool_call", "*", "other"))
    assert await fired(rig, PreToolCall(call=call("a"))) == ["other"]
    (warning,) = rig.warnings
    assert f"`{pattern}` is malformed" in warning


async def test_case_038_alternatives(rig: LuaRig, kind: str) -> None:
    rig.load(kind, on("pre_tool_call", "{bash,edit}"))
    assert [len(await fired(rig, PreToolCall(call=call(tool)))) for tool in ("bash", "edit", "read")] == [1, 1, 0]


@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("pre_tool_call", PreToolCall(call=call("bash"))),
        ("tool_result", ToolFinished(call=call("bash"), content="")),
        ("tool:before_execute", BeforeExecute(call=call("bash"))),
        ("tool:display_start", ToolStarted(call=call("bash"))),
        ("tool:display_complete", ToolShown(call=call("bash"), content="")),
    ],
)
async def test_case_039_all_five_tool_events_are_matched_by_the_tools_name(rig: LuaRig, kind: str, name: str, event: Event) -> None:
    rig.load(kind, on(name, "ba*") + on(name, "read"))
    assert await fired(rig, event) == ["ba*"]


async def test_case_040_tool_result_of_one_tool(rig: LuaRig, kind: str) -> None:
    rig.load(kind, on("tool_result", "bash"))
    assert [len(await fired(rig, ToolFinished(call=call(tool), content=""))) for tool in ("bash", "read")] == [1, 0]


async def test_the_note_events_are_matched_by_the_path(rig: LuaRig) -> None:
    events: dict[str, Any] = {"created": NoteCreated(path="Daily/a.md", title="a"), "deleted": NoteDeleted(path="Daily/a.md", existed=True)}
    for name, event in events.items():
        rig.load("plugin", on(f"note:{name}", "Daily/*") + on(f"note:{name}", "/**"))
        assert await fired(rig, event) == ["Daily/*"]


async def test_an_empty_pattern_matches_no_tool(rig: LuaRig, kind: str) -> None:
    rig.load(kind, on("pre_tool_call", "", "empty"))
    assert await fired(rig, PreToolCall(call=call("bash"))) == []


GLOBS = [
    (match[1], match[2], match[3] == "yes")
    for match in re.finditer(r"^(\S*) \| (\S*) \| (yes|no)$", (Path(__file__).parent / "globs.txt").read_text(), re.MULTILINE)
]


def test_the_table_of_globs_is_whole() -> None:
    assert len(GLOBS) == 52


@pytest.mark.parametrize(("pattern", "identifier", "matches"), GLOBS)
async def test_case_041_the_table_of_globs(rig: LuaRig, kind: str, pattern: str, identifier: str, matches: bool) -> None:
    rig.load(kind, on("pre_tool_call", pattern, "ran"))
    assert await fired(rig, PreToolCall(call=call(identifier))) == (["ran"] if matches else [])
