"""The context: conversations that hooks replace, and seeds under their budget (murmur.md 6.1, 6.2, cases 116 to 127)."""

import json
from typing import Any

import pytest

from tests.support.capsule_rig import CapsuleRig, call, calls
from tests.support.murmur_guests import Arm, Errs, hook
from tests.support.nest import texts
from treblehook.host.tokens import TokenCounter

SUMMARY = Arm("replace-context", [("user", "You have dug.")])
DIG = calls(call("echo", command="sand"))


@pytest.fixture(autouse=True)
def letters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokens are letters, so that every size is known, whatever counts on this machine."""
    monkeypatch.setattr("treblehook.capsule.launch.counter", lambda: TokenCounter("letters", len))


def compacts(rig: CapsuleRig, answer: Any = SUMMARY, *, policy: str = "replace-context", name: str = "compact") -> None:
    rig.hook(name, hook({"on-compaction": answer}), binding="on-compaction", policy=policy)


def tight(rig: CapsuleRig) -> None:
    """A window that the first reply fills."""
    rig.sets(context={"max_tokens": 100})


async def test_case_116_a_summary_is_what_the_next_request_begins_with(rig: CapsuleRig) -> None:
    compacts(rig)
    tight(rig)
    rig.sets(inference={"compaction": {"dump_summaries": True}, "max_turns": 2})
    rig.plays(DIG, {"text": "Done."})

    assert (await rig.launch("Dig.")).exit_status == "ok"

    assert [(m.role, m.text) for m in rig.queries[1].messages] == [("user", "You have dug."), ("assistant", ""), ("tool", "sand")]
    first, second = rig.trace("compaction")
    assert first["turn"] == 0
    assert first["parent_id"] == rig.trace("inference")[0]["event_id"]
    assert first["tokens_before"] == sum(rig.trace("inference")[0][key] for key in ("input_tokens", "output_tokens"))
    # The request that follows holds the reply and its result too.
    assert 0 < first["tokens_after"] < rig.trace("inference")[1]["input_tokens"]
    assert second["turn"] == 1
    assert rig.only("task_end")["turns"] == 2
    dumped = [json.loads(line) for line in (rig.session / "out" / "compaction-summaries.jsonl").read_text().splitlines()]
    assert dumped[0] == {key: first[key] for key in ("turn", "tokens_before", "tokens_after")} | {"summary": "You have dug."}


async def test_case_117_a_call_without_its_result_is_declined_whole(rig: CapsuleRig) -> None:
    block = json.dumps([{"type": "tool_call", "id": "c1", "name": "echo", "input": {}}])
    compacts(rig, Arm("replace-context", [("user", "x"), ("assistant", block)]))
    tight(rig)
    rig.plays(DIG, {"text": "Done."})

    assert (await rig.launch("Dig.")).exit_status == "ok"

    assert [line["reason"] for line in rig.trace("compaction_declined")] == ["unresolved_tool_call"] * 2
    assert texts(rig.queries[1]) == ["Dig."]
    assert "unresolved_tool_call" in rig.bootstrap()


async def test_case_118_without_a_hook_nothing_is_compacted(rig: CapsuleRig) -> None:
    tight(rig)
    rig.plays(DIG, {"text": "Done."})

    assert (await rig.launch("Dig.")).exit_status == "ok"

    first, last = rig.trace("compaction_declined")
    assert (first["reason"], first["turn"], last["turn"]) == ("no_hook_replacement", 0, 1)
    assert first["tokens"] == sum(rig.trace("inference")[0][key] for key in ("input_tokens", "output_tokens"))
    assert texts(rig.queries[1]) == ["Dig."]
    # No summary was asked for.
    assert len(rig.queries) == 2


async def test_case_119_an_empty_replacement_is_declined(rig: CapsuleRig) -> None:
    compacts(rig, Arm("replace-context", []))
    tight(rig)

    assert (await rig.launch()).exit_status == "ok"
    assert rig.only("compaction_declined")["reason"] == "no_hook_replacement"


async def test_case_120_a_hook_that_errs(rig: CapsuleRig) -> None:
    compacts(rig, Errs("no summary today"))
    tight(rig)

    assert (await rig.launch()).exit_status == "ok"

    assert rig.log("compact") == ["no summary today"]
    assert rig.only("compaction_declined")["reason"] == "no_hook_replacement"


async def test_case_120_an_error_of_one_does_not_beat_the_replacement_of_another(rig: CapsuleRig) -> None:
    compacts(rig, Errs("no"), name="errs")
    compacts(rig)
    tight(rig)

    await rig.launch()

    assert rig.types().count("compaction") == 1


async def test_case_121_without_the_policy_it_is_thrown_away(rig: CapsuleRig) -> None:
    compacts(rig, policy="none")
    tight(rig)

    await rig.launch()

    assert rig.only("compaction_declined")["reason"] == "no_hook_replacement"
    assert rig.trace("hook_dispatch_error") == []


async def test_case_123_the_first_replacement_counts_and_all_are_asked(rig: CapsuleRig) -> None:
    compacts(rig, name="first")
    compacts(rig, Arm("replace-context", [("user", "later")]), name="second")
    rig.hook("hears", hook({"on-compaction": Errs("full")}), binding="on-compaction")
    tight(rig)
    rig.plays(DIG, {"text": "Done."})

    await rig.launch()

    assert texts(rig.queries[1])[0] == "You have dug."
    assert rig.log("hears") == ["full", "full"]


async def test_below_the_threshold_nobody_is_asked(rig: CapsuleRig) -> None:
    rig.hook("hears", hook({"on-compaction": Errs("full")}), binding="on-compaction")
    rig.sets(context={"max_tokens": 1_000_000})

    await rig.launch()

    assert rig.log("hears") == []
    assert rig.trace("compaction", "compaction_declined") == []


async def test_vera_hears_of_a_compaction_only_where_a_hook_can_do_it(rig: CapsuleRig) -> None:
    rig.home.hook("pre_compact", "hears", """echo x >> "$0.heard"; echo '{"power":"observe"}'""")
    tight(rig)

    await rig.launch()
    heard = rig.home.hooks / "hears.heard"
    assert not heard.exists()
    compacts(rig)
    await rig.launch()

    assert heard.read_text() == "x\n"


# Seeds


def seeds(rig: CapsuleRig, *sizes: int, window: int | None = 10_000, **context: float) -> None:
    """A hook that seeds messages of so many tokens each, as the contract counts them."""
    messages = [("user", letter * (size - BARE)) for letter, size in zip("abcdefgh", sizes, strict=False)]
    rig.hook(
        "memory",
        hook({"on-task-start": Arm("seed-context", messages)}),
        binding="on-task-start",
        policy="seed-context",
    )
    rig.sets(context=context if window is None else {"max_tokens": window, **context})


BARE = len('[{"role":"user","text":""}]')
"""Tokens of a message without a text."""


def seed(rig: CapsuleRig) -> dict[str, Any]:
    line = rig.only("context_seed")
    assert line["hook_name"] == "memory"
    assert line["parent_id"] == rig.only("task_start")["event_id"]
    return line


async def test_a_seed_that_fits_stands_at_the_head(rig: CapsuleRig) -> None:
    seeds(rig, 400, 600)

    await rig.launch("Dig.")

    line = seed(rig)
    assert (line["outcome"], line["tokens"], line["proposed_tokens"], line["budget_tokens"]) == ("seeded", 1000, 1000, 1000)
    assert "reason" not in line
    assert line["message_ids"] == [message.id for message in rig.queries[0].messages[:2]]
    assert [text[0] for text in texts(rig.queries[0])] == ["a", "b", "D"]
    assert "seeded" in rig.bootstrap()


async def test_case_124_without_a_window_there_is_no_budget(rig: CapsuleRig) -> None:
    seeds(rig, 100, window=None)

    assert (await rig.launch("Dig.")).exit_status == "ok"

    line = seed(rig)
    assert (line["outcome"], line["reason"], line["tokens"], line["budget_tokens"]) == ("rejected", "no_budget", 0, 0)
    assert line["message_ids"] == []
    fault = rig.only("hook_dispatch_error")
    assert (fault["hook_name"], fault["event"], fault["arm"]) == ("memory", "on-task-start", "seed-rejected")
    assert texts(rig.queries[0]) == ["Dig."]
    assert len(rig.log("memory")) == 1


async def test_case_124_a_part_of_nothing_is_no_budget(rig: CapsuleRig) -> None:
    seeds(rig, 100, seed_budget=0.0)

    await rig.launch()

    assert seed(rig)["reason"] == "no_budget"


@pytest.mark.parametrize(
    ("sizes", "reason"), [((1001,), "message_over_budget"), ((100, 1001, 100), "message_over_budget"), ((900,) * 5, "overflow_over_limit")]
)
async def test_case_125_what_is_too_much_is_rejected(rig: CapsuleRig, sizes: tuple[int, ...], reason: str) -> None:
    seeds(rig, *sizes)

    await rig.launch("Dig.")

    line = seed(rig)
    assert (line["outcome"], line["reason"], line["proposed_tokens"]) == ("rejected", reason, sum(sizes))
    assert texts(rig.queries[0]) == ["Dig."]


async def test_case_125_four_times_the_budget_is_not_yet_too_much(rig: CapsuleRig) -> None:
    seeds(rig, *(800,) * 5)

    await rig.launch()

    assert seed(rig)["outcome"] == "trimmed"


async def test_case_125_a_little_too_much_is_trimmed(rig: CapsuleRig) -> None:
    compacts(rig)
    seeds(rig, 50, 500, 500)

    await rig.launch("Dig.")

    line = seed(rig)
    assert (line["outcome"], line["tokens"], line["proposed_tokens"]) == ("trimmed", 1000, 1050)
    assert [text[0] for text in texts(rig.queries[0])] == ["b", "c", "D"]


async def test_case_125_much_too_much_is_summarised(rig: CapsuleRig) -> None:
    compacts(rig)
    seeds(rig, 500, 500, 500)

    await rig.launch("Dig.")

    line = seed(rig)
    assert line["outcome"] == "compacted"
    assert [text[:3] for text in texts(rig.queries[0])] == ["You", "ccc", "Dig"]
    assert len(line["message_ids"]) == 2
    assert line["tokens"] == 500 + BARE + len("You have dug.")
    assert rig.trace("compaction") == []


@pytest.mark.parametrize("answer", [None, Arm("none"), Errs("no"), Arm("replace-context", [])])
async def test_case_125_without_a_summary_it_is_trimmed(rig: CapsuleRig, answer: Any) -> None:
    if answer is not None:
        compacts(rig, answer)
    seeds(rig, 500, 500, 500)

    await rig.launch("Dig.")

    assert (seed(rig)["outcome"], seed(rig)["tokens"]) == ("trimmed", 1000)


async def test_case_125_a_summary_over_the_budget_is_rejected(rig: CapsuleRig) -> None:
    compacts(rig, Arm("replace-context", [("user", "x" * 1001)]))
    seeds(rig, 500, 500, 500)

    await rig.launch("Dig.")

    assert (seed(rig)["outcome"], seed(rig)["reason"]) == ("rejected", "message_over_budget")


async def test_case_126_a_hook_that_errs_leaves_the_task_unseeded(rig: CapsuleRig) -> None:
    rig.hook("memory", hook({"on-task-start": Errs("nothing comes to mind")}), binding="on-task-start", policy="seed-context")

    assert (await rig.launch("Dig.")).exit_status == "ok"

    assert rig.log("memory") == ["nothing comes to mind"]
    assert rig.trace("context_seed", "hook_dispatch_error") == []


async def test_case_127_an_empty_seed_is_one(rig: CapsuleRig) -> None:
    seeds(rig)

    await rig.launch("Dig.")

    assert (seed(rig)["outcome"], seed(rig)["tokens"], seed(rig)["message_ids"]) == ("seeded", 0, [])


async def test_the_first_seed_counts(rig: CapsuleRig) -> None:
    seeds(rig, 100)
    rig.hook("second", hook({"on-task-start": Arm("seed-context", [("user", "z")])}), binding="on-task-start", policy="seed-context")

    await rig.launch("Dig.")

    assert [text[0] for text in texts(rig.queries[0])] == ["a", "D"]


async def test_a_seed_stands_ahead_of_what_was_said_before(rig: CapsuleRig) -> None:
    rig.sets(lifecycle={"conversation": "threaded"})
    seeds(rig, 100)
    rig.plays({"text": "One."}, {"text": "Two."})

    await rig.launch("first", "second")

    assert [text[:5] for text in texts(rig.queries[1])] == ["aaaaa", "aaaaa", "first", "secon"]
