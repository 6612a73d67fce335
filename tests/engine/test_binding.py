"""Bindings that could never be kept are refused when they are made."""

from typing import Any

import pytest

from tests.support.hooks import stub
from treblehook.engine import DETACHED, BindError, Inline, Lane, Mode, OnFailure, Queued
from treblehook.lifecycle import ROWS, Block, Event, ModelRequest, NoteCreated, PreToolCall, Refuse, SessionStart, ToolGate, ToolRan

KINDS = [kind for _, kind in ROWS]

REFUSED: list[tuple[type[Event], dict[str, Any], str]] = [
    (ToolGate, {"mode": Mode.REPORT}, "a gate is always on, mode 'report' is not allowed"),
    (ToolGate, {"mode": Mode.OFF}, "a gate is always on, mode 'off' is not allowed"),
    (PreToolCall, {"delivery": Queued()}, "the event needs the answer, so the handler must be inline"),
    (ToolGate, {"delivery": DETACHED}, "the event needs the answer, so the handler must be inline"),
    (SessionStart, {"delivery": Queued(), "on_failure": OnFailure.CLOSED}, "nobody waits for the handler, so its failure cannot count as"),
    (ToolRan, {"delivery": DETACHED, "on_failure": OnFailure.ABORT}, "nobody waits for the handler, so its failure cannot count as"),
    (ToolRan, {"delivery": Queued(depth=0)}, "a queue of depth 0 holds nothing"),
    (PreToolCall, {"timeout": 0}, "timeout 0 must be more than 0 seconds"),
    (PreToolCall, {"timeout": -1.5}, "timeout -1.5 must be more than 0 seconds"),
    (PreToolCall, {"timeout": float("nan")}, "timeout nan must be more than 0 seconds"),
]


@pytest.mark.parametrize(("kind", "options", "problem"), REFUSED)
def test_a_binding_that_cannot_be_kept(kind: type[Event], options: dict[str, Any], problem: str) -> None:
    with pytest.raises(BindError) as caught:
        stub(kind, name="guard", **options)

    assert str(caught.value).startswith(f"hook 'guard' cannot be bound to {kind.__name__}: {problem}")
    assert (caught.value.hook, caught.value.event) == ("guard", kind.__name__)


@pytest.mark.parametrize("kind", KINDS)
def test_closed_needs_a_block_or_a_refusal(kind: type[Event]) -> None:
    if Block in kind.accepts or Refuse in kind.accepts:
        stub(kind, on_failure=OnFailure.CLOSED)
    else:
        with pytest.raises(BindError, match="needs an event that accepts a block or a refusal"):
            stub(kind, on_failure=OnFailure.CLOSED)


@pytest.mark.parametrize("kind", KINDS)
def test_any_event_takes_an_open_handler(kind: type[Event]) -> None:
    assert stub(kind, timeout=1, pattern="[", priority=-(2**63)).pattern is not None


def test_one_inline_is_as_good_as_another() -> None:
    assert stub(PreToolCall, delivery=Inline()).immediate
    assert stub(NoteCreated, delivery=Queued(overflow="block")).delivery == Queued(1024, "block")


def test_what_takes_more_than_an_await_is_not_immediate() -> None:
    assert stub(ModelRequest, lane=Lane("untimed")).immediate
    assert stub(ModelRequest, timeout=3, keeps_time=True).immediate
    for options in ({"timeout": 3}, {"lane": Lane("timed", 3.0)}, {"when": lambda event: True}, {"mode": Mode.REPORT}):
        assert not stub(ModelRequest, **options).immediate
