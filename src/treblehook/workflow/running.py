"""One run of a workflow, from its start or a resume to its end, and each step on the way."""

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from contextvars import ContextVar
from typing import Any, Final, Generic, Literal, TypeVar

from msgspec import Struct

from treblehook.workflow.errors import JournalFailed, WorkflowError
from treblehook.workflow.hooks import Result, StepHook, StepStarting, prepare
from treblehook.workflow.journal import Journal
from treblehook.workflow.values import digest, json_value

R = TypeVar("R")


class Run(Struct, Generic[R], frozen=True):
    """What a run came to: `status` is `ok` with a `result`, or `failed` with an `error`. `id` is what `resume` takes."""

    id: str
    status: Literal["ok", "failed"]
    result: R | None = None
    error: WorkflowError | None = None


class Running:
    """A run under way. Its steps are those that are called in its context; a run that is started inside is one of its own."""

    def __init__(self, workflow: str, journal: Journal, hooks: tuple[StepHook, ...]) -> None:
        self._workflow = workflow
        self._journal = journal
        self._hooks = hooks
        self._seen: Counter[str] = Counter()
        self._loop: asyncio.Runner | None = None

    def take(self, body: Callable[..., R]) -> Run[R]:
        """Run the whole. What the program's code raises is in the answer; `JournalFailed` is raised."""
        with ExitStack() as stack:
            stack.callback(self._journal.close)
            if self._hooks:
                self._loop = stack.enter_context(asyncio.Runner())
            token = current.set(self)
            stack.callback(current.reset, token)
            return self._end(body)

    def _end(self, body: Callable[..., R]) -> Run[R]:
        journal = self._journal
        try:
            result = body(*journal.args, **journal.kwargs)
            journal.end("ok", result=json_value(result, f"the result of {self._workflow}"))
        except JournalFailed:
            raise
        except WorkflowError as error:
            failed = error
        except Exception as error:
            failed = WorkflowError("step", f"{type(error).__name__}: {error}")
            failed.__cause__ = error
        else:
            return Run(journal.run_id, "ok", result)
        journal.end("failed", error={"kind": failed.kind, "message": failed.message})
        return Run(journal.run_id, "failed", error=failed)

    def step(self, name: str, body: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a step: the recorded one, or what its hooks and its body come to, which is recorded then.

        Raises `WorkflowError` of kind `hook` or `serialize`, and what the body raises; nothing is recorded then.
        """
        key = self._key(name, json_value([args, kwargs], f"an argument of {name}"))
        if key in self._journal.results:
            return json_value(self._journal.results[key], name)
        prepared = self._prepared(name, key, args, kwargs)
        found = prepared.value[0] if isinstance(prepared, Result) else body(*prepared.args, **prepared.kwargs)
        result = json_value(found, f"the result of {name}")
        self._journal.record(key, name, result)
        return json_value(result, name)

    def _key(self, name: str, arguments: Any) -> str:
        """What a step is known by: its name, its arguments, and how often it has been called with them in this run."""
        place = f"{name}:{digest(arguments)}"
        self._seen[place] += 1
        return f"{place}:{self._seen[place]}"

    def _prepared(self, name: str, key: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> StepStarting | Result:
        event = StepStarting(
            run_id=self._journal.run_id,
            workflow=self._workflow,
            step=name,
            key=key,
            args=list(args),
            kwargs=kwargs,
            journal_dir=str(self._journal.folder),
            inbox=self._journal.inbox,
        )
        return event if self._loop is None else self._loop.run(prepare(event, self._hooks))


current: Final[ContextVar[Running | None]] = ContextVar("treblehook_run", default=None)
"""The run whose steps are called here."""
