"""`@workflow` and `@step`: plain functions that can also be run with a journal."""

import functools
import inspect
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Generic, ParamSpec, TypeVar

from treblehook.contracts.python.loop import loop_is_running
from treblehook.workflow.hooks import StepHook, step_hooks
from treblehook.workflow.journal import Journal
from treblehook.workflow.running import Run, Running, current
from treblehook.workflow.values import json_value

P = ParamSpec("P")
R = TypeVar("R")

_OWN_ARGUMENTS: Final = ("journal_dir", "prepare_step")


class Step(Generic[P, R]):
    """A step. In a run its result comes from the journal, or is recorded there, and is what JSON makes of it; elsewhere it is a
    plain call."""

    def __init__(self, function: Callable[P, R]) -> None:
        self._function = _plain(function)
        functools.update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Raises `WorkflowError` where a hook stops the step or a value is not JSON, and what the function raises."""
        running = current.get()
        if running is None:
            return self._function(*args, **kwargs)
        result: R = running.step(_name(self._function), self._function, args, kwargs)
        return result


class Workflow(Generic[P, R]):
    """A workflow. Called directly it is the plain function; its steps then belong to the run around it, if there is one."""

    def __init__(self, function: Callable[P, R]) -> None:
        self._function = _plain(function)
        if taken := [name for name in _OWN_ARGUMENTS if name in inspect.signature(function).parameters]:
            raise TypeError(f"{_name(function)} has a parameter {taken[0]!r}, which run() takes for itself")
        functools.update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function."""
        return self._function(*args, **kwargs)

    def run(
        self,
        *args: Any,
        journal_dir: str | os.PathLike[str],
        prepare_step: StepHook | Sequence[StepHook] | None = None,
        **kwargs: Any,
    ) -> Run[R]:
        """Start a run with these arguments, which must be JSON. What goes wrong inside is in the answer.

        Raises TypeError for hooks that are none, `WorkflowError` of kind `serialize` for the arguments, `JournalFailed`, and
        RuntimeError inside a running event loop.
        """
        hooks = _hooks(prepare_step)
        kept = json_value([args, kwargs], f"an argument of {_name(self._function)}")
        return self._take(Journal.create(Path(journal_dir), _name(self._function), *kept), hooks)

    def resume(
        self, run_id: str, *, journal_dir: str | os.PathLike[str], prepare_step: StepHook | Sequence[StepHook] | None = None
    ) -> Run[R]:
        """Go on with a run: recorded steps are neither run again nor shown to hooks, which are not kept and must be given again.

        Raises what `run` raises, `RunNotFound` and `RunBusy`.
        """
        hooks = _hooks(prepare_step)
        return self._take(Journal.resume(Path(journal_dir), _name(self._function), run_id), hooks)

    def _take(self, journal: Journal, hooks: tuple[StepHook, ...]) -> Run[R]:
        return Running(_name(self._function), journal, hooks).take(self._function)


def step(function: Callable[P, R]) -> Step[P, R]:
    """Make a function a step. Raises TypeError for a coroutine function."""
    return Step(function)


def workflow(function: Callable[P, R]) -> Workflow[P, R]:
    """Make a function a workflow. Raises TypeError for a coroutine function."""
    return Workflow(function)


def _plain(function: Callable[P, R]) -> Callable[P, R]:
    if not callable(function) or inspect.iscoroutinefunction(function):
        raise TypeError(f"{function!r} is not a plain function; a step that awaits can use asyncio.run inside")
    return function


def _hooks(given: StepHook | Sequence[StepHook] | None) -> tuple[StepHook, ...]:
    hooks = step_hooks(given)
    if hooks and loop_is_running():
        raise RuntimeError("a run with step hooks would stall the event loop that is running here; use: await asyncio.to_thread(...)")
    return hooks


def _name(function: Callable[..., Any]) -> str:
    name: str = getattr(function, "__name__", type(function).__name__)
    return name
