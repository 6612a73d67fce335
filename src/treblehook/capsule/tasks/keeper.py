"""What becomes of a launch's tasks: the agent tells, and it is written down (murmur.md 6)."""

import msgspec

from treblehook.agent.models.model import ModelQuery
from treblehook.agent.policy import TaskKeeper, TaskName
from treblehook.agent.seed import Seed
from treblehook.agent.state import SessionState
from treblehook.agent.transcript.ids import new_id
from treblehook.capsule.counted_model import request_tokens
from treblehook.capsule.tasks.task_md import Reopening, reopened_text
from treblehook.capsule.trace.faults import Faults
from treblehook.capsule.trace.file import TraceFile
from treblehook.capsule.trace.witness import Witness
from treblehook.capsule.workdir import Workdir, append_private, write_private
from treblehook.home.components.desk import TaskDesk
from treblehook.host.tokens import TokenCounter
from treblehook.lifecycle import Message

SEED_REJECTED = "seed-rejected"


class CapsuleTasks(TaskKeeper):
    """The tasks of one launch; all run in one context. `exhausted_by` names the hook that wanted to reopen the task once too often.

    Where `dump_summaries` is set, what replaced a conversation is kept in `out/`.
    """

    def __init__(
        self, workdir: Workdir, trace: TraceFile, desk: TaskDesk, witness: Witness, tokens: TokenCounter, *, dump_summaries: bool
    ) -> None:
        self.context = new_id("ctx")
        self.prior_tokens = 0
        self.reopens: list[Reopening] = []
        self.exhausted_by = ""
        self._workdir = workdir
        self._trace = trace
        self._desk = desk
        self._witness = witness
        self._faults: Faults = witness.faults
        self._tokens = tokens
        self._dump_summaries = dump_summaries
        self._state: SessionState | None = None

    def follow(self, state: SessionState) -> None:
        """Look at the conversation of this session."""
        self._state = state

    def take(self, text: str, prior_tokens: int) -> str:
        """The next task; answers its id. Raises `OSError` where its text cannot be written."""
        task_id = new_id("tsk")
        self._desk.put(task_id, text)
        self.prior_tokens = prior_tokens
        self.reopens = []
        self.exhausted_by = ""
        write_private(self._workdir.task, text)
        return task_id

    def name(self) -> TaskName:
        """The task that was taken."""
        return TaskName(self._desk.task_id or "", self.context, "task_md", self.prior_tokens)

    def count(self, text: str) -> int:
        """As the launch counts."""
        return self._tokens.count(text)

    def seeded(self, seed: Seed) -> None:
        """Trace it; a rejected one is the fault of its hook."""
        problem = self._trace.try_write(
            "context_seed",
            self._trace.task,
            task_id=self._desk.task_id,
            hook_name=seed.hook,
            tokens=seed.tokens,
            proposed_tokens=seed.proposed,
            budget_tokens=seed.budget,
            outcome=seed.outcome,
            reason=seed.reason or None,
            message_ids=[message.id for message in seed.messages],
        )
        told = f"the seed of {seed.hook}: {seed.outcome}{f' ({seed.reason})' if seed.reason else ''}, "
        self._workdir.bootstrap(f"{told}{seed.tokens} of {seed.proposed} tokens, budget {seed.budget}")
        if seed.outcome == "rejected":
            self._faults.log(seed.hook, f"hook '{seed.hook}' on-task-start: its seed was rejected: {seed.reason}")
            self._faults.fault(seed.hook, "on-task-start", SEED_REJECTED)
        self._untraced(problem)

    def reopened(self, hook: str, feedback: str) -> str:
        """Write the task anew, with everything that was said about it so far."""
        self.reopens.append(Reopening(hook, feedback))
        number = len(self.reopens)
        fields = {"task_id": self._desk.task_id, "hook_name": hook, "reason": feedback, "reopen_number": number}
        self._untraced(self._trace.try_write("task_reopened", self._trace.task, **fields))
        text = reopened_text(self._desk.original, self.reopens)
        write_private(self._workdir.task, text)
        self._desk.again(text)
        return text

    def exhausted(self, hook: str) -> None:
        """Remember whose wish it was."""
        self.exhausted_by = hook

    def compacted(self, before: int, after: int, messages: tuple[Message, ...]) -> None:
        """Trace it, with the launch's own count of what it is now."""
        if self._state is not None:
            state = self._state
            now = ModelQuery(state.system, tuple(state.conversation.messages), tuple(state.tools.values()))
            after = request_tokens(now, self._tokens.count)
        turn = self._witness.turn
        fields = {"turn": turn, "task_id": self._desk.task_id, "tokens_before": before, "tokens_after": after}
        self._untraced(self._trace.try_write("compaction", self._trace.nearest, **fields))
        if self._dump_summaries:
            summary = "\n\n".join(message.text for message in messages)
            line = {"turn": turn, "tokens_before": before, "tokens_after": after, "summary": summary}
            self._dump(msgspec.json.encode(line).decode("utf-8", "replace"))

    def _dump(self, line: str) -> None:
        try:
            append_private(self._workdir.out / "compaction-summaries.jsonl", f"{line}\n")
        except OSError as error:
            self._workdir.bootstrap(f"a summary could not be kept: {error}")

    def not_compacted(self, tokens: int, reason: str) -> None:
        """Trace it."""
        turn = self._witness.turn
        fields = {"turn": turn, "task_id": self._desk.task_id, "tokens": tokens, "reason": reason}
        problem = self._trace.try_write("compaction_declined", self._trace.nearest, **fields)
        self._workdir.bootstrap(f"the conversation of {tokens} tokens was not compacted: {reason}")
        self._untraced(problem)

    def _untraced(self, problem: str) -> None:
        if problem:
            self._workdir.bootstrap(f"not traced: {problem}")
