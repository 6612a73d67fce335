"""Plain Python functions as hooks."""

import asyncio
import functools
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from treblehook import Block, Hooks, PreToolCall, Rewrite, ToolCall
from treblehook.engine import BindError, Ended, Mode, Registry, Tier
from treblehook.lifecycle import Refuse, ToolGate

EVENT = PreToolCall(session="s1", call=ToolCall("c1", "bash", {"command": "rm x"}))


async def test_the_page_of_the_design() -> None:
    hooks = Hooks()

    @hooks.on(PreToolCall, pattern="bash", priority=5, timeout=2.0, on_error="closed")
    async def guard(event: PreToolCall) -> Block | Rewrite | None:
        if "rm " in event.call.input["command"]:
            return Block("leave the treasure where it is")
        return None

    outcome = await hooks.fire(EVENT)

    assert outcome.blocked == Block("leave the treasure where it is")
    assert outcome.value is EVENT
    assert await guard(EVENT) == outcome.blocked


async def test_a_handler_knows_where_it_comes_from() -> None:
    hooks = Hooks()

    @hooks.on(PreToolCall, pattern="ba*", priority=5, timeout=2.0, on_error="closed", name="treasure")
    async def guard(event: PreToolCall) -> None: ...

    (handler,) = hooks.bind(Registry())

    assert (handler.name, handler.tier, handler.lane, handler.priority, handler.timeout) == ("treasure", Tier.PYTHON, None, 5, 2.0)
    assert (handler.origin.contract, handler.origin.event) == ("python", "PreToolCall")
    assert (handler.origin.file, handler.origin.line) == (__file__, guard.__code__.co_firstlineno)
    assert handler.pattern is not None
    assert handler.pattern.text == "ba*"


def plain(event: PreToolCall) -> Block:
    return Block(threading.current_thread().name)


def with_more(reason: str, event: PreToolCall) -> Block:
    return Block(reason)


async def with_more_later(reason: str, event: PreToolCall) -> Block:
    return Block(reason)


def hands_on(event: PreToolCall) -> Awaitable[Block | None]:
    return with_more_later("awaited", event)


class Guard:
    def __call__(self, event: PreToolCall) -> Block:
        return Block("object")

    def method(self, event: PreToolCall) -> Block:
        return Block("method")

    async def later(self, event: PreToolCall) -> Block:
        return Block("method")


class LateGuard:
    async def __call__(self, event: PreToolCall) -> Block:
        return Block("object")


FUNCTIONS: list[tuple[Callable[[PreToolCall], Any], str, str]] = [
    (plain, "MainThread", "plain"),
    (lambda event: Block("lambda"), "lambda", "<lambda>"),
    (functools.partial(with_more, "partial"), "partial", "with_more"),
    (functools.partial(with_more_later, "partial"), "partial", "with_more_later"),
    (hands_on, "awaited", "hands_on"),
    (Guard(), "object", "Guard"),
    (LateGuard(), "object", "LateGuard"),
    (Guard().method, "method", "method"),
    (Guard().later, "method", "later"),
]


@pytest.mark.parametrize(("function", "reason", "name"), FUNCTIONS)
async def test_functions_of_every_kind(function: Callable[[PreToolCall], Any], reason: str, name: str) -> None:
    hooks = Hooks()
    assert hooks.on(PreToolCall)(function) is function

    outcome = await hooks.fire(EVENT)

    assert outcome.blocked == Block(reason)
    assert outcome.by is not None
    assert outcome.by.name == name
    assert outcome.by.origin.file == __file__


@pytest.mark.parametrize("function", [function for function, _, _ in FUNCTIONS])
async def test_functions_of_every_kind_within_a_time_limit(function: Callable[[PreToolCall], Any]) -> None:
    hooks = Hooks()
    hooks.on(PreToolCall, timeout=60)(function)

    assert (await hooks.fire(EVENT)).blocked


async def test_a_sync_function_without_a_limit_runs_on_the_loop_and_one_with_a_limit_in_a_thread() -> None:
    hooks = Hooks()
    threads = []

    @hooks.on(PreToolCall)
    def on_the_loop(event: PreToolCall) -> None:
        threads.append(threading.current_thread())

    @hooks.on(PreToolCall, timeout=60)
    def in_a_thread(event: PreToolCall) -> None:
        threads.append(threading.current_thread())

    await hooks.fire(EVENT)

    assert threads[0] is threading.current_thread()
    assert threads[1] is not threads[0]
    assert threads[1].daemon


async def test_a_sync_function_that_hangs_is_left_behind() -> None:
    hooks = Hooks()
    release = threading.Event()

    @hooks.on(PreToolCall, timeout=0.05, on_error="closed")
    def hangs(event: PreToolCall) -> None:
        release.wait(60)

    outcome = await hooks.fire(EVENT)

    assert outcome.blocked == Block("PreToolCall hook hangs failed: was still running after 0.05 s, its time limit")
    release.set()


def test_a_thread_that_ends_after_its_loop_bothers_nobody() -> None:
    hooks = Hooks()
    release, ended = threading.Event(), threading.Event()

    @hooks.on(PreToolCall, timeout=0.05)
    def hangs(event: PreToolCall) -> None:
        release.wait(60)
        ended.set()

    asyncio.run(hooks.fire(EVENT))
    release.set()

    assert ended.wait(60)


@pytest.mark.parametrize("timeout", [None, 60])
@pytest.mark.parametrize("error", [ValueError("broke"), StopIteration("broke")])
async def test_what_a_function_raises_is_its_failure(timeout: float | None, error: Exception) -> None:
    hooks = Hooks()

    @hooks.on(PreToolCall, timeout=timeout, on_error="closed")
    def breaks(event: PreToolCall) -> None:
        raise error

    outcome = await hooks.fire(EVENT)

    assert outcome.blocked
    assert hooks.journal.calls[0].ended is Ended.FAILED


async def test_a_failure_names_its_line() -> None:
    hooks = Hooks()

    @hooks.on(PreToolCall)
    async def breaks(event: PreToolCall) -> None:
        event.call.input["no such key"]

    await hooks.fire(EVENT)

    line = breaks.__code__.co_firstlineno + 2
    assert hooks.journal.calls[0].error == f"KeyError: 'no such key' ({__file__}:{line})"


async def test_hooks_are_asked_by_priority_then_in_the_order_of_registration() -> None:
    hooks = Hooks()
    asked: list[str] = []

    def asks(name: str) -> Callable[[PreToolCall], None]:
        return lambda event: asked.append(name)

    for name, priority in (("c", 100), ("d", 100), ("a", -1), ("b", 5)):
        hooks.on(PreToolCall, priority=priority, name=name)(asks(name))

    await hooks.fire(EVENT)

    assert asked == ["a", "b", "c", "d"]


async def test_a_failure_passes_unless_it_is_closed() -> None:
    hooks = Hooks()

    @hooks.on(PreToolCall)
    def breaks(event: PreToolCall) -> None:
        raise ValueError

    assert (await hooks.fire(EVENT)).decision is None


def test_other_policies_are_refused_with_what_is_allowed() -> None:
    policy: Any = "abort"

    with pytest.raises(ValueError, match="on_error is 'abort'; allowed are 'open', 'closed'"):
        Hooks().on(PreToolCall, on_error=policy)


async def test_a_session_takes_them_into_its_own_registry() -> None:
    hooks = Hooks()
    hooks.on(PreToolCall, name="guard")(lambda event: Block("no"))
    hooks.on(ToolGate, name="gate")(lambda event: None)
    first, second = Registry(), Registry()

    bound = hooks.bind(first)
    hooks.bind(second, modes={"guard": Mode.REPORT})

    assert [handler.name for handler in bound] == ["guard", "gate"]
    assert [handler.mode for handler in second.handlers()] == [Mode.REPORT, Mode.ON]
    assert first.handlers() == bound
    with pytest.raises(BindError, match="a gate is always on"):
        hooks.bind(Registry(), modes={"gate": Mode.OFF})


async def test_a_decision_that_the_event_does_not_accept_is_a_failed_call() -> None:
    hooks = Hooks()
    hooks.on(PreToolCall)(anything_goes)

    assert (await hooks.fire(EVENT)).decision is None
    assert hooks.journal.calls[0].ended is Ended.FAILED


def anything_goes(event: Any) -> Any:
    return Refuse("no")
