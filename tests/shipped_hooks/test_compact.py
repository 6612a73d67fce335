"""compact: the model's summary stands for the conversation; one retry without the model that was set."""

import json

from tests.shipped_hooks.conftest import ShippedRig
from tests.support.murmur_rig import FULL
from treblehook.contracts.murmur.payloads import LaunchFacts
from treblehook.contracts.murmur.services import Completion, InferenceFailed
from treblehook.lifecycle import ContextFull, ReplaceContext


async def test_the_summary_replaces_the_conversation(rig: ShippedRig) -> None:
    rig.ship("compact")
    await rig.start()
    outcome = await rig.fire(FULL)

    ((hook, request),) = rig.host.requests
    assert hook == "compact"
    assert request.model is None
    assert "summarise" in request.system
    assert len(request.messages) == 1
    decision = outcome.contributions[0].decision
    assert isinstance(decision, ReplaceContext)
    (message,) = decision.messages
    assert message.role == "user"
    assert "Summary of the conversation so far:\n\na summary" in message.text


async def test_an_error_of_the_only_model_is_an_error(rig: ShippedRig) -> None:
    rig.ship("compact")
    rig.host.reply = InferenceFailed("overloaded")
    await rig.start()
    outcome = await rig.fire(FULL)

    assert outcome.contributions == ()
    assert len(rig.host.requests) == 1
    assert rig.sink.of("compact") == ["the conversation could not be summarised: overloaded"]


async def test_an_empty_summary_is_an_error(rig: ShippedRig) -> None:
    rig.ship("compact")
    rig.host.reply = Completion(" \n", "acme/first", 7, 3)
    await rig.start()
    outcome = await rig.fire(FULL)

    assert outcome.contributions == ()
    assert "empty" in rig.sink.of("compact")[0]


async def test_without_messages_nothing_is_asked(rig: ShippedRig) -> None:
    rig.ship("compact")
    await rig.start()
    await rig.fire(ContextFull(messages=(), tokens=1, ratio=1.0))

    assert rig.host.requests == []


async def test_a_model_that_was_set_and_failed_is_followed_by_the_sessions_own(rig: ShippedRig) -> None:
    rig.facts = LaunchFacts("nest", "0.1.0", compaction_model="acme/small", compaction_prompt="Be short.")
    rig.ship("compact")
    rig.host.reply = InferenceFailed("no such model")
    await rig.start()
    await rig.fire(FULL)

    assert [(request.model, request.system) for _, request in rig.host.requests] == [("acme/small", "Be short."), (None, "Be short.")]
    assert len(rig.sink.of("compact")) == 1


async def test_the_conversation_is_sent_whole(rig: ShippedRig) -> None:
    rig.ship("compact")
    await rig.start()
    await rig.fire(FULL)

    ((_, request),) = rig.host.requests
    text = request.messages[0].text
    assert text.index("[user]\n") < text.index("[assistant]\n")
    assert json.dumps("u") in text
