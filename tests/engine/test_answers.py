"""What counts as an answer, and how the ways of giving none are told apart."""

from typing import Any

import pytest

from tests.support.hooks import CALL, Rig, stub
from tests.support.virtual import run
from treblehook.engine import Answer, Ended, HookFailed, HookNotStarted, HookProblem, HookTimedOut, OnFailure, Registry
from treblehook.lifecycle import (
    AddContext,
    Allow,
    BeforeExecute,
    Block,
    CompactionStarting,
    ContextAssembled,
    Environment,
    Event,
    Inject,
    Message,
    ModelRequest,
    PermissionRequest,
    PreToolCall,
    PromptSubmitted,
    Refuse,
    Replace,
    Rewrite,
    ToolGate,
    ToolRan,
    TurnComplete,
)

TOOL = PreToolCall(call=CALL)
PROMPT = PromptSubmitted(prompt="p", tools=("read",))


class Stern(Block, frozen=True):
    """A user's own kind of block."""

    weight: object = None


def asked(event: Event, given: Any, **options: Any) -> Rig:
    rig = Rig(stub(type(event), given, **options))
    run(rig.fire(event), collect=False)
    rig.check_journal()
    return rig


def wrong(value: Any) -> Any:
    """A value that a type checker would have refused in its place."""
    return value


GOOD = [
    (TOOL, None, Ended.PASSED),
    (TOOL, Answer(None, "said nothing of weight"), Ended.PASSED),
    (TOOL, Block("no"), Ended.ANSWERED),
    (TOOL, Answer(Block("no"), "NO!"), Ended.ANSWERED),
    (TOOL, Stern("no"), Ended.ANSWERED),
    (TOOL, Rewrite(), Ended.ANSWERED),
    (PROMPT, Rewrite(tools=("read",), context=AddContext("x")), Ended.ANSWERED),
    (CompactionStarting(reason="manual", tokens=1), None, Ended.PASSED),
]


@pytest.mark.parametrize(("event", "given", "ended"), GOOD)
def test_answers_that_count(event: Event, given: Any, ended: Ended) -> None:
    call = asked(event, given).journal.calls[0]

    assert (call.ended, call.error) == (ended, None)
    assert call.decision == (given.decision if isinstance(given, Answer) else given)
    assert call.raw == (given.raw if isinstance(given, Answer) else None)


BAD: list[tuple[Event, Any, str]] = [
    (TOOL, 5, "answered 5, which is not a decision"),
    (TOOL, False, "answered False, which is not a decision"),
    (TOOL, "", "answered '', which is not a decision"),
    (TOOL, Block, "answered <class 'treblehook.lifecycle.decisions.Block'>, which is not a decision"),
    (TOOL, Answer(wrong(Answer(Block("no")))), "answered Answer(decision=Block(reason='no'), raw=None), which is not a decision"),
    (TOOL, Allow(), "answered Allow; PreToolCall accepts Rewrite, Block, Replace"),
    (TOOL, Refuse("no"), "answered Refuse; PreToolCall accepts Rewrite, Block, Replace"),
    (TOOL, AddContext("x"), "answered AddContext; PreToolCall accepts Rewrite, Block, Replace"),
    (TOOL, Rewrite(prompt="x", content="y"), "rewrote content, prompt; PreToolCall lets it rewrite input"),
    (TOOL, Rewrite(context=AddContext("x")), "added context; PreToolCall accepts none"),
    (TOOL, Rewrite(input=wrong([1])), "answered a Rewrite that is none: Expected `object`, got `array` - at `$.input`"),
    (TOOL, Block(wrong(None)), "answered a Block that is none: Expected `str`, got `null` - at `$.reason`"),
    (TOOL, Stern(wrong(7)), "answered a Block that is none: Expected `str`, got `int` - at `$.reason`"),
    (TOOL, Replace(wrong(3)), "answered a Replace that is none: Expected `str`, got `int` - at `$.content`"),
    (PROMPT, Rewrite(tools=wrong("read")), "answered a Rewrite that is none: Expected `array`, got `str` - at `$.tools`"),
    (ModelRequest(prompt="p"), Rewrite(model="x"), "rewrote model; ModelRequest lets it rewrite prompt"),
    (
        BeforeExecute(call=CALL),
        Environment({"A": wrong(1)}),
        "answered a Environment that is none: Expected `str`, got `int` - at `$.variables[...]`",
    ),
    (
        TurnComplete(outcome="completed", turns=1),
        Inject("x", wrong("middle")),
        "answered a Inject that is none: Invalid enum value 'middle' - at `$.position`",
    ),
    (CompactionStarting(reason="manual", tokens=1), Block("no"), "answered Block; CompactionStarting accepts nothing but a pass"),
    (ToolRan(call=CALL, content="x"), AddContext("x"), "answered AddContext; ToolRan accepts nothing but a pass"),
    (ToolGate(call=CALL, input_json="{}"), Refuse(" \n"), "refused with an empty reason"),
    (ToolGate(call=CALL, input_json="{}"), Block("no"), "answered Block; ToolGate accepts Refuse"),
]


@pytest.mark.parametrize(("event", "given", "error"), BAD)
@pytest.mark.parametrize("options", [{}, {"timeout": 5.0}])
def test_answers_that_are_none(event: Event, given: Any, error: str, options: dict[str, Any]) -> None:
    call = asked(event, given, **options).journal.calls[0]

    assert (call.ended, call.error, call.decision) == (Ended.FAILED, error, None)
    assert call.problem is HookFailed


def test_a_bad_answer_keeps_the_hooks_own_words() -> None:
    call = asked(TOOL, Answer(Allow(), '{"allow": true}')).journal.calls[0]

    assert (call.ended, call.raw) == (Ended.FAILED, '{"allow": true}')


class NoExecutable(HookNotStarted):
    """A contract's own kind of problem."""


PROBLEMS = [
    (HookNotStarted("no such file", raw="x"), Ended.NOT_STARTED, "no such file"),
    (NoExecutable("no such file", raw="x"), Ended.NOT_STARTED, "no such file"),
    (HookFailed("exit status 1", raw="x"), Ended.FAILED, "exit status 1"),
    (HookTimedOut(2.5, raw="x"), Ended.TIMED_OUT, "was still running after 2.5 s, its time limit"),
    (HookTimedOut(60, shared=True, raw="x"), Ended.TIMED_OUT, "was still running after 60 s, the time that its hooks share"),
]


@pytest.mark.parametrize(("problem", "ended", "error"), PROBLEMS)
def test_problems_are_kept_apart(problem: HookProblem, ended: Ended, error: str) -> None:
    call = asked(TOOL, problem).journal.calls[0]

    assert (call.ended, call.error, call.raw) == (ended, error, "x")
    assert call.problem is type(problem)


def test_a_crash_names_the_line_of_the_hooks_file() -> None:
    rig = Rig()

    def crashes(event: PreToolCall) -> None:
        helper(event)

    def helper(event: PreToolCall) -> None:
        event.call.input["missing"]

    handler = stub(PreToolCall, crashes, on_failure=OnFailure.CLOSED, name="guard")
    handler.origin = type(handler.origin)("python", "PreToolCall", __file__, 1)
    rig.add(handler)

    outcome = run(rig.fire(TOOL))

    line = helper.__code__.co_firstlineno + 1
    assert outcome.decision == Block(f"PreToolCall hook guard failed: KeyError: 'missing' ({__file__}:{line})")


class Unprintable(Exception):
    def __str__(self) -> str:
        raise ValueError("and it cannot even say so")


def test_an_exception_that_cannot_be_printed_is_a_failure_too() -> None:
    call = asked(TOOL, Unprintable()).journal.calls[0]

    assert call.ended is Ended.FAILED
    assert call.error is not None
    assert "Unprintable" in call.error


def test_a_function_that_is_no_coroutine_function_and_raises_has_failed() -> None:
    def ask(event: Event) -> Any:
        raise ValueError("at once")

    for timeout in (None, 5.0):
        handler = stub(PreToolCall, timeout=timeout)
        handler.ask = ask
        rig = Rig(handler, registry=Registry())
        run(rig.fire(TOOL))
        assert rig.journal.calls[0].error == "ValueError: at once"


def test_a_condition_is_asked_about_the_event_as_it_is_by_then() -> None:
    seen = []

    def when(event: PreToolCall) -> bool:
        seen.append(event.call.input)
        return False

    rig = Rig(stub(PreToolCall, Rewrite(input={"n": 1})), stub(PreToolCall, Block("no"), when=when))

    assert run(rig.fire(TOOL)).decision is None
    assert seen == [{"n": 1}]
    assert rig.asked == ["hook"]


@pytest.mark.parametrize("policy", list(OnFailure))
def test_a_condition_that_breaks_is_a_failure_of_its_hook(policy: OnFailure) -> None:
    def broken(event: Event) -> bool:
        raise ValueError("broken")

    rig = Rig(stub(PreToolCall, when=broken, on_failure=policy))

    outcome = run(rig.fire(TOOL))

    assert rig.ends == [("hook", Ended.FAILED)]
    assert bool(outcome.blocked) == (policy is OnFailure.CLOSED)


def test_a_condition_that_breaks_at_a_gate_refuses() -> None:
    def broken(event: Event) -> bool:
        raise ValueError("broken")

    assert run(Rig(stub(ToolGate, when=broken)).fire(ToolGate(call=CALL, input_json="{}"))).blocked


def test_messages_in_a_rewrite_may_be_a_list() -> None:
    messages: Any = [Message("user", "x")]

    assert asked(ContextAssembled(messages=()), Rewrite(messages=messages)).ends == [("hook", Ended.ANSWERED)]


def test_a_permission_is_no_block() -> None:
    outcome = run(Rig(stub(PermissionRequest, Allow())).fire(PermissionRequest(call=CALL)))

    assert (outcome.blocked, outcome.replaced) == (None, None)
