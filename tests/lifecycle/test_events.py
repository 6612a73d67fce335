"""Every event and every decision: what they declare, and that they are values."""

import copy
import pickle
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treblehook.lifecycle
from treblehook.lifecycle import (
    ROWS,
    AddContext,
    Block,
    ContextAssembled,
    Decision,
    Event,
    Fold,
    Keep,
    Message,
    ModelRequest,
    NoteRenamed,
    PreToolCall,
    PromptSubmitted,
    Refuse,
    Replace,
    Rewrite,
    SessionStart,
    Stop,
    ToolCall,
    ToolFinished,
    ToolRan,
    WebhookReceived,
)
from treblehook.lifecycle.decisions import EVENT_FIELDS, Kind
from treblehook.lifecycle.events import narrowed

KINDS = [kind for _, kind in ROWS]
CALL = ToolCall("c", "bash", {"command": "ls"})

FOLDS = """
Stage gather all
SessionStart gather all
PromptSubmitted chain
TaskStart gather first
NotesRetrieved first
NotesChosen first
ModelRequest chain
ContextAssembled chain
ModelResponse gather all
CompactionStarting notify
ContextFull gather first
ToolProposed chain
PreToolCall chain
PermissionRequest first
ToolStarted first
BeforeExecute gather per key
ToolGate gate
ShellGate gate
ToolFinished chain
ToolRan notify
ShellRan notify
ToolShown first
TurnEnding first
TaskEnd gather first
TurnComplete gather last
SubagentFinished notify
SessionEnd notify
FileChanged notify
FileDeleted notify
FileMoved notify
NoteCreated notify
NoteModified notify
NoteDeleted notify
NoteRenamed notify
WebhookReceived notify
"""
"""The last column of the lifecycle table, in its order."""


def test_the_table_is_in_the_order_of_a_life_and_folds_as_it_says() -> None:
    told = [f"{k.__name__} {k.fold.value}" + (f" {k.keep.value}" if k.fold is Fold.GATHER else "") for k in KINDS]
    assert told == FOLDS.split("\n")[1:-1]


def test_every_event_and_every_decision_can_be_imported_from_the_room() -> None:
    kinds = [kind for base in (Event, Decision) for kind in _leaves(base) if kind.__module__.startswith("treblehook.lifecycle.")]
    public = [kind for kind in kinds if not kind.__name__.startswith("_")]
    assert {kind.__name__ for kind in public} <= set(treblehook.lifecycle.__all__)
    assert {kind for kind in public if issubclass(kind, Event)} == set(KINDS)


def _leaves(base: type[Any]) -> list[type[Any]]:
    return [leaf for kind in base.__subclasses__() for leaf in _leaves(kind)] or [base]


@pytest.mark.parametrize("kind", KINDS)
def test_an_event_accepts_what_its_fold_can_use(kind: type[Event]) -> None:
    usable = {
        Fold.CHAIN: {Kind.REWRITE, Kind.CONTRIBUTION, Kind.REFUSAL, Kind.ANSWER},
        Fold.FIRST: {Kind.ANSWER, Kind.REFUSAL},
        Fold.GATHER: {Kind.CONTRIBUTION, Kind.REFUSAL},
        Fold.GATE: {Kind.REFUSAL},
        Fold.NOTIFY: {Kind.STOP},
    }
    assert {decision.kind for decision in kind.accepts} <= usable[kind.fold]
    assert bool(kind.rewrites) == (Rewrite in kind.accepts)
    assert kind.rewrites <= set(EVENT_FIELDS)


@pytest.mark.parametrize("kind", KINDS)
def test_what_an_event_declares_for_type_checkers_is_what_it_accepts(kind: type[Event]) -> None:
    assert all(issubclass(decision, Decision) for decision in kind.accepts)
    assert len(set(kind.accepts)) == len(kind.accepts)
    assert (kind.strictest("why") is None) == (not {Block, Refuse} & set(kind.accepts))


def test_the_strictest_decision_carries_the_reason() -> None:
    assert PreToolCall.strictest("why") == Block("why")
    assert SessionStart.strictest("why") == Refuse("why")
    assert ToolRan.strictest("why") is None


@pytest.mark.parametrize(
    "event",
    [PreToolCall(call=CALL), SessionStart(session="s"), ContextAssembled(messages=(Message("user", "x"),))],
    ids=lambda event: type(event).__name__,
)
def test_an_event_is_a_value(event: Event) -> None:
    with pytest.raises(AttributeError):
        event.session = "other"  # type: ignore[misc]
    assert copy.copy(event) == copy.deepcopy(event) == pickle.loads(pickle.dumps(event)) == event
    assert msgspec.json.decode(msgspec.json.encode(event), type=type(event)) == event
    assert not hasattr(event, "__dict__")


DECISIONS = [kind for kind in _leaves(Decision) if kind.__module__.startswith("treblehook.lifecycle.")]


def test_a_decision_says_in_json_what_it_is() -> None:
    assert msgspec.json.encode(Block("no")) == b'{"type":"block","reason":"no"}'
    assert (
        msgspec.json.encode(Rewrite(input={}, context=AddContext("x")))
        == b'{"type":"rewrite","input":{},"context":{"type":"add_context","text":"x"}}'
    )
    assert len({kind.__struct_config__.tag for kind in DECISIONS}) == len(DECISIONS)


def test_targets() -> None:
    assert PreToolCall(call=CALL).target == "bash"
    assert NoteRenamed(source="a.md", path="b.md").target == "b.md"
    assert WebhookReceived(name="ci", headers={}, body="").target == "ci"
    assert SessionStart().target is None
    assert all(kind.targeted or kind.target is Event.target for kind in KINDS)


def test_a_rewrite_names_the_fields_that_it_sets() -> None:
    assert Rewrite().fields() == frozenset()
    assert Rewrite(content="", is_error=False).fields() == {"content", "is_error"}
    assert Rewrite(input={}, context=AddContext("x")).fields() == {"input"}


def test_an_input_is_replaced_whole_and_the_rest_of_the_call_stays() -> None:
    event = PreToolCall(session="s", call=CALL)
    assert event.rewritten(Rewrite(input={"n": 1})) == PreToolCall(session="s", call=ToolCall("c", "bash", {"n": 1}))
    assert event.rewritten(Rewrite()) is event
    assert ModelRequest(prompt="p").rewritten(Rewrite(prompt="q")).prompt == "q"


def test_an_error_that_a_hook_sets_covers_the_result_and_gives_it_back() -> None:
    ran = ToolFinished(call=CALL, content="out")
    assert (ran.result, ran.error) == ("out", None)

    failed = ran.rewritten(Rewrite(content="bad", is_error=True))
    assert (failed.content, failed.is_error, failed.result, failed.error) == ("bad", True, "out", "bad")

    worse = failed.rewritten(Rewrite(content="worse"))
    assert (worse.content, worse.result) == ("worse", "out")

    restored = worse.rewritten(Rewrite(content=worse.result, is_error=False))
    assert restored == ran


def test_a_tool_that_failed_by_itself_has_no_result_under_its_error() -> None:
    event = ToolFinished(call=CALL, content="exit status 1", is_error=True)
    assert (event.result, event.error) == ("", "exit status 1")
    assert event.rewritten(Rewrite(is_error=False)).result == "exit status 1"


NAMES = st.sampled_from(["read", "bash", "process", "write", "edit"])


@given(st.lists(NAMES, unique=True).map(tuple), st.lists(NAMES | st.just("unknown"), unique=True).map(tuple))
def test_tools_are_narrowed_and_never_added(offered: tuple[str, ...], wanted: tuple[str, ...]) -> None:
    left = narrowed(offered, wanted)

    assert set(left) <= set(offered)
    assert [name for name in offered if name in left] == list(left)
    if not wanted:
        assert left == ()
    elif not set(wanted) & set(offered) and "bash" not in wanted:
        assert left == offered
    else:
        assert set(wanted) & set(offered) <= set(left)
    if "bash" in left and "process" in offered:
        assert "process" in left


def test_a_joining_message_keeps_model_and_effort() -> None:
    event = PromptSubmitted(prompt="p", model="m", effort="low", tools=("read", "bash"), joined=True)
    assert event.rewritten(Rewrite(model="n", effort="high", tools=("read",))) == msgspec.structs.replace(event, tools=("read",))


def test_what_settles_a_dispatch_and_what_rides_along() -> None:
    assert {kind: kind.kind for kind in (Block, Refuse, Replace, Stop, AddContext, Rewrite)} == {
        Block: Kind.REFUSAL,
        Refuse: Kind.REFUSAL,
        Replace: Kind.ANSWER,
        Stop: Kind.STOP,
        AddContext: Kind.CONTRIBUTION,
        Rewrite: Kind.REWRITE,
    }
    assert Keep.PER_KEY.value == "per key"
