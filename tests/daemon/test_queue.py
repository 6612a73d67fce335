"""Deliveries on disk: what got its 200 is not lost (issue: events are queued durably)."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from tests.support.daemon_process import HOOKED, DaemonProcess
from tests.support.deliveries import delivering
from tests.support.processes import until
from tests.support.served import Served, Stage, serving
from treblehook.daemon import serving as serving_module
from treblehook.daemon.webhooks.deliveries import Deliveries
from treblehook.daemon.webhooks.queue import FILE, Delivery, DeliveryQueue, NotStored
from treblehook.daemon.webhooks.replays import Seen
from treblehook.home.bus import EventBus
from treblehook.host.problems import ConfigInvalid
from treblehook.lifecycle.daemon_events import DaemonEvent, WebhookReceived


def delivery(number: int, size: int = 10) -> Delivery:
    return Delivery("ci", {"x-number": str(number)}, str(number).encode().ljust(size))


def seen(number: int) -> Seen:
    return Seen(number.to_bytes(32), 2e9)


def stored(home: Path) -> list[tuple[int, bytes]]:
    database = sqlite3.connect(home / FILE)
    try:
        return database.execute("SELECT id, body FROM deliveries ORDER BY id").fetchall()
    finally:
        database.close()


async def test_ids_and_callbacks_are_in_the_order_of_adding(tmp_path: Path) -> None:
    told: list[Delivery] = []
    queue = DeliveryQueue(tmp_path, told.append)
    await asyncio.gather(*(queue.add(delivery(number), seen(number)) for number in range(2500)))

    assert [one.headers["x-number"] for one in told] == [str(number) for number in range(2500)]
    assert [one.id for one in told] == sorted(one.id for one in told)
    assert [(id, body.strip()) for id, body in stored(tmp_path)] == [(one.id, str(number).encode()) for number, one in enumerate(told)]
    queue.remove(told[1999].id)
    await queue.close()
    assert [id for id, _ in stored(tmp_path)] == [one.id for one in told[2000:]]


async def test_it_is_durable_before_add_returns(tmp_path: Path) -> None:
    queue = DeliveryQueue(tmp_path, lambda one: None)
    await queue.add(delivery(1), seen(1))
    database = sqlite3.connect(tmp_path / FILE)
    assert database.execute("SELECT count(*) FROM deliveries").fetchone() == (1,)
    assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    database.close()
    assert queue._database.execute("PRAGMA synchronous").fetchone() == (2,)
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600
    assert (tmp_path / f"{FILE}-wal").stat().st_mode & 0o777 == 0o600
    await queue.close()


async def test_one_that_cannot_be_written_fails_alone(tmp_path: Path) -> None:
    queue = DeliveryQueue(tmp_path, lambda one: None)
    queue._database.execute("CREATE TRIGGER t BEFORE INSERT ON deliveries WHEN new.name = 'bad' BEGIN SELECT raise(ABORT, 'no'); END")
    adding = [queue.add(Delivery("bad" if number == 3 else "ci", {}, b"%d" % number), seen(number)) for number in range(6)]

    results = await asyncio.gather(*adding, return_exceptions=True)

    assert [type(result) for result in results] == [type(None)] * 3 + [NotStored] + [type(None)] * 2
    assert [body for _, body in stored(tmp_path)] == [b"0", b"1", b"2", b"4", b"5"]
    await queue.close()


async def test_a_removal_that_cannot_be_written_is_tried_again(tmp_path: Path) -> None:
    told: list[Delivery] = []
    queue = DeliveryQueue(tmp_path, told.append)
    await queue.add(delivery(1), seen(1))
    queue._database.execute("PRAGMA query_only = ON")
    queue.remove(told[0].id)
    while not queue.fault:
        await asyncio.sleep(0.005)
    queue._database.execute("PRAGMA query_only = OFF")
    await queue.close()
    assert stored(tmp_path) == []


async def test_tags_are_remembered_and_bounded(tmp_path: Path) -> None:
    queue = DeliveryQueue(tmp_path, lambda one: None)
    await asyncio.gather(*(queue.add(delivery(number), seen(number)) for number in range(5000)))
    await queue.close()
    again = DeliveryQueue(tmp_path, lambda one: None)
    assert [one.tag for one in again.seen(1e9)] == [seen(number).tag for number in range(5000 - 4096, 5000)]
    assert again.seen(2e9 + 1) == []
    await again.close()


@pytest.mark.parametrize(
    "content", [b"this is no database at all, and long enough to be looked at" * 100, b"SQLite format 3\x00" + b"x" * 200]
)
def test_a_file_that_is_no_queue(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(ConfigInvalid, match=r"webhooks\.sqlite3: the queue cannot be opened"):
        DeliveryQueue(tmp_path, lambda one: None)
    assert (tmp_path / FILE).read_bytes() == content


def test_a_folder_in_its_place(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    with pytest.raises(ConfigInvalid, match="the queue cannot be opened"):
        DeliveryQueue(tmp_path, lambda one: None)


async def test_what_does_not_fit_into_memory_stays_on_disk_and_keeps_its_order(tmp_path: Path) -> None:
    got: list[str] = []
    go = asyncio.Event()

    async def dispatch(event: DaemonEvent) -> None:
        await go.wait()
        assert isinstance(event, WebhookReceived)
        got.append(event.headers["x-number"])

    bus = EventBus(dispatch, lambda event, error: None)
    problems: list[str] = []
    deliveries = Deliveries(bus, problems.append, memory_bytes=100_000)
    queue = DeliveryQueue(tmp_path, deliveries.stored)
    deliveries.start(queue)
    await asyncio.gather(*(queue.add(delivery(number, 2_000), seen(number)) for number in range(500)))

    assert (deliveries.waiting, problems) == (500, [])
    assert bus.depth < 30, "the rest is on disk only"
    go.set()
    while deliveries.waiting:
        await asyncio.sleep(0.001)
    assert got == [str(number) for number in range(500)]
    await queue.close()
    assert stored(tmp_path) == []


async def test_deliveries_that_come_while_older_ones_are_read_keep_their_order(tmp_path: Path) -> None:
    got: list[str] = []

    async def dispatch(event: DaemonEvent) -> None:
        assert isinstance(event, WebhookReceived)
        await asyncio.sleep(0)
        got.append(event.headers["x-number"])

    bus = EventBus(dispatch, lambda event, error: None)
    deliveries = Deliveries(bus, lambda line: None, memory_bytes=20_000)
    queue = DeliveryQueue(tmp_path, deliveries.stored)
    deliveries.start(queue)
    for start in range(0, 400, 40):
        await asyncio.gather(*(queue.add(delivery(number, 1_000), seen(number)) for number in range(start, start + 40)))
    while deliveries.waiting:
        await asyncio.sleep(0.001)
    assert got == [str(number) for number in range(400)]
    await queue.close()


async def test_ten_thousand_deliveries_at_once(served: Served) -> None:
    served.hold.clear()

    async def sender(first: int) -> int:
        bodies = [b"[%d]" % number for number in range(first, first + 20)]
        requests = [delivering(body) for body in bodies[:-1]] + [delivering(bodies[-1], "Connection: close")]
        return (await served.raw(b"".join(requests))).count(b"HTTP/1.1 200 ")

    assert await asyncio.gather(*(sender(first) for first in range(0, 10_000, 20))) == [20] * 500
    assert served.received == []
    served.hold.set()
    bodies = [event.body for event in await served.deliveries(10_000)]
    assert sorted(bodies) == sorted(f"[{number}]" for number in range(10_000))


async def test_a_second_start_hands_over_what_the_first_has_left(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving_module, "_BUS_SECONDS", 0.01)
    async with serving(stage) as first:
        first.hold.clear()
        for number in range(5):
            assert (await first.deliver(b"%d" % number)).status_code == 200
    assert first.said == ["warning: 5 events were not handled; webhooks among them come again at the next start"]
    async with serving(stage) as second:
        assert [event.body for event in await second.deliveries(5)] == ["0", "1", "2", "3", "4"]
        assert (await second.deliver(b"0")).status_code == 401, "its tag has been remembered"
        assert (await second.deliver(b"5")).status_code == 200
        assert (await second.deliveries(6))[-1].body == "5"


@pytest.mark.slow
def test_a_kill_loses_nothing_that_was_acknowledged(stage: Stage) -> None:
    (stage.home / "hold").touch()
    acknowledged: list[str] = []
    for round in range(3):
        with DaemonProcess(stage.home, command=HOOKED) as daemon:
            for number in range(20):
                body = f"[{round},{number}]"
                assert daemon.deliver(body.encode()) == 200
                acknowledged.append(body)
            assert daemon.deliver(body.encode()) == 401
            daemon.wait_received(1)
            daemon.kill()

    (stage.home / "received").unlink()
    (stage.home / "hold").unlink()
    with DaemonProcess(stage.home, command=HOOKED) as daemon:
        assert daemon.deliver(b"[0,0]") == 401, "what was seen is remembered"
        assert daemon.deliver(b'"last"') == 200
        received = daemon.wait_received(len(acknowledged) + 1)
        assert [one["body"] for one in received] == [*acknowledged, '"last"']
        assert daemon.stop() == 0
    assert stored(stage.home) == []


def test_a_delivery_that_was_handled_does_not_come_again(stage: Stage) -> None:
    with DaemonProcess(stage.home, command=HOOKED) as daemon:
        assert daemon.deliver(b'"once"') == 200
        daemon.wait_received(1)
        assert daemon.stop() == 0
    with DaemonProcess(stage.home, command=HOOKED) as daemon:
        assert daemon.deliver(b'"twice"') == 200
        assert [one["body"] for one in daemon.wait_received(2)] == ['"once"', '"twice"']


@pytest.mark.parametrize("again", [False, True])
async def test_a_queue_that_was_taken_away_takes_nothing_more(stage: Stage, again: bool) -> None:
    async with serving(stage) as served:
        assert (await served.deliver(b"1")).status_code == 200
        await served.deliveries(1)
        (stage.home / FILE).rename(stage.home / "moved")
        if again:
            (stage.home / FILE).touch()
        answer = await served.deliver(b"2")
        assert (answer.status_code, answer.json()["error"]["code"]) == (502, "not_stored")
        assert (await served.deliver(b"2")).status_code == 502, "it is no replay"
        assert (await served.client.get("/healthz")).json()["status"] == "degraded"
        await until(lambda: any("deliveries cannot be stored" in line and "taken away" in line for line in served.said))
    assert sum("deliveries cannot be stored" in line for line in served.said) == 1
