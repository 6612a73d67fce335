"""What a hook may do when a turn ends (vera.md 3.5; cases 108 to 120)."""

import json

import pytest

from tests.support.sample_events import SESSION, WORKSPACE, ending, proposed
from tests.support.vera_home import VeraHome, big, says
from treblehook.engine import Ended
from treblehook.lifecycle import Continue

OBSERVE = says({"power": "observe"})


def continues(**fields: object) -> str:
    return says({"power": "continue", **fields})


async def test_case_108_the_payload(home: VeraHome) -> None:
    home.hook("turn_ending", "map-check", OBSERVE)
    session = home.session()

    await session.fire(ending())
    await session.fire(ending("done at last", continuations=1, spawned=True))

    first, second = home.sent("map-check")
    assert first == {
        "type": "turn_ending",
        "sessionId": SESSION,
        "workspace": WORKSPACE,
        "prompt": "draw it",
        "reply": "done",
        "spawned": False,
        "continuations": 0,
    }
    assert (second["reply"], second["continuations"], second["spawned"]) == ("done at last", 1, True)


async def test_case_110_continue_sends_its_context(home: VeraHome) -> None:
    home.hook("turn_ending", "map-check", continues(context="You said done but drew no map."))

    outcome = await home.fire(ending())

    assert outcome.decision == Continue("You said done but drew no map.")
    assert outcome.by is not None
    assert outcome.by.name == "map-check"


async def test_a_continue_may_have_a_display(home: VeraHome) -> None:
    home.hook("turn_ending", "map-check", continues(context="draw", display="Keep digging"))

    assert (await home.fire(ending())).decision == Continue("draw", "Keep digging")


async def test_case_112_the_first_continue_wins(home: VeraHome) -> None:
    home.hook("turn_ending", "first", OBSERVE)
    home.hook("turn_ending", "second", continues(context="two"))
    home.hook("turn_ending", "third", continues(context="three"))

    assert (await home.fire(ending())).decision == Continue("two")
    assert len(home.sent("first")) == 1
    assert home.sent("third") == []


FAILURES = [
    {"power": "continue", "context": ""},
    {"power": "continue"},
    {"power": "continue", "context": None},
    {"power": "continue", "context": 3},
    {"power": "continue", "context": "x" * 131_073},
    {"power": "continue", "context": "x", "display": "a\nb"},
    {"power": "continue", "context": "x", "display": "x" * 201},
    {"power": "mutate", "context": "x"},
    {},
]


@pytest.mark.parametrize("answer", FAILURES)
async def test_case_113_a_failure_ends_the_turn(home: VeraHome, answer: object) -> None:
    home.hook("turn_ending", "bad", json.dumps(answer).encode())
    home.hook("turn_ending", "second", continues(context="x"))
    session = home.session()

    outcome = await session.fire(ending())

    assert (outcome.decision, outcome.failure) == (None, None)
    assert [call.ended for call in session.calls] == [Ended.FAILED]
    assert home.sent("second") == []


async def test_case_116_a_turn_that_ends_cannot_be_blocked(home: VeraHome) -> None:
    home.hook("turn_ending", "bad", says({"power": "block", "reason": "no"}))
    home.hook("turn_ending", "second", continues(context="x"))
    session = home.session()

    assert (await session.fire(ending())).decision is None
    assert session.calls[0].error == 'its power is "block"; allowed here: observe, continue'
    assert home.sent("second") == []


async def test_case_114_a_crash_ends_the_turn(home: VeraHome) -> None:
    home.hook("turn_ending", "first", "cat >/dev/null; exit 1")
    home.hook("turn_ending", "second", continues(context="x"))

    assert (await home.fire(ending())).decision is None
    assert home.sent("second") == []


async def test_a_failure_holds_for_one_reply_only(home: VeraHome) -> None:
    home.hook("turn_ending", "first", 'grep -q \'"reply":"bad"\' && exit 1; echo \'{"power":"observe"}\'')
    home.hook("turn_ending", "second", continues(context="x"))
    session = home.session()

    assert (await session.fire(ending("bad"))).decision is None
    assert (await session.fire(ending("good"))).decision == Continue("x")


async def test_case_120_the_context_phases_may_print_more(home: VeraHome) -> None:
    home.hook("turn_ending", "map-check", big(100_000, {"power": "continue", "context": "x" * 50_000}))
    home.hook("pre_tool_use", "guard", big(100_000, {"power": "observe"}))

    assert (await home.fire(ending())).decision == Continue("x" * 50_000)
    assert (await home.fire(proposed())).failure == "printed more than 65536 bytes"


async def test_the_bound_of_the_context_phases(home: VeraHome) -> None:
    home.hook("turn_ending", "most", big(790_528, {"power": "observe"}))
    home.hook("turn_ending", "more", big(790_529, {"power": "observe"}))
    session = home.session()

    await session.fire(ending())

    assert [call.ended for call in session.calls] == [Ended.PASSED, Ended.FAILED]
