"""What can never work is refused when it is bound."""

from collections.abc import Coroutine
from typing import Any

import pytest

from treblehook import Block, Hooks, PreToolCall, Rewrite, ToolCall
from treblehook.engine import BindError
from treblehook.lifecycle import AddContext, Decision, Event, PermissionRequest, Refuse, ToolFinished, ToolRan

EVENT = PreToolCall(session="s1", call=ToolCall("c1", "bash", {"command": "rm x"}))


def takes_another_event(event: ToolFinished) -> None: ...


def answers_another_decision(event: PreToolCall) -> Block | Refuse | None:
    raise NotImplementedError


async def answers_another_later(event: PreToolCall) -> AddContext:
    raise NotImplementedError


def answers_a_coroutine(event: PreToolCall) -> Coroutine[Any, Any, Refuse | None]:
    raise NotImplementedError


def answers_a_text(event: PreToolCall) -> str:
    raise NotImplementedError


def takes_nothing() -> None: ...


def takes_two(event: PreToolCall, other: int) -> None: ...


def yields(event: PreToolCall) -> Any:
    yield Block("no")


async def yields_later(event: PreToolCall) -> Any:
    yield Block("no")


REFUSED: list[tuple[Any, str]] = [
    (takes_another_event, "it takes ToolFinished"),
    (answers_another_decision, "it answers Refuse; accepted are Rewrite, Block, Replace"),
    (answers_another_later, "it answers AddContext; accepted are Rewrite, Block, Replace"),
    (answers_a_coroutine, "it answers Refuse; accepted are Rewrite, Block, Replace"),
    (answers_a_text, "it answers str, which is no decision; accepted are Rewrite, Block, Replace"),
    (takes_nothing, "it cannot be called with the event alone: too many positional arguments"),
    (takes_two, "it cannot be called with the event alone: missing a required argument: 'other'"),
    (yields, "it yields, and an answer is returned"),
    (yields_later, "it yields, and an answer is returned"),
]


@pytest.mark.parametrize(("function", "problem"), REFUSED)
def test_what_can_never_work_is_refused_when_it_is_bound(function: Any, problem: str) -> None:
    with pytest.raises(BindError) as caught:
        Hooks().on(PreToolCall)(function)

    assert str(caught.value) == f"hook {function.__name__!r} cannot be bound to PreToolCall: {problem}"


def test_an_event_that_accepts_nothing_says_so() -> None:
    def blocks(event: ToolRan) -> Block:
        raise NotImplementedError

    anything: Any = blocks
    with pytest.raises(BindError, match="it answers Block; accepted are nothing but a pass"):
        Hooks().on(ToolRan)(anything)


class Stern(Block, frozen=True):
    """A program's own kind of block."""


def stern(event: PreToolCall) -> Stern:
    raise NotImplementedError


def any_event(event: Event) -> Block | None:
    raise NotImplementedError


def one_of_two(event: ToolFinished | PreToolCall) -> Rewrite | None:
    raise NotImplementedError


def not_annotated(event): ...  # type: ignore[no-untyped-def]


def nowhere(event: "NoSuchEvent") -> "NoSuchDecision": ...  # type: ignore[name-defined] # noqa: F821


def anything(event: Any) -> Any:
    raise NotImplementedError


def any_decision(event: PreToolCall) -> Decision | None:
    raise NotImplementedError


@pytest.mark.parametrize("function", [stern, any_event, one_of_two, not_annotated, nowhere, anything, any_decision])
def test_what_may_work_is_bound(function: Any) -> None:
    Hooks().on(PreToolCall)(function)


def test_what_is_no_event_is_refused() -> None:
    for event in (str, Block, EVENT):
        wrong: Any = event
        with pytest.raises(BindError, match="it is no event"):
            Hooks().on(wrong)(lambda event: None)


def test_closed_needs_an_event_that_can_be_blocked() -> None:
    with pytest.raises(BindError, match="needs an event that accepts a block or a refusal"):
        Hooks().on(PermissionRequest, on_error="closed")(lambda event: None)
