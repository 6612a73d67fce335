"""The tasks of a launch, one after another, in one session (murmur.md 1, 4.2)."""

from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct

from treblehook.agent.session import Session
from treblehook.agent.steps import TurnEnd
from treblehook.agent.transcript import TranscriptFailed
from treblehook.capsule.counted_model import unnamed
from treblehook.capsule.tasks.keeper import CapsuleTasks
from treblehook.capsule.trace.witness import Witness
from treblehook.capsule.workdir import Workdir, write_private
from treblehook.home.components.desk import TaskDesk


class TaskOutcome(Struct, frozen=True):
    """How a task ended: the contract's word for it, and the turn's end."""

    task_id: str
    exit_status: str
    end: TurnEnd


class Runner:
    """Takes tasks. `outcomes` are those of the tasks that are over; `ended` is called with the end of each."""

    def __init__(
        self,
        session: Session,
        keeper: CapsuleTasks,
        desk: TaskDesk,
        witness: Witness,
        workdir: Workdir,
        ended: Callable[[TurnEnd], None],
        *,
        threaded: bool,
    ) -> None:
        self.outcomes: list[TaskOutcome] = []
        self._session = session
        self._keeper = keeper
        self._desk = desk
        self._witness = witness
        self._workdir = workdir
        self._ended = ended
        self._threaded = threaded

    async def take_all(self, tasks: Sequence[str]) -> None:
        """Take the tasks in order; one that fails does not keep the next from its turn. Raises `TranscriptFailed` where a file of the
        launch cannot be written."""
        opening = list(self._session.state.conversation.messages)
        try:
            for number, text in enumerate(tasks):
                if number and not self._threaded:
                    self._session.state.conversation.restart(opening)
                    self._session.state.recorder.restarted(opening)
                await self._take(text, prior=self._prior() if number and self._threaded else 0)
        except OSError as error:
            raise TranscriptFailed(self._workdir.task, error.strerror or str(error)) from error

    def _prior(self) -> int:
        """Tokens of what has been said in earlier tasks."""
        messages = [unnamed(message) for message in self._session.state.conversation.messages]
        return self._keeper.count(msgspec.json.encode(messages).decode())

    async def _take(self, text: str, *, prior: int) -> None:
        task_id = self._keeper.take(text, prior)
        end = TurnEnd("failed", reason="it broke off")
        try:
            end = await self._session.prompt(text)
        finally:
            await self._over(task_id, end)
        self._ended(end)

    async def _over(self, task_id: str, end: TurnEnd) -> None:
        # What hooks are told of a turn that was stopped.
        await self._session.state.quiet(2.0)
        outcome = TaskOutcome(task_id, self._exit_status(end), end)
        self.outcomes.append(outcome)
        self._desk.clear()
        problem = self._witness.task_over(task_id, outcome.exit_status, len(self._keeper.reopens))
        if problem:
            self._workdir.bootstrap(f"the end of {task_id} could not be traced: {problem}")
        if end.status == "finished":
            self._write_result(task_id, end.text)

    def _exit_status(self, end: TurnEnd) -> str:
        if end.status == "finished":
            return "ok"
        if self._keeper.exhausted_by:
            return "reopen_budget_exhausted"
        return self._witness.attempt_ended if self._witness.attempt_ended != "ok" else "failed"

    def _write_result(self, task_id: str, text: str) -> None:
        try:
            write_private(self._workdir.out / "result.txt", text)
            if self._threaded:
                write_private(self._workdir.out / f"result_{task_id}.txt", text)
        except OSError as error:
            self._workdir.bootstrap(f"the result of {task_id} could not be written: {error}")
