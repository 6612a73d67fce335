"""The one table of event names: complete, and every name can be fired."""

import pytest

from treblehook.contracts.claude.events import EVENTS
from treblehook.contracts.vera.phases import PHASES
from treblehook.home.dry_run.calls import KnownTools
from treblehook.home.dry_run.events import sample_event
from treblehook.home.dry_run.wish import Wish
from treblehook.home.event_names import EVENT_NAMES, UnknownEvent, event_named
from treblehook.host.tool import ShellTool
from treblehook.host.tools import builtin_tools
from treblehook.lifecycle import ROWS, CompactionStarting, ShellGate, ShellRan, ToolGate, ToolRan, TurnEnding
from treblehook.lifecycle.event import Event
from treblehook.runtimes.process import ProcessRuntime

CRUCIBLE = {
    *("pre_tool_call", "tool_result", "pre_llm_call", "post_llm_call", "transform_context", "precognition_select"),
    *("precognition_format", "turn:complete", "tool:before_execute", "tool:display_start", "tool:display_complete"),
    *("FileChanged", "FileDeleted", "FileMoved", "note:created", "note:modified", "note:deleted", "note:renamed"),
    *("webhook:received", "on_session_start", "on_session_end"),
}
MURMUR = {
    *("on-stage", "on-session-start", "on-task-start", "on-inference", "on-tool-call", "on-shell", "on-compaction"),
    *("on-task-end", "on-session-end"),
}


@pytest.fixture
async def tools() -> KnownTools:
    built_in = builtin_tools(ProcessRuntime())
    shells = {tool.spec.name: tool for tool in built_in if isinstance(tool, ShellTool)}
    return KnownTools({tool.spec.name: tool.spec for tool in built_in}, shells)


def test_every_row_of_the_lifecycle_has_its_own_name() -> None:
    assert {name: EVENT_NAMES[name].events for _, event in ROWS if (name := event.__name__)} == {
        event.__name__: (event,) for _, event in ROWS
    }


def test_the_names_of_phases_and_claude_events_are_those_of_their_contracts() -> None:
    assert {name: EVENT_NAMES[name].events for name in PHASES} == {name: (phase.event,) for name, phase in PHASES.items()}
    assert {name: EVENT_NAMES[name].events for name in EVENTS} == {name: (PHASES[event.phase].event,) for name, event in EVENTS.items()}
    assert {name for name in EVENTS if EVENT_NAMES[name].spawned} == {n for n, event in EVENTS.items() if event.sessions == "spawned"}


def test_the_names_of_the_contracts_without_a_runtime_are_there() -> None:
    assert EVENT_NAMES.keys() >= CRUCIBLE | MURMUR | {"turn_finished", "cru.permissions.on_request"}


def test_a_name_before_and_after_the_dispatch_stands_for_both() -> None:
    assert event_named("on-tool-call").events == (ToolGate, ToolRan)
    assert event_named("on-shell").events == (ShellGate, ShellRan)


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("PretoolUse", "PreToolUse"),
        ("pre-tool-use", "pre_tool_use"),
        ("on_stage", "on-stage"),
        ("turn_complete", "turn:complete"),
        ("note:create", "note:created"),
        ("", None),
        ("xyzzy", None),
    ],
)
def test_an_unknown_name_is_told_with_the_nearest(name: str, nearest: str | None) -> None:
    with pytest.raises(UnknownEvent) as raised:
        event_named(name)

    assert raised.value.nearest == nearest
    assert "pre_tool_use" in str(raised.value)


@pytest.mark.parametrize("event", [event for _, event in ROWS])
def test_every_event_has_an_example(event: type[Event], tools: KnownTools) -> None:
    wish = Wish("s1", "/work", spawned=True)

    made = sample_event(event, wish, tools, "acme/first")

    assert type(made) is event
    assert made.session in ("s1", "")


def test_examples_hold_what_hooks_rely_on(tools: KnownTools) -> None:
    wish = Wish("s1", "/work")

    gate = sample_event(ShellGate, wish, tools, "")
    assert isinstance(gate, ShellGate)
    assert gate.prepared.script == gate.call.input["command"] == "echo hello"
    compacting = sample_event(CompactionStarting, wish, tools, "")
    assert isinstance(compacting, CompactionStarting)
    assert compacting.reason == "manual"
    ending = sample_event(TurnEnding, Wish("s1", "/work", options={"reply": "done"}), tools, "")
    assert isinstance(ending, TurnEnding)
    assert ending.reply == "done"
