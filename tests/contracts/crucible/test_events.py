"""The table of the nineteen events, and what their handlers are given (crucible.md 3, 4.5)."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.crucible_rig import LuaRig
from treblehook.contracts.crucible.events import EVENTS, HookEvent
from treblehook.contracts.crucible.names import DAEMON_EVENTS, EVENT_NAMES
from treblehook.engine import OnFailure
from treblehook.lifecycle import (
    Artifact,
    ContextAssembled,
    Event,
    FileChanged,
    Fold,
    Inject,
    Keep,
    Message,
    ModelResponse,
    Note,
    NotesRetrieved,
    PreToolCall,
    Stop,
    ToolCall,
    ToolFinished,
    ToolShown,
    WebhookReceived,
)

SEED = [
    tuple(cell.strip() for cell in line.split(" | "))
    for line in (Path(__file__).parent / "seed_events.txt").read_text().splitlines()
    if not line.startswith("#")
]
DUMP = """
local function copy(value)
  if type(value) ~= "table" then return value end
  local found = {}
  for key, item in pairs(value) do found[key] = copy(item) end
  return found
end
cru.on("%s", function(ctx, event) seen(copy(ctx), copy(event)) end)
"""


def test_the_table_has_the_names_of_the_closed_set_and_no_other() -> None:
    assert tuple(EVENTS) == EVENT_NAMES
    assert {name for name, _, _ in SEED} == set(EVENT_NAMES)
    assert {name for name, hook in EVENTS.items() if hook.of_daemon} == set(DAEMON_EVENTS)


@pytest.mark.parametrize(("name", "identifier", "combination"), SEED)
def test_every_event_is_as_the_seeds_tables_say(name: str, identifier: str, combination: str) -> None:
    hook = EVENTS[name]
    assert hook.name == name
    assert (hook.identifier or "none") == identifier
    assert hook.event.targeted == bool(hook.identifier)
    assert _combination(hook) == combination


def _combination(hook: HookEvent) -> str:
    event = hook.event
    match event.fold:
        case Fold.CHAIN:
            return "chain, closed" if hook.on_failure is OnFailure.CLOSED else "chain"
        case Fold.FIRST:
            return "first"
        case Fold.GATHER if event.keep is Keep.PER_KEY:
            return "per key"
        case Fold.GATHER if event.accepts == (Inject,):
            assert event.keep is Keep.LAST
            return "last inject"
        case Fold.GATHER:
            # What components answer here, no Lua handler can.
            assert event.accepts == (Artifact,)
            return "observers"
        case Fold.NOTIFY:
            assert event.accepts == (Stop,)
            return "observers, stop"
    raise AssertionError(event.fold)


PAYLOADS: dict[str, dict[str, Any]] = {
    "FileChanged": {"path": "/kiln/a.md", "kind": "created"},
    "FileDeleted": {"path": "/kiln/a.md"},
    "FileMoved": {"from": "/kiln/a.md", "to": "/kiln/b.md"},
    "note:created": {"path": "a.md", "title": "A"},
    "note:modified": {"path": "a.md", "change_type": "content"},
    "note:deleted": {"path": "a.md", "existed": True},
    "note:renamed": {"from": "a.md", "to": "b.md"},
    "webhook:received": {"name": "ci", "headers": {"x-github-event": "push"}, "body": '{"a":1}'},
    "pre_tool_call": {"tool": "bash", "args": {"command": "ls"}},
    "tool_result": {"tool": "bash", "args": {"command": "ls"}, "result": "out"},
    "pre_llm_call": {"prompt": "p", "model": "m"},
    "post_llm_call": {"response_summary": "reply", "model": "m", "duration_ms": 12},
    "transform_context": {"messages": [{"role": "user", "content": "hi", "metadata": {"id": "m1", "token_estimate": 0}}], "model": "m"},
    "precognition_select": {
        "user_message": "p",
        "note_count": 1,
        "char_budget": 3000,
        "results": [{"index": 1, "title": "Chest", "score": 0.9, "snippet": "gold", "kiln": "notes"}],
    },
    "precognition_format": {
        "user_message": "p",
        "note_count": 1,
        "results": [{"title": "Chest", "score": 0.9, "snippet": "gold", "kiln": "notes"}],
    },
    "turn:complete": {"session_id": "s1", "message_id": "m9", "response_length": 2, "is_continuation": False},
    "tool:before_execute": {"tool": "bash", "name": "bash", "args": {"command": "ls"}, "env": {}},
    "tool:display_start": {"tool": "bash", "name": "bash", "args": '{"command":"ls"}'},
    "tool:display_complete": {"tool": "bash", "name": "bash", "args": '{"command":"ls"}', "result": "out"},
}


@pytest.mark.parametrize("name", EVENT_NAMES)
async def test_the_fields_of_every_event(rig: LuaRig, kind: str, name: str, events: dict[str, Event]) -> None:
    rig.load(kind, DUMP % name)
    await rig.fire(events[name])
    ((ctx, event),) = rig.seen
    assert event == {"type": name, **PAYLOADS[name]}
    assert ctx == ({} if name in DAEMON_EVENTS else {"session_id": "s1"})
    assert rig.errors == []


async def test_case_042_the_event_of_pre_tool_call_is_flat(rig: LuaRig, kind: str) -> None:
    rig.load(
        kind,
        'cru.on("pre_tool_call", function(ctx, event) '
        "seen(event.type, event.tool, event.args.command, type(event.payload), type(event.name), math.type(event.args.n)) end)",
    )
    await rig.fire(PreToolCall(session="s1", call=ToolCall("c1", "bash", {"command": "ls", "n": 3})))
    assert rig.seen == [("pre_tool_call", "bash", "ls", "nil", "nil", "integer")]


async def test_case_043_the_session_is_on_the_context_alone(rig: LuaRig, kind: str, events: dict[str, Event]) -> None:
    rig.load(kind, 'cru.on("tool_result", function(ctx, event) seen(ctx.session_id, type(event.session_id)) end)')
    await rig.fire(events["tool_result"])
    assert rig.seen == [("s1", "nil")]


async def test_case_044_one_plugin_handler_serves_all_sessions(rig: LuaRig) -> None:
    rig.plugins.lua.provide("who", lambda: rig.plugins.caller.session)
    rig.load("plugin", 'cru.on("pre_tool_call", function(ctx) seen(ctx.session_id or "-", who() or "-") end)')
    sessions = ("s1", "s1", "s2", "", "s1")
    for session in sessions:
        await rig.fire(PreToolCall(session=session, call=ToolCall("c1", "bash", {})))
    assert rig.seen == [(session or "-", session or "-") for session in sessions]


async def test_case_045_a_daemon_event_has_a_context_without_session(rig: LuaRig) -> None:
    rig.load("plugin", 'cru.on("FileChanged", function(ctx) seen(type(ctx), type(ctx.session_id)) end)')
    await rig.fire(FileChanged(path="/a", change="created"))
    assert rig.seen == [("table", "nil")]


async def test_case_046_what_a_handler_changes_in_its_event_changes_nothing(rig: LuaRig, kind: str) -> None:
    source = 'cru.on("pre_tool_call", function(ctx, event) seen(event.args.command) event.args.command = "rm" ctx.session_id = "x" end)\n'
    rig.load(kind, source + source)
    event = PreToolCall(session="s1", call=ToolCall("c1", "bash", {"command": "ls"}))
    outcome = await rig.fire(event)
    assert outcome.value is event
    assert event.call.input == {"command": "ls"}
    assert rig.seen == [("ls",), ("ls",)]


async def test_case_047_absent_values_are_nil_and_absent_arguments_a_table(rig: LuaRig, kind: str) -> None:
    rig.load(
        kind,
        'cru.on("tool_result", function(ctx, event) seen(event.error == nil, type(event.args), next(event.args) == nil) end)\n'
        'cru.on("pre_tool_call", function(ctx, event) seen(event.args.x == nil, #event.args.list, event.args.list[2] ~= nil) end)',
    )
    await rig.fire(ToolFinished(call=ToolCall("c1", "bash", {}), content="out"))
    await rig.fire(PreToolCall(call=ToolCall("c1", "bash", {"x": None, "list": [1, None, 3]})))
    assert rig.seen == [(True, "table", True), (True, 3, True)]


async def test_case_048_type_is_the_events_name_whatever_it_holds(rig: LuaRig) -> None:
    rig.load("plugin", 'cru.on("webhook:received", function(ctx, event) seen(event.type, event.headers.type) end)')
    await rig.fire(WebhookReceived(name="ci", headers={"type": "mine"}, body=""))
    assert rig.seen == [("webhook:received", "mine")]


async def test_an_error_is_a_string(rig: LuaRig, kind: str) -> None:
    rig.load(kind, 'cru.on("tool_result", function(ctx, event) seen(event.result, event.error) end)')
    await rig.fire(ToolFinished(call=ToolCall("c1", "bash", {}), content="exit status 1", is_error=True))
    assert rig.seen == [("", "exit status 1")]


async def test_the_card_of_a_failed_call_says_so(rig: LuaRig, kind: str) -> None:
    rig.load(kind, 'cru.on("tool:display_complete", function(ctx, event) seen(event.result, event.error) end)')
    await rig.fire(ToolShown(call=ToolCall("c1", "bash", {}), content="no such file", is_error=True))
    assert rig.seen == [("no such file", "no such file")]


async def test_a_summary_has_200_characters(rig: LuaRig, kind: str) -> None:
    rig.load(kind, 'cru.on("post_llm_call", function(ctx, event) seen(utf8.len(event.response_summary)) end)')
    await rig.fire(ModelResponse(turn=0, text="é" * 500))
    assert rig.seen == [(200,)]


async def test_an_unclaimed_note_has_no_kiln(rig: LuaRig, kind: str) -> None:
    rig.load(kind, 'cru.on("precognition_select", function(ctx, event) for i, n in ipairs(event.results) do seen(n.index, n.kiln) end end)')
    await rig.fire(
        NotesRetrieved(prompt="p", char_budget=1, notes=(Note(1, "a", 1, ""), Note(2, "b", 0.5, "", ""), Note(3, "c", 0.5, "", "n")))
    )
    assert rig.seen == [(1,), (2,), (3, "n")]


async def test_text_that_is_no_utf8_is_replaced(rig: LuaRig, kind: str) -> None:
    rig.load(kind, 'cru.on("tool_result", function(ctx, event) seen(event.result) end)')
    await rig.fire(ToolFinished(call=ToolCall("c1", "bash", {}), content="a\udcffb"))
    assert rig.seen == [("a\ufffdb",)]


async def test_a_message_of_the_assistant_tells_its_calls(rig: LuaRig, kind: str) -> None:
    rig.load(
        kind,
        'cru.on("transform_context", function(ctx, event) local m = event.messages '
        "seen(m[1].metadata.tool_calls[1].name, m[1].metadata.tool_calls[1].args.command, m[2].metadata.tool_call_id, "
        "m[2].metadata.success, m[3].metadata.tags[1]) end)",
    )
    call = ToolCall("c1", "bash", {"command": "ls"})
    messages = (
        Message("assistant", "", id="1", calls=(call,)),
        Message("tool", "x", id="2", call_id="c1", tool="bash", is_error=True),
        Message("system", "notes", id="3", tags=("precognition",)),
    )
    await rig.fire(ContextAssembled(messages=messages))
    assert rig.seen == [("bash", "ls", "c1", False, "precognition")]
