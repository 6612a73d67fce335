"""Rows 6, 7, 8 and 19 with handlers of the session VM and of the plugin VM, and what the provider receives for it."""

import pytest

from tests.support.contract_stubs import lua
from tests.support.nest import Nest, bash, texts
from tests.support.rows import Rows
from treblehook.agent.session import Session
from treblehook.engine import Handler, Tier
from treblehook.lifecycle import (
    Block,
    ContextAssembled,
    Event,
    Inject,
    Message,
    ModelRequest,
    ModelResponse,
    Replace,
    Rewrite,
    ToolFinished,
    ToolProposed,
    TurnComplete,
)

PLUGIN = Tier.PLUGIN


@pytest.fixture
async def session(nest: Nest, rows: Rows) -> Session:
    nest.plays(*({"text": f"Reply {number}."} for number in range(4)))
    return await nest.open(hooks=rows.hooks)


def bind(session: Session, *handlers: Handler) -> None:
    for handler in handlers:
        session.state.dispatcher.registry.add(handler)


def on_first_turn(text: str, position: str = "user_prefix") -> object:
    """Injects after the first turn only."""
    return lambda event: Inject(text, position) if event.turns == 1 else None  # type: ignore[arg-type]


async def test_case_090_a_prompt_is_rewritten_by_the_session_vm_then_by_the_plugin_vm(nest: Nest, session: Session) -> None:
    bind(
        session,
        lua(ModelRequest, lambda event: Rewrite(prompt=f"{event.prompt} P"), vm=PLUGIN, priority=1),
        lua(ModelRequest, lambda event: Rewrite(prompt=f"{event.prompt} S"), priority=900),
    )

    await session.prompt("dig")

    assert texts(nest.queries[0]) == ["dig S P"]


@pytest.mark.parametrize("kind", [ModelRequest, ContextAssembled])
async def test_case_092_a_cancel_ends_the_turn_with_its_reason_and_no_request(
    nest: Nest, session: Session, rows: Rows, kind: type[Event]
) -> None:
    asked: list[str] = []
    bind(session, lua(kind, Block("out of budget"), name="miser"), lua(kind, lambda event: asked.append("plugin"), vm=PLUGIN))

    end = await session.prompt("dig")

    assert (end.status, end.reason) == ("blocked", "out of budget")
    assert (nest.queries, asked) == ([], [])
    assert rows.only(TurnComplete).outcome == "error"
    assert any("out of budget" in row for row in nest.ears.rows())


async def test_case_093_every_reply_is_told_with_its_model_and_time(nest: Nest, session: Session, rows: Rows) -> None:
    await session.prompt("dig")

    told = rows.only(ModelResponse)
    assert (told.text, told.model, told.duration_ms >= 0) == ("Reply 0.", session.state.model.spec, True)


async def test_case_094_two_requests_in_a_turn_are_announced_twice_and_completed_once(nest: Nest, session: Session, rows: Rows) -> None:
    nest.plays(bash("echo 1"), {"text": "Done."})
    bind(session, lua(ModelRequest, lambda event: Rewrite(prompt=f"{event.prompt}!")))

    await session.prompt("dig")

    assert [event.prompt for event in rows.of(ModelRequest)] == ["dig", "dig"]
    assert [texts(query)[0] for query in nest.queries] == ["dig!", "dig!"]
    assert len(rows.of(TurnComplete)) == 1
    assert rows.log().index("TurnComplete") > max(at for at, name in enumerate(rows.log()) if name == "ModelResponse")


async def test_case_096_a_message_that_a_hook_adds_reaches_the_provider(nest: Nest, session: Session) -> None:
    extra = Message("system", "Here be dragons.")
    bind(
        session,
        lua(ContextAssembled, lambda event: Rewrite(messages=(*event.messages, extra))),
        lua(ContextAssembled, ValueError("messages[2].role"), vm=PLUGIN),
    )

    await session.prompt("dig")

    assert [message.text for message in nest.queries[0].messages] == ["dig", "Here be dragons."]


async def test_case_097_a_prefix_stands_before_the_next_prompt_once(nest: Nest, session: Session) -> None:
    bind(session, lua(TurnComplete, on_first_turn("P")))

    for prompt in ("first", "U", "clean"):
        await session.prompt(prompt)

    assert texts(nest.queries[1])[-1] == "P\n\nU"
    assert texts(nest.queries[2])[-1] == "clean"


async def test_case_098_a_suffix_stands_behind_it(nest: Nest, session: Session) -> None:
    bind(session, lua(TurnComplete, on_first_turn("S", "user_suffix")))

    for prompt in ("first", "U"):
        await session.prompt(prompt)

    assert texts(nest.queries[1])[-1] == "U\n\nS"


async def test_case_098_without_a_position_it_is_a_prefix() -> None:
    assert Inject("P").position == "user_prefix"


async def test_the_plugin_vm_injects_last_and_wins(nest: Nest, session: Session) -> None:
    bind(session, lua(TurnComplete, on_first_turn("of the plugin"), vm=PLUGIN), lua(TurnComplete, on_first_turn("of the session")))

    for prompt in ("first", "U"):
        await session.prompt(prompt)

    assert texts(nest.queries[1])[-1] == "of the plugin\n\nU"


async def test_case_100_nobody_else_can_inject(nest: Nest, session: Session) -> None:
    nest.plays(bash("echo 1"), {"text": "Done."}, {"text": "Again."})
    bind(session, *(lua(kind, Inject("P")) for kind in (ToolFinished, ModelRequest, ContextAssembled, ModelResponse)))

    for prompt in ("first", "U"):
        await session.prompt(prompt)

    assert texts(nest.queries[-1])[-1] == "U"
    assert nest.queries[1].messages[-1].text == "1\n"


async def test_case_101_a_failure_does_not_undo_an_injection(nest: Nest, session: Session) -> None:
    bind(session, lua(TurnComplete, on_first_turn("P")), lua(TurnComplete, ValueError("nil"), vm=PLUGIN))

    for prompt in ("first", "U"):
        await session.prompt(prompt)

    assert texts(nest.queries[1])[-1] == "P\n\nU"


async def test_an_injection_survives_a_resume_and_is_used_up_once(nest: Nest, session: Session) -> None:
    bind(session, lua(TurnComplete, on_first_turn("P", "user_suffix")))
    await session.prompt("first")
    await session.finish("closed")

    resumed = await nest.open(resume=session.id)
    await resumed.prompt("U")
    await resumed.finish("closed")
    again = await nest.open(resume=session.id)
    await again.prompt("clean")

    assert [texts(query)[-1] for query in nest.queries] == ["first", "U\n\nP", "clean"]


async def test_an_injection_that_was_replaced_by_an_empty_one_stays_away_after_a_resume(nest: Nest, session: Session) -> None:
    bind(session, lua(TurnComplete, on_first_turn("P")), lua(TurnComplete, on_first_turn(""), vm=PLUGIN))
    await session.prompt("first")
    await session.finish("closed")

    resumed = await nest.open(resume=session.id)
    await resumed.prompt("U")

    assert texts(nest.queries[-1])[-1] == "U"


async def test_a_held_record_of_another_shape_is_no_obstacle(nest: Nest, session: Session) -> None:
    await session.prompt("first")
    session.state.recorder.write("held", content=5, position="sideways")
    await session.finish("closed")

    resumed = await nest.open(resume=session.id)
    await resumed.prompt("U")

    assert texts(nest.queries[-1])[-1] == "U"


@pytest.mark.parametrize(("terminate", "terminated"), [(True, True), (False, False)])
async def test_a_turn_that_hooks_ended_by_replacing_its_calls_is_told_as_such(
    nest: Nest, session: Session, rows: Rows, terminate: bool, terminated: bool
) -> None:
    nest.plays(bash("echo 1"), {"text": "Done."})
    bind(session, lua(ToolProposed, Replace("1", terminate=terminate)))

    await session.prompt("dig")

    assert (rows.only(TurnComplete).outcome, rows.only(TurnComplete).terminated) == ("completed", terminated)


async def test_the_last_reply_is_named(session: Session, rows: Rows) -> None:
    await session.prompt("dig")

    assert rows.only(TurnComplete).message == session.state.conversation.messages[-1].id
