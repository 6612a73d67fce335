"""What a host may set for its sessions' turns and tasks, and what it is told of them."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.nest import Nest, bash, texts
from tests.support.rows import Rows
from treblehook.agent.policy import Policy, TaskKeeper, TaskName
from treblehook.agent.seed import Measured, Seed
from treblehook.lifecycle import (
    Artifact,
    ContextFull,
    Message,
    ModelRequest,
    ModelResponse,
    Reopen,
    ReplaceContext,
    SeedContext,
    SessionStart,
    TaskEnd,
    TaskStart,
)

FULL = {"usage": {"input": 99_000, "output": 1_000}}
MAP = Message("user", "Here is the map.")


class Keeper(TaskKeeper):
    """Keeps what it is told; `retold` is the text of a task that is done again."""

    def __init__(self, retold: str | None = None) -> None:
        self.retold = retold
        self.told: list[Any] = []

    def name(self) -> TaskName:
        return TaskName("tsk_1", "ctx_1", "letter", 7)

    def count(self, text: str) -> int:
        return len(text)

    def seeded(self, seed: Seed) -> None:
        self.told.append(("seeded", seed.outcome, seed.reason))

    def reopened(self, hook: str, feedback: str) -> str | None:
        self.told.append(("reopened", hook, feedback))
        return self.retold

    def exhausted(self, hook: str) -> None:
        self.told.append(("exhausted", hook))

    def compacted(self, before: int, after: int, messages: tuple[Message, ...]) -> None:
        self.told.append(("compacted", before, [message.text for message in messages]))

    def not_compacted(self, tokens: int, reason: str) -> None:
        self.told.append(("not compacted", tokens, reason))


async def opened(nest: Nest, rows: Rows, keeper: Keeper, **policy: Any) -> Any:
    session = await nest.open(hooks=rows.hooks)
    session.state.policy = Policy(**policy)
    session.state.keeper = keeper
    return session


async def test_a_task_has_the_name_that_its_keeper_gives_it(nest: Nest, rows: Rows) -> None:
    session = await opened(nest, rows, Keeper(), seed_budget=0.1)
    session.state.window = 1005

    await session.prompt("dig")

    start = rows.only(TaskStart)
    assert (start.task, start.context, start.source, start.prior_tokens) == ("tsk_1", "ctx_1", "letter", 7)
    assert (start.budget_tokens, start.context_window) == (100, 1005)
    assert rows.only(TaskEnd).task == "tsk_1"


async def test_what_is_told_anew_takes_the_place_of_all_that_was_asked(nest: Nest, rows: Rows) -> None:
    nest.plays(bash("echo sand"), {"text": "Done."}, routes=[{"match": "again", "turns": [{"text": "Really."}]}])
    rows.on(TaskStart, SeedContext((MAP,)))
    rows.on(TaskEnd, lambda event: Reopen("no chest") if len(rows.of(TaskEnd)) == 1 else None, name="captain")
    session = await opened(nest, rows, keeper := Keeper("dig again"))

    end = await session.prompt("dig")

    assert end.text == "Really."
    assert texts(nest.queries[-1]) == [MAP.text, "dig again"]
    assert keeper.told == [("seeded", "seeded", ""), ("reopened", "captain", "no chest")]
    # A hook that rewrites the prompt is asked about the new one.
    assert [event.prompt for event in rows.of(ModelRequest)] == ["dig", "dig", "dig again"]


async def test_a_compaction_is_forgotten_where_a_task_is_told_anew(nest: Nest, rows: Rows) -> None:
    nest.settings("[model]\ncontext_window = 100000\n")
    nest.plays(bash("echo sand") | FULL, {"text": "Done."}, routes=[{"match": "again", "turns": [{"text": "Really."}]}])
    rows.on(ContextFull, ReplaceContext((Message("user", "shorter"),)))
    rows.on(TaskEnd, lambda event: Reopen("no chest") if len(rows.of(TaskEnd)) == 1 else None)
    session = await opened(nest, rows, Keeper("dig again"))

    await session.prompt("dig")

    assert texts(nest.queries[1])[0] == "shorter"
    assert texts(nest.queries[-1]) == ["dig again"]


async def test_a_failed_task_may_be_done_again(nest: Nest, rows: Rows) -> None:
    nest.plays({"status": 400}, routes=[{"match": "again", "turns": [{"text": "Done."}]}])
    rows.on(TaskEnd, lambda event: Reopen("try") if len(rows.of(TaskEnd)) == 1 else None)
    session = await opened(nest, rows, Keeper("dig again"), reopens_failed=True)

    end = await session.prompt("dig")

    assert (end.status, end.text) == ("finished", "Done.")
    assert [event.exit_status for event in rows.of(TaskEnd)] == ["failed", "ok"]


async def test_a_task_without_requests_left_is_not_done_again(nest: Nest, rows: Rows) -> None:
    nest.plays(bash("true"), {"text": "Done."})
    rows.on(TaskEnd, Reopen("again"), name="captain")
    session = await opened(nest, rows, keeper := Keeper(), max_requests=2, max_reopens=9)

    assert (await session.prompt("dig")).status == "failed"
    assert keeper.told == [("exhausted", "captain")]


async def test_artifacts_of_the_last_reply_only(nest: Nest, rows: Rows) -> None:
    nest.plays(bash("true"), {"text": "Done."})
    rows.on(ModelResponse, lambda event: Artifact(event.decision), name="scribe")
    session = await opened(nest, rows, Keeper(), final_artifacts=True)

    await session.prompt("dig")

    assert [record["content"] for record in nest.ears.of("artifact")] == ["end_turn"]


async def test_without_a_summary_only_a_hook_makes_a_conversation_shorter(nest: Nest, rows: Rows) -> None:
    nest.settings("[model]\ncontext_window = 100000\n")
    nest.plays(bash("true") | FULL, {"text": "Done."} | FULL)
    session = await opened(nest, rows, keeper := Keeper(), summarises=False, compact_every_reply=True, compact_after=0.0)

    assert (await session.prompt("dig")).status == "finished"

    assert keeper.told == [("not compacted", 100_000, "no_hook_replacement")] * 2
    assert len(nest.queries) == 2

    rows.on(ContextFull, ReplaceContext((Message("user", "shorter"),)))
    keeper.told.clear()
    other = await opened(nest, rows, keeper, summarises=False, compact_every_reply=True, compact_after=0.0)
    await other.prompt("dig")

    assert keeper.told == [("compacted", 100_000, ["shorter"])] * 2
    assert [event.reason for event in rows.of(SessionStart)].count("compacted") == 2


async def test_the_first_look_is_at_the_first_reply(nest: Nest, rows: Rows) -> None:
    nest.settings("[model]\ncontext_window = 1000\n")
    nest.plays({"text": "Done."} | FULL)
    session = await opened(nest, rows, keeper := Keeper(), summarises=False, compact_every_reply=True, compact_after=0.0)

    await session.prompt("x" * 10_000)

    assert rows.log().index("ContextFull") > rows.log().index("ModelResponse")
    assert len(keeper.told) == 1


@given(st.lists(st.integers(0, 120), max_size=12), st.integers(0, 200))
def test_a_seed_never_takes_more_than_its_budget(sizes: Sequence[int], budget: int) -> None:
    messages = [Message("user", "x" * size, id=str(at)) for at, size in enumerate(sizes)]
    measured = Measured("memory", messages, budget, len)
    refusal = measured.refusal()

    assert measured.proposed == sum(map(measured.size, messages))
    if refusal:
        assert budget == 0 or any(measured.size(m) > budget for m in messages) or measured.proposed > 4 * budget
        return
    trimmed = measured.trimmed(measured.dropped())
    assert trimmed.tokens == sum(map(measured.size, trimmed.messages)) <= budget
    # The newest, and as many of them as fit.
    assert trimmed.messages == tuple(messages[len(messages) - len(trimmed.messages) :])
    left = len(messages) - len(trimmed.messages)
    assert left == 0 or trimmed.tokens + measured.size(messages[left - 1]) > budget
    summary = [Message("user", "summary")]
    behind = measured.behind(summary, measured.dropped())
    assert behind.tokens <= budget
    assert behind.outcome == ("rejected" if measured.size(summary[0]) > budget else "compacted")


@pytest.mark.parametrize("part", [0.0, 0.1, 1.0])
async def test_a_seed_is_named_before_its_keeper_hears_of_it(nest: Nest, rows: Rows, part: float) -> None:
    rows.on(TaskStart, SeedContext((MAP,)))
    session = await opened(nest, rows, keeper := Keeper(), seed_budget=part)
    session.state.window = 10_000

    await session.prompt("dig")

    assert keeper.told == [("seeded", "rejected", "no_budget") if part == 0.0 else ("seeded", "seeded", "")]
