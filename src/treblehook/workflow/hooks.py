"""Hooks before a step (vera.md 7.2): an event of their own, asked by the engine as a chain that shares 60 seconds."""

import reprlib
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, ClassVar, Final, Self

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from treblehook.contracts.python.functions import asking, name_of
from treblehook.contracts.vera.checks import text
from treblehook.engine import Background, Dispatcher, Handler, HookFailed, Journal, Lane, OnFailure, Origin, Registry, Tier
from treblehook.engine.handler import Ask
from treblehook.lifecycle import Accepts, Block, Decision, Event, Fold, Rewrite
from treblehook.workflow.command import CommandHook
from treblehook.workflow.errors import WorkflowError
from treblehook.workflow.values import json_value

Payload = dict[str, Any]
StepHook = Callable[[Payload], Payload | Awaitable[Payload]]
"""Gets the payload, answers a dict with a `power`: `observe`, `mutate`, `block` or `replace`."""

SECONDS: Final = 60.0


class NewArguments(Rewrite, frozen=True):
    """Other arguments for the step, and for the hooks that follow."""

    args: list[Any] | UnsetType = UNSET
    kwargs: dict[str, Any] | UnsetType = UNSET


class Result(Decision, frozen=True):
    """The step's body is not run; this is its result. It stands in a list, since it may be anything."""

    value: list[Any]


class StepStarting(Event, Accepts[NewArguments | Block | Result], frozen=True, kw_only=True):
    """A step that the journal has no result for is about to run."""

    fold: ClassVar[Fold] = Fold.CHAIN
    run_id: str
    workflow: str
    step: str
    key: str
    args: list[Any]
    kwargs: dict[str, Any]
    journal_dir: str
    inbox: dict[str, Any]

    def rewritten(self, change: Rewrite) -> Self:
        """The step with the arguments that were given; the others stay."""
        assert isinstance(change, NewArguments), "the event accepts no other rewrite"
        given = {name: value for name in ("args", "kwargs") if (value := getattr(change, name)) is not UNSET}
        return replace(self, **given)


def step_hooks(given: StepHook | Sequence[StepHook] | None) -> tuple[StepHook, ...]:
    """One hook or several as a chain. Raises TypeError for anything else."""
    if given is None:
        return ()
    if callable(given):
        return (given,)
    if not isinstance(given, Sequence) or not all(map(callable, given)):
        raise TypeError(f"prepare_step is {given!r}; it must be a function, or a sequence of functions")
    return tuple(given)


async def prepare(event: StepStarting, hooks: Iterable[StepHook]) -> StepStarting | Result:
    """The step as it is to run, or its result. Raises `WorkflowError` of kind `hook` where a hook blocks it or fails."""
    registry = Registry()
    for hook in hooks:
        registry.add(_handler(hook))
    outcome = await Dispatcher(registry, background=Background(), journal=Journal(on=False)).fire(event)
    if outcome.blocked is not None and outcome.by is not None:
        reason = outcome.blocked.reason
        raise WorkflowError("hook", reason if outcome.failure is not None else f"{outcome.by.name} blocked the step {event.step}: {reason}")
    return outcome.decision if isinstance(outcome.decision, Result) else outcome.value


def _handler(hook: StepHook) -> Handler:
    return Handler(
        StepStarting,
        _asking(hook),
        name=name_of(hook),
        origin=Origin("vera", "pre_step"),
        tier=Tier.PYTHON,
        lane=Lane("steps", SECONDS),
        on_failure=OnFailure.CLOSED,
    )


def _asking(hook: StepHook) -> Ask:
    call = asking(hook.answer if isinstance(hook, CommandHook) else hook, in_thread=True)

    async def ask(event: StepStarting) -> Decision | None:
        try:
            return _decided(await call(_payload(event)))
        except WorkflowError as error:
            raise HookFailed(error.message) from error
        except SystemExit as error:
            raise HookFailed(f"it called sys.exit({error.code!r})") from error

    return ask


def _payload(event: StepStarting) -> Payload:
    """A copy for each hook, so that none changes what another one sees."""
    payload: Payload = json_value(
        {
            "type": "pre_step",
            "run_id": event.run_id,
            "workflow": event.workflow,
            "step": event.step,
            "key": event.key,
            "args": event.args,
            "kwargs": event.kwargs,
            "journal_dir": event.journal_dir,
            "inbox": event.inbox,
        },
        "the payload",
    )
    return payload


def _decided(answer: Any) -> Decision | None:
    if not isinstance(answer, dict):
        raise HookFailed(f"returned {reprlib.repr(answer)}; it must be a dict with a power")
    match answer.get("power"):
        case "observe":
            return None
        case "block":
            return Block(text(answer, "reason"))
        case "replace" if "result" in answer:
            return Result([answer["result"]])
        case "replace":
            raise HookFailed("replaced the step without a result; None is one")
        case "mutate":
            return _new_arguments(answer)
    raise HookFailed(f"its power is {reprlib.repr(answer.get('power'))}; allowed here: observe, mutate, block, replace")


def _new_arguments(answer: Payload) -> NewArguments:
    given = {name: json_value(answer[name], f"its {name}") for name in ("args", "kwargs") if name in answer}
    if not isinstance(given.get("args", []), list):
        raise HookFailed(f"its args is {reprlib.repr(given['args'])}; it must be a list")
    if not isinstance(given.get("kwargs", {}), dict):
        raise HookFailed(f"its kwargs is {reprlib.repr(given['kwargs'])}; it must be a dict")
    return NewArguments(**given)
