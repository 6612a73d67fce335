"""The bus of daemon events: never waiting, in order, one at a time (crucible.md 3.15)."""

import asyncio

from treblehook.home.bus import LONGEST_CHAIN, ChainTooLong, EventBus
from treblehook.lifecycle import FileDeleted, NoteDeleted
from treblehook.lifecycle.daemon_events import DaemonEvent


class Rig:
    """A bus whose dispatch can be held, and what became of each event."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.failures: list[tuple[str, str]] = []
        self.go = asyncio.Event()
        self.go.set()
        self.bus = EventBus(self._dispatch, lambda event, error: self.failures.append((path(event), str(error))))

    async def _dispatch(self, event: DaemonEvent) -> None:
        self.seen.append(f"begin {path(event)}")
        await self.go.wait()
        if path(event) == "bad":
            raise RuntimeError("crashed")
        self.seen.append(f"end {path(event)}")

    def tell(self, *paths: str) -> None:
        for one in paths:
            self.bus.tell(FileDeleted(path=one), lambda one=one: self.seen.append(f"done {one}"))


def path(event: DaemonEvent) -> str:
    assert isinstance(event, FileDeleted)
    return event.path


async def test_one_after_another_in_the_order_of_arrival() -> None:
    rig = Rig()
    rig.go.clear()
    rig.tell("a", "b", "c")
    assert (rig.bus.depth, rig.seen) == (3, [])
    await asyncio.sleep(0)
    assert rig.seen == ["begin a"]
    rig.tell("d")
    rig.go.set()

    assert await rig.bus.drain(30) == 0
    assert rig.seen == [f"{what} {one}" for one in "abcd" for what in ("begin", "end", "done")]


async def test_a_dispatch_that_fails_is_told_and_the_next_follows() -> None:
    rig = Rig()
    rig.tell("bad", "good")

    assert await rig.bus.drain(30) == 0

    assert rig.failures == [("bad", "crashed")]
    assert rig.seen == ["begin bad", "done bad", "begin good", "end good", "done good"]


async def test_what_handlers_tell_comes_after_what_waits() -> None:
    rig = Rig()

    async def dispatch(event: DaemonEvent) -> None:
        rig.seen.append(path(event))
        if path(event) == "a":
            bus.tell(FileDeleted(path="from a"))

    bus = EventBus(dispatch, lambda event, error: None)
    bus.tell(FileDeleted(path="a"))
    bus.tell(FileDeleted(path="b"))
    assert await bus.drain(30) == 0
    assert rig.seen == ["a", "b", "from a"]


async def test_a_drain_ends_within_its_bound_and_says_what_is_left() -> None:
    rig = Rig()
    rig.go.clear()
    rig.tell("a", "b")

    assert await rig.bus.drain(0.01) == 2

    rig.go.set()
    rig.tell("c")
    for _ in range(5):
        await asyncio.sleep(0)
    assert rig.seen == ["begin a"]
    assert rig.bus.depth == 2


async def test_it_starts_again_after_it_was_quiet_and_counts() -> None:
    rig = Rig()
    for one in ("a", "b"):
        rig.tell(one)
        while rig.bus.depth:
            await asyncio.sleep(0)
    assert rig.bus.fired == {"FileDeleted": 2}
    assert "done b" in rig.seen


async def test_handlers_that_never_wait_do_not_hold_up_the_loop() -> None:
    async def dispatch(event: DaemonEvent) -> None:
        end = asyncio.get_running_loop().time() + 0.001
        while asyncio.get_running_loop().time() < end:
            pass

    bus = EventBus(dispatch, lambda event, error: None)
    for number in range(200):
        bus.tell(NoteDeleted(path=str(number), existed=True))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert 100 < bus.depth < 200
    await bus.drain(30)


async def test_handlers_that_tell_of_each_other_without_an_end_are_asked_no_more() -> None:
    failures: list[tuple[DaemonEvent, Exception]] = []
    asked: list[str] = []
    done: list[int] = []

    async def dispatch(event: DaemonEvent) -> None:
        asked.append(path(event))
        # As a handler does whose note is written by a task of its own.
        await asyncio.ensure_future(again(event))

    async def again(event: DaemonEvent) -> None:
        await asyncio.sleep(0)
        if path(event) == "loops":
            bus.tell(FileDeleted(path="loops"), lambda: done.append(1))

    bus = EventBus(dispatch, lambda event, error: failures.append((event, error)))
    bus.tell(FileDeleted(path="loops"))
    assert await bus.drain(30) == 0
    assert asked == ["loops"] * LONGEST_CHAIN
    assert [(path(event), type(error)) for event, error in failures] == [("loops", ChainTooLong)]
    assert len(done) == LONGEST_CHAIN


async def test_events_that_follow_from_no_handler_are_never_too_many() -> None:
    rig = Rig()
    for _ in range(3 * LONGEST_CHAIN):
        rig.tell("a")
        await asyncio.sleep(0)
    assert await rig.bus.drain(30) == 0
    assert rig.failures == []


async def test_a_chain_that_has_ended_leaves_later_events_alone() -> None:
    asked: list[str] = []

    async def dispatch(event: DaemonEvent) -> None:
        asked.append(path(event))
        if path(event) == "loops" and len(asked) < LONGEST_CHAIN:
            bus.tell(event)

    bus = EventBus(dispatch, lambda event, error: asked.append(type(error).__name__))
    bus.tell(FileDeleted(path="loops"))
    while bus.depth:
        await asyncio.sleep(0)
    for _ in range(3):
        bus.tell(FileDeleted(path="later"))
    assert await bus.drain(30) == 0
    assert asked == ["loops"] * LONGEST_CHAIN + ["later"] * 3
