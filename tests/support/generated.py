"""Handlers drawn at random, for events of every fold: what they are bound with, how long they take, what they do."""

import asyncio
from collections.abc import Collection
from typing import Any, Final

from hypothesis import strategies as st
from msgspec import Struct

from tests.support.hooks import CALL, deaf
from tests.support.virtual import block
from treblehook.engine import (
    DETACHED,
    INLINE,
    Answer,
    Detached,
    Handler,
    HookNotStarted,
    HookTimedOut,
    Inline,
    Lane,
    Mode,
    OnFailure,
    Origin,
    Queued,
    Tier,
)
from treblehook.lifecycle import (
    AddContext,
    Allow,
    Ask,
    BeforeExecute,
    Block,
    Decision,
    Deny,
    Environment,
    Event,
    Fold,
    Inject,
    Message,
    NoteCreated,
    PermissionRequest,
    PreToolCall,
    PromptSubmitted,
    Refuse,
    Replace,
    Rewrite,
    SeedContext,
    SessionStart,
    Stop,
    TaskStart,
    ToolFinished,
    ToolGate,
    TurnComplete,
)

EVENTS: Final[list[tuple[Event, list[Decision]]]] = [
    (
        PromptSubmitted(prompt="p", model="m", tools=("a", "b", "c", "bash", "process")),
        [
            AddContext("one"),
            AddContext("two", display="shown"),
            AddContext(""),
            Rewrite(model="n"),
            Rewrite(tools=("a", "b")),
            Rewrite(tools=("b", "bash"), context=AddContext("three")),
            Rewrite(effort="high", context=AddContext("")),
            Block("no"),
        ],
    ),
    (PreToolCall(call=CALL), [Rewrite(input={"n": 1}), Rewrite(input={"n": 2}), Rewrite(), Replace("r"), Block("no")]),
    (ToolFinished(call=CALL, content="c"), [Rewrite(content="d"), Rewrite(content="e", is_error=True), Rewrite(is_error=False)]),
    (PermissionRequest(call=CALL), [Allow(), Deny("no"), Ask()]),
    (SessionStart(), [AddContext("one"), AddContext("two"), AddContext(""), Refuse("no"), Refuse("never")]),
    (TaskStart(task="t"), [SeedContext(()), SeedContext((Message("user", "m"),))]),
    (TurnComplete(outcome="completed", turns=1), [Inject("one"), Inject("two", "user_suffix"), Inject("")]),
    (BeforeExecute(call=CALL), [Environment({"A": "1"}), Environment({"A": "2", "B": "3"}), Environment({"B": "4"}), Environment({})]),
    (ToolGate(call=CALL, input_json="{}"), [Refuse("no"), Refuse(" ")]),
    (NoteCreated(path="Daily/a.md", title="a"), [Stop()]),
]
"""One event of every fold (and of every kind of gather), with what a handler of it may answer."""

LANES: Final = (None, Lane("untimed"), Lane("timed", 4.5))


class Spec(Struct, frozen=True):
    """One handler. It takes `delay` seconds (asleep, or with `blocks` keeping the loop to itself; `deaf` to being cancelled),
    then gives `act`: an answer or an exception. `when` is what its condition says, or the exception that it raises."""

    name: str
    tier: Tier
    priority: int
    act: Any
    lane: Lane | None = None
    on_failure: OnFailure = OnFailure.OPEN
    mode: Mode = Mode.ON
    delivery: Inline | Queued | Detached = INLINE
    pattern: str | None = None
    when: bool | Exception | None = None
    timeout: float | None = None
    delay: float = 0
    blocks: bool = False
    deaf: bool = False

    def handler(self, event: type[Event]) -> Handler:
        async def ask(event: Event) -> Any:
            if self.blocks:
                block(self.delay)
            elif self.deaf:
                await deaf(self.delay)(event)
            elif self.delay:
                await asyncio.sleep(self.delay)
            if isinstance(self.act, BaseException):
                raise self.act
            return self.act

        def when(event: Event) -> bool:
            if isinstance(self.when, Exception):
                raise self.when
            assert self.when is not None
            return self.when

        return Handler(
            event,
            ask,
            name=self.name,
            origin=Origin("test", event.__name__),
            tier=self.tier,
            priority=self.priority,
            pattern=self.pattern,
            timeout=self.timeout,
            lane=self.lane,
            on_failure=self.on_failure,
            delivery=self.delivery,
            mode=self.mode,
            when=None if self.when is None else when,
        )


def acts(event: Event, decisions: list[Decision]) -> st.SearchStrategy[Any]:
    """What a handler may do: pass, answer (often), answer what it may not, fail in every way."""
    bad = next(decision for decision in (Block("bad"), Allow()) if not isinstance(decision, event.accepts))
    not_one: Any = 5
    failures = [ValueError("broke"), HookNotStarted("no file"), HookTimedOut(9.0), asyncio.CancelledError(), bad, not_one, Answer(not_one)]
    answers = [*decisions, *(Answer(decision, "raw") for decision in decisions)]
    return st.none() | st.sampled_from(answers) | st.sampled_from(answers) | st.sampled_from(failures)


@st.composite
def cases(
    draw: st.DrawFn, /, *, folds: Collection[Fold] = tuple(Fold), timed: bool = True, modes: bool = True, background: bool = True
) -> tuple[Event, list[Spec]]:
    """An event, and handlers for it in the order of registration; without `timed` nothing takes any time."""
    event, decisions = draw(st.sampled_from([(event, decisions) for event, decisions in EVENTS if event.fold in folds]))
    policies = [OnFailure.OPEN, OnFailure.ABORT] + ([OnFailure.CLOSED] if type(event).strictest("") else [])
    patterns = [None, "bash", "b*", "!bash", "Daily/*", "x*"] if event.targeted else [None]
    deliveries: list[Inline | Queued | Detached] = [INLINE]
    # Who keeps the loop to itself makes those late that run beside it; the model knows of no such thing.
    hogs = timed and draw(st.booleans())
    if background and not hogs and event.fold in (Fold.NOTIFY, Fold.GATHER):
        deliveries = [INLINE, INLINE, INLINE, Queued(), DETACHED]
    found = []
    for number in range(draw(st.integers(0, 7))):
        delivery = draw(st.sampled_from(deliveries))
        spec = Spec(
            name=f"h{number}",
            tier=draw(st.sampled_from(Tier)),
            priority=draw(st.sampled_from([-1, 5, 100])),
            act=draw(acts(event, decisions)),
            lane=draw(st.sampled_from(LANES if timed else LANES[:2])),
            on_failure=draw(st.sampled_from(policies)) if delivery == INLINE else OnFailure.OPEN,
            mode=draw(st.sampled_from(Mode)) if modes and event.fold is not Fold.GATE else Mode.ON,
            delivery=delivery,
            pattern=draw(st.sampled_from(patterns)),
            when=draw(st.sampled_from([None, None, None, True, False, ValueError("when")])),
            timeout=draw(st.sampled_from([None, None, 2.5])) if timed else None,
            delay=draw(st.sampled_from([0, 0, 1, 3])) if timed else 0,
            blocks=draw(st.booleans()) if hogs else False,
            deaf=draw(st.booleans()) if timed else False,
        )
        found.append(spec)
    return event, found
