"""memory: a task begins with the newest messages of the conversation that fit its budget."""

from collections.abc import Sequence

from tests.shipped_hooks.conftest import ShippedRig
from treblehook.lifecycle import Message, SeedContext, TaskStart

GRANT = {"conversation": {"read": True}}


async def seeded(rig: ShippedRig, said: Sequence[Message], budget: int, prior: int = 0) -> list[tuple[str, str]]:
    """The roles and the texts with which the task begins."""
    rig.ship("memory", capabilities=GRANT)
    rig.host.said = said
    await rig.start()
    outcome = await rig.fire(TaskStart(task="tsk_1", context="ctx_1", budget_tokens=budget, prior_tokens=prior))
    if not outcome.contributions:
        return []
    decision = outcome.contributions[0].decision
    assert isinstance(decision, SeedContext)
    return [(message.role, message.text) for message in decision.messages]


async def test_the_messages_are_seeded_in_their_order(rig: ShippedRig) -> None:
    said = [Message("user", "where is it?"), Message("assistant", "under the palm")]

    assert await seeded(rig, said, 10_000) == [("user", "where is it?"), ("assistant", "under the palm")]


async def test_the_newest_that_fit_are_taken(rig: ShippedRig) -> None:
    said = [Message("user", f"{number:04} " + "x" * 100) for number in range(300)]

    found = await seeded(rig, said, 1000)

    assert [text[:4] for _, text in found] == [f"{number:04}" for number in range(300 - len(found), 300)]
    # The rig counts letters, of the message alone in a list.
    assert len(found) == 1000 // len('[{"role":"user","content":[{"type":"text","text":"0000 %s"}]}]' % ("x" * 100))


async def test_several_pages_are_read(rig: ShippedRig) -> None:
    said = [Message("user", str(number)) for number in range(250)]

    assert len(await seeded(rig, said, 1_000_000)) == 250


async def test_blank_and_system_messages_are_left_out(rig: ShippedRig) -> None:
    said = [Message("system", "rules"), Message("user", ""), Message("user", "hello")]

    assert await seeded(rig, said, 10_000) == [("user", "hello")]


async def test_without_a_budget_nothing_is_seeded(rig: ShippedRig) -> None:
    assert await seeded(rig, [Message("user", "hello")], 0) == []


async def test_a_conversation_that_goes_on_is_not_seeded(rig: ShippedRig) -> None:
    assert await seeded(rig, [Message("user", "hello")], 10_000, prior=5) == []


async def test_an_empty_record_seeds_nothing(rig: ShippedRig) -> None:
    assert await seeded(rig, [], 10_000) == []
    assert rig.sink.lines == []


async def test_without_the_grant_it_errs(rig: ShippedRig) -> None:
    rig.ship("memory")
    await rig.start()
    outcome = await rig.fire(TaskStart(task="tsk_1", budget_tokens=100))

    assert outcome.contributions == ()
    assert rig.sink.of("memory") == ["the conversation cannot be read: not-granted"]
