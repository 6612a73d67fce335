"""A wait is shown once it takes long, and gone once it is over."""

import asyncio

import pytest

from tests.support.clock import Clock
from treblehook.cli.output.waiting import PATIENCE, Waiting

Shown = list[tuple[str | None, float]]


@pytest.fixture
async def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(asyncio.get_running_loop(), monkeypatch)


def collected(every: float | None = None) -> tuple[Waiting, list[str | None]]:
    shown: list[str | None] = []
    return Waiting(lambda what, seconds: shown.append(what), every), shown


async def test_a_short_wait_is_not_shown(clock: Clock) -> None:
    waiting, shown = collected()
    waiting.begin("a", "the crow")
    await clock.advance(PATIENCE / 2)
    waiting.end("a")
    await clock.advance(PATIENCE)

    assert shown == []


async def test_a_long_wait_is_shown_once_and_taken_away(clock: Clock) -> None:
    waiting, shown = collected()
    waiting.begin("a", "the crow")
    await clock.advance(PATIENCE)
    await clock.advance(60)
    waiting.end("a")

    assert shown == ["the crow", None]


async def test_it_is_shown_again_and_again_where_that_is_wanted(clock: Clock) -> None:
    waiting, shown = collected(every=1)
    waiting.begin("a", "the crow")
    await clock.advance(PATIENCE)
    await clock.advance(1)
    waiting.end("a")
    await clock.advance(5)

    assert shown == ["the crow", "the crow", None]


async def test_the_newest_wait_is_shown_and_then_the_one_before(clock: Clock) -> None:
    waiting, shown = collected()
    waiting.begin("a", "the crow")
    await clock.advance(PATIENCE)
    waiting.begin("b", "the mate")
    await clock.advance(PATIENCE)
    waiting.end("b")
    await clock.advance(0)
    waiting.end("a")

    assert shown == ["the crow", None, "the mate", None, "the crow", None]


async def test_the_seconds_count_from_the_beginning(clock: Clock) -> None:
    seconds: list[float] = []
    waiting = Waiting(lambda what, since: seconds.append(since))
    waiting.begin("a", "the crow")
    await clock.advance(10)

    assert seconds == [pytest.approx(10, abs=5)]


async def test_cleared_nothing_is_waited_for(clock: Clock) -> None:
    waiting, shown = collected()
    waiting.begin("a", "the crow")
    waiting.clear()
    waiting.end("a")
    await clock.advance(PATIENCE)

    assert shown == []


async def test_a_wait_that_comes_back_is_not_shown_once_more(clock: Clock) -> None:
    shown: list[str | None] = []
    waiting = Waiting(lambda what, seconds: shown.append(what), once=True)
    waiting.begin("a", "the crow")
    await clock.advance(PATIENCE)
    for _ in range(3):
        waiting.begin("b", "the mate")
        waiting.end("b")
        await clock.advance(PATIENCE)

    assert shown == ["the crow", None]
