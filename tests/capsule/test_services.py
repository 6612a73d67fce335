"""What a hook of a launch may ask its host for (murmur.md 3.7, case 144)."""

import os

import pytest

from tests.support.capsule_rig import CapsuleRig, call, calls
from tests.support.murmur_guests import Arm, Errs, hook
from treblehook.agent.models.model import ModelReply
from treblehook.contracts.murmur.services import Completion, InferenceFailed, InferenceRequest, TaskText
from treblehook.home.components.desk import TaskDesk
from treblehook.home.components.inference import HookInference
from treblehook.home.components.record import ConversationRecord
from treblehook.home.home import Home
from treblehook.lifecycle import Message

ASKS = InferenceRequest((Message("user", "Where?"),), "You are a map.")


async def asked(rig: CapsuleRig, request: InferenceRequest = ASKS) -> Completion:
    """What a hook is told that asks while the launch's first reply is on its way."""
    done: list[Completion | InferenceFailed] = []

    async def ask(query: object) -> None:
        if not done:
            done.append(InferenceFailed("under way"))
            inference: HookInference = rig.started._inference
            try:
                done[0] = await inference.complete("compact", request)
            except InferenceFailed as failure:
                done[0] = failure

    rig.before_reply = ask
    await rig.launch()
    if isinstance(done[0], InferenceFailed):
        raise done[0]
    return done[0]


async def test_case_144_a_completion_is_traced_with_who_asked_for_it(rig: CapsuleRig) -> None:
    rig.plays(aux={"text": "Under the palm."})

    answer = await asked(rig)

    assert (answer.text, answer.model) == ("Under the palm.", rig.specs[0])
    assert (rig.queries[1].system, rig.queries[1].tools, rig.queries[1].max_tokens) == ("You are a map.", (), 8192)
    own, turn = rig.trace("inference")
    assert (own["origin"], own["model"], own["decision"]) == ("hook:compact", rig.specs[0], "end_turn")
    assert (own["input_tokens"], own["output_tokens"]) == (answer.input_tokens, answer.output_tokens)
    assert "origin" not in turn
    # The turns are the agent's own.
    assert rig.only("session_end")["total_turns"] == 1
    assert rig.only("session_end")["total_input_tokens"] == turn["input_tokens"]


async def test_a_completion_that_fails_is_traced_too(rig: CapsuleRig) -> None:
    with pytest.raises(InferenceFailed, match="nothing:known"):
        await asked(rig, InferenceRequest(ASKS.messages, "", "nothing:known"))

    own = rig.trace("inference")[0]
    assert (own["origin"], own["model"], own["decision"]) == ("hook:compact", "nothing:known", "error")


async def test_case_144_before_there_is_a_session_there_is_no_model() -> None:
    with pytest.raises(InferenceFailed, match=r"inference\.driver\.artifact"):
        await HookInference().complete("compact", ASKS)


def test_the_texts_of_a_task() -> None:
    desk = TaskDesk()
    assert desk.current() is None
    desk.put("tsk_1", "Dig.")
    assert desk.current() is None
    desk.begun()
    assert desk.current() == TaskText("Dig.", "Dig.")
    desk.said("I dig.", final=False)
    desk.finished()
    assert desk.current() == TaskText("Dig.", "Dig.")
    desk.said("Done.", final=True)
    assert desk.current() == TaskText("Dig.", "Dig.")
    desk.finished()
    assert desk.current() == TaskText("Dig.", "Dig.", "Done.")
    desk.again("Dig. Again.")
    assert desk.current() == TaskText("Dig. Again.", "Dig.")
    desk.clear()
    assert desk.current() is None


@pytest.mark.parametrize(("on", "said"), [("on", ["Dig.", "hm", "sand", "Done.", "again", "hm", "sand", "Done."]), ("off", [])])
async def test_the_record_has_all_that_was_said_in_a_launch(rig: CapsuleRig, on: str, said: list[str]) -> None:
    rig.sets(context={"record": on})
    rig.plays(calls(call("echo", command="sand"), text="hm"), {"text": "Done."})

    await rig.launch("Dig.", "again")

    record: ConversationRecord = rig.started._record
    assert [message.text for message in await record.messages()] == said


async def test_what_a_model_costs_is_counted_here(rig: CapsuleRig) -> None:
    rig.replies.append(ModelReply("Done."))

    await rig.launch()

    turn = rig.only("inference")
    assert turn["output_tokens"] > 0
    assert turn["input_tokens"] > len(rig.queries[0].system) // 8


async def test_a_launch_that_cannot_be_staged_lets_go_of_everything(rig: CapsuleRig) -> None:
    rig.home.hook("pre_tool_use", "guard", "true", timeout_ms=700_000)
    rig.hook("writes", hook({"on-stage": Arm("write-manifests", [])}), binding="on-stage", policy="write-manifests")
    rig.hook("watch", hook({"on-session-start": Errs("begun")}))

    async with Home(rig.home.folder, os.environ) as home:
        with pytest.raises(Exception, match="timeout_ms"):
            await rig.stage(home)

    assert not (rig.place / "workdir").exists()
    assert list((rig.home.folder / "sessions").glob("*.jsonl")) == []
