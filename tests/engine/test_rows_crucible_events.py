"""crucible's rows beside the tool call (crucible.md 3.3 to 3.15 and 6), played by stub handlers bound as that contract binds its own."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.contract_stubs import fired, lua
from tests.support.hooks import CALL, Rig, after, given_by
from tests.support.virtual import now, virtual
from treblehook.engine import OnFailure, Outcome, Tier
from treblehook.lifecycle import (
    AddContext,
    Allow,
    BeforeExecute,
    Block,
    ChooseNotes,
    ContextAssembled,
    Deny,
    Display,
    Environment,
    Event,
    FileChanged,
    FileDeleted,
    FileMoved,
    Inject,
    Message,
    ModelRequest,
    ModelResponse,
    Note,
    NoteChoice,
    NoteCreated,
    NoteDeleted,
    NoteModified,
    NoteRenamed,
    NotesChosen,
    NotesRetrieved,
    PermissionRequest,
    PreToolCall,
    Refuse,
    RenderNotes,
    Rewrite,
    SessionEnd,
    SessionStart,
    Stop,
    ToolShown,
    ToolStarted,
    TurnComplete,
    WebhookReceived,
)

PLUGIN = Tier.PLUGIN


# the other stages


@virtual
async def test_case_090_prompts_chain_from_the_session_to_the_plugins() -> None:
    def suffix(text: str) -> Callable[[ModelRequest], Rewrite]:
        return lambda event: Rewrite(prompt=event.prompt + text)

    outcome, _ = await fired(ModelRequest(prompt="p"), lua(ModelRequest, suffix(" P"), vm=PLUGIN), lua(ModelRequest, suffix(" S")))
    assert outcome.value.prompt == "p S P"


@virtual
async def test_case_092_a_request_can_be_cancelled() -> None:
    outcome, rig = await fired(ModelRequest(prompt="p"), lua(ModelRequest, Block("quota")), lua(ModelRequest, vm=PLUGIN))
    assert outcome.blocked == Block("quota")
    assert len(rig.asked) == 1


@virtual
async def test_pre_llm_call_fails_open() -> None:
    outcome, _ = await fired(
        ModelRequest(prompt="p"), lua(ModelRequest, Rewrite(prompt="q")), lua(ModelRequest, ValueError("boom"), vm=PLUGIN)
    )
    assert (outcome.value.prompt, outcome.decision) == ("q", None)


@virtual
async def test_case_093_what_post_llm_call_returns_is_ignored() -> None:
    outcome, rig = await fired(ModelResponse(turn=0, text="t"), lua(ModelResponse), lua(ModelResponse, Block("no"), vm=PLUGIN))
    assert (outcome.decision, outcome.contributions, len(rig.asked)) == (None, (), 2)


@virtual
async def test_case_096_a_context_is_replaced_whole() -> None:
    event = ContextAssembled(messages=(Message("user", "u"),))
    wanted = (Message("system", "s"), Message("user", "u"))
    outcome, _ = await fired(event, lua(ContextAssembled, Rewrite(messages=wanted)))
    assert outcome.value.messages == wanted


@virtual
async def test_case_097_the_last_inject_wins() -> None:
    outcome, _ = await fired(
        TurnComplete(outcome="completed", turns=1),
        lua(TurnComplete, Inject("session"), priority=900),
        lua(TurnComplete, Inject("plugin", "user_suffix"), vm=PLUGIN, priority=1),
        lua(TurnComplete, vm=PLUGIN, priority=2),
    )
    assert given_by(outcome) == [("hook", Inject("plugin", "user_suffix"))]


@virtual
async def test_an_empty_inject_still_overrides() -> None:
    outcome, _ = await fired(
        TurnComplete(outcome="completed", turns=1), lua(TurnComplete, Inject("x")), lua(TurnComplete, Inject(""), name="empty")
    )
    assert given_by(outcome) == [("empty", Inject(""))]


@virtual
async def test_case_101_an_inject_survives_the_failure_of_another() -> None:
    outcome, _ = await fired(
        TurnComplete(outcome="completed", turns=1),
        lua(TurnComplete, Inject("x"), name="injects"),
        lua(TurnComplete, ValueError("boom"), vm=PLUGIN),
    )
    assert given_by(outcome) == [("injects", Inject("x"))]


def environment(outcome: Outcome[Any]) -> dict[str, str]:
    merged: dict[str, str] = {}
    for contribution in outcome.contributions:
        assert isinstance(contribution.decision, Environment)
        assert not merged.keys() & contribution.decision.variables.keys()
        merged |= contribution.decision.variables
    return merged


@virtual
async def test_case_102_environments_merge_per_key_and_the_session_wins() -> None:
    outcome, _ = await fired(
        BeforeExecute(call=CALL),
        lua(BeforeExecute, Environment({"A": "1"})),
        lua(BeforeExecute, Environment({"A": "2", "B": "3"})),
        lua(BeforeExecute, ValueError("boom")),
        lua(BeforeExecute, Environment({"A": "9", "C": "4"}), vm=PLUGIN),
        lua(BeforeExecute, Environment({"C": "5"}), vm=PLUGIN),
    )
    assert environment(outcome) == {"A": "2", "B": "3", "C": "5"}


@virtual
async def test_the_first_valid_card_wins() -> None:
    for event, kind in ((ToolStarted(call=CALL), ToolStarted), (ToolShown(call=CALL, content="x"), ToolShown)):
        outcome, rig = await fired(
            event,
            lua(kind, ValueError("boom")),
            lua(kind),
            lua(kind, Display(label="mine")),
            lua(kind, Display(label="other"), vm=PLUGIN),
        )
        assert outcome.decision == Display(label="mine")
        assert len(rig.asked) == 3


# precognition


RETRIEVED = NotesRetrieved(prompt="p", char_budget=3000, notes=(Note(1, "one", 0.9, "…"), Note(2, "two", 0.5, "…")))


@virtual
async def test_case_104_a_choice_has_its_own_order() -> None:
    choice = ChooseNotes((NoteChoice(2), NoteChoice(1, "short")))
    outcome, _ = await fired(RETRIEVED, lua(NotesRetrieved, choice))
    assert outcome.decision == choice


@virtual
async def test_case_106_no_notes_is_a_choice_too() -> None:
    outcome, rig = await fired(RETRIEVED, lua(NotesRetrieved, ChooseNotes(())), lua(NotesRetrieved, vm=PLUGIN))
    assert outcome.decision == ChooseNotes(())
    assert len(rig.asked) == 1


@virtual
async def test_case_113_114_the_first_usable_choice_wins() -> None:
    wanted = ChooseNotes((NoteChoice(1),))
    for before in (None, "garbage", ValueError("boom")):
        outcome, _ = await fired(RETRIEVED, lua(NotesRetrieved, before), lua(NotesRetrieved, wanted, vm=PLUGIN))
        assert outcome.decision == wanted


@virtual
async def test_case_118_120_the_first_text_is_the_block() -> None:
    outcome, rig = await fired(
        NotesChosen(prompt="p", notes=RETRIEVED.notes),
        lua(NotesChosen, {"a": "table"}),
        lua(NotesChosen, RenderNotes("")),
        lua(NotesChosen, RenderNotes("X"), vm=PLUGIN),
    )
    assert outcome.decision == RenderNotes("")
    assert len(rig.asked) == 2


# daemon events


DAEMON: list[Event] = [
    FileChanged(path="/a", change="modified"),
    FileDeleted(path="/a"),
    FileMoved(source="/a", destination="/b"),
    NoteCreated(path="a.md", title="a"),
    NoteModified(path="a.md"),
    NoteDeleted(path="a.md", existed=True),
    NoteRenamed(source="b.md", path="a.md"),
    WebhookReceived(name="ci", headers={}, body="{}"),
]


@pytest.mark.parametrize("event", DAEMON, ids=lambda event: type(event).__name__)
@virtual
async def test_case_129_a_cancel_spares_the_later_handlers_of_this_occurrence(event: Event) -> None:
    kind = type(event)
    outcome, rig = await fired(event, lua(kind, vm=PLUGIN, name="a"), lua(kind, Stop(), vm=PLUGIN, name="b"), lua(kind, vm=PLUGIN))
    assert rig.asked == ["a", "b"]
    assert (outcome.value, outcome.decision) == (event, None)


@pytest.mark.parametrize("event", DAEMON, ids=lambda event: type(event).__name__)
@virtual
async def test_case_130_a_handler_that_raises_does_not(event: Event) -> None:
    _, rig = await fired(event, lua(type(event), ValueError("boom"), vm=PLUGIN), lua(type(event), vm=PLUGIN, name="next"))
    assert rig.asked == ["hook", "next"]


@virtual
async def test_the_handlers_of_an_occurrence_run_one_after_the_other() -> None:
    _, rig = await fired(DAEMON[0], *(lua(FileChanged, after(2), vm=PLUGIN) for _ in range(3)))
    assert [call.started for call in rig.journal.calls] == [0, 2, 4]
    assert now() == 6


# lifecycle and permission hooks


@virtual
async def test_case_148_150_every_start_hook_runs_and_then_the_session_is_refused() -> None:
    required: dict[str, Any] = {"on_failure": OnFailure.CLOSED, "vm": PLUGIN}
    outcome, rig = await fired(
        SessionStart(),
        lua(SessionStart, ValueError("no container"), name="oci", **required),
        lua(SessionStart, AddContext("hello"), vm=PLUGIN, name="greets"),
        lua(SessionStart, ValueError("no licence"), name="licence", **required),
        lua(SessionStart, ValueError("whatever"), vm=PLUGIN, name="optional"),
    )
    assert rig.asked == ["oci", "greets", "licence", "optional"]
    assert outcome.blocked == Refuse(
        "SessionStart hook oci failed: ValueError: no container; SessionStart hook licence failed: ValueError: no licence"
    )
    assert outcome.failure == "ValueError: no container; ValueError: no licence"
    assert (outcome.by and outcome.by.name, outcome.contributions) == ("oci", ())


@virtual
async def test_case_149_a_start_hook_of_the_sessions_own_machine_refuses_nothing() -> None:
    outcome, _ = await fired(SessionStart(), lua(SessionStart, ValueError("boom")))
    assert outcome.blocked is None


@virtual
async def test_every_end_hook_runs() -> None:
    _, rig = await fired(SessionEnd(reason="closed"), lua(SessionEnd, ValueError("boom")), lua(SessionEnd), lua(SessionEnd, vm=PLUGIN))
    assert len(rig.asked) == 3


@pytest.mark.parametrize("opinion", [Allow(), Deny("because")])
@virtual
async def test_case_154_156_the_first_opinion_of_a_permission_hook_stands(opinion: Any) -> None:
    outcome, rig = await fired(
        PermissionRequest(call=CALL),
        lua(PermissionRequest, ValueError("boom"), priority=1),
        lua(PermissionRequest, priority=2),
        lua(PermissionRequest, opinion, priority=3),
        lua(PermissionRequest, Deny("too late"), priority=1000),
    )
    assert outcome.decision == opinion
    assert len(rig.asked) == 3


@virtual
async def test_case_156_a_failing_permission_hook_never_allows() -> None:
    for given in (ValueError("boom"), after(31, Allow()), True):
        outcome, _ = await fired(PermissionRequest(call=CALL), lua(PermissionRequest, given))
        assert outcome.decision is None


@virtual
async def test_two_sessions_run_a_plugins_handler_at_the_same_time() -> None:
    rig = Rig(lua(PreToolCall, after(5), vm=PLUGIN))

    await asyncio.gather(rig.fire(PreToolCall(call=CALL)), rig.fire(PreToolCall(call=CALL)))

    assert now() == 5
