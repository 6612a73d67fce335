"""`GET /api/sessions/{id}/events`: the records of a session as server-sent events, resumed without loss."""

import asyncio
import json
from typing import Any

import pytest

from tests.cli.test_jsonl import KEYS
from tests.support.command_home import says
from tests.support.command_run import calls
from tests.support.processes import until
from tests.support.served import Served, Stage, serving
from tests.support.sse import Event, watching
from treblehook.agent.permissions import Always
from treblehook.daemon.sessions import stream
from treblehook.daemon.sessions.position import Position, position_of


@pytest.fixture(autouse=True)
def scripted(stage: Stage) -> None:
    plays(stage, {"text": "Dug.", "repeat": 1000})


def plays(stage: Stage, *turns: dict[str, Any], **more: Any) -> None:
    stage.script.write_text(json.dumps({"turns": turns, **more}))


def records(events: list[Event]) -> list[dict[str, Any]]:
    return [event.record for event in events]


async def turns(served: Served, session: str, count: int) -> None:
    """So many turns, one after another, to their ends."""
    async with watching(served.client, session) as events:
        for _ in range(count):
            await served.prompt(session)
        for _ in range(count):
            await events.until("end")


async def test_the_records_are_those_of_jsonl(stage: Stage) -> None:
    stage.files.claude("UserPromptSubmit", "remember", "cat >/dev/null; echo third palm")
    stage.files.hook("pre_tool_use", "gentle", says({"power": "mutate", "input": {"command": "echo gently"}}))
    plays(stage, calls("echo hard"), {"text": "Dug."})
    async with serving(stage, approver=Always()) as served:
        session = await served.open()
        await served.prompt(session)
        async with watching(served.client, session) as events:
            assert events.response.headers["content-type"] == "text/event-stream; charset=utf-8"
            assert events.response.headers["cache-control"] == "no-store"
            found = await events.until("end")

    assert [event.type for event in found] == [
        "session", "prompt", "hook", "row", "hook", "tool_call", "tool_result", "reply", "end",
    ]  # fmt: skip
    for event in found:
        assert list(event.record) == ["type", "at", "session", *KEYS[event.type]]
        assert event.type == event.record["type"]
    [call] = [event.record for event in found if event.type == "tool_call"]
    assert (call["input"], call["asked"]) == ({"command": "echo gently"}, {"command": "echo hard"})
    positions = [position_of(event.id) for event in found]
    assert None not in positions
    assert positions == sorted(set(positions), key=lambda position: position or Position(0))


async def test_it_can_be_resumed_after_each_event(served: Served) -> None:
    session = await served.open()
    await turns(served, session, 3)
    async with watching(served.client, session) as events:
        whole = [event for _ in range(3) for event in await events.until("end")]

    for at, event in enumerate(whole[:-1]):
        async with watching(served.client, session, after=event.id) as events:
            assert await events.take(len(whole) - at - 1) == whole[at + 1 :], event


async def test_it_can_be_resumed_from_the_file_alone(stage: Stage) -> None:
    async with serving(stage) as served:
        session = await served.open()
        await turns(served, session, 3)
        async with watching(served.client, session) as events:
            whole = [event for _ in range(3) for event in await events.until("end")]
    async with serving(stage) as served:
        for at in range(-1, len(whole) - 1):
            async with watching(served.client, session, after=whole[at].id if at >= 0 else "") as events:
                rest = await events.rest()
            assert (rest[-1].type, rest[-1].record["reason"]) == ("closed", "not_open")
            assert rest[:-1] == whole[at + 1 :]


async def test_what_hooks_changed_is_left_out_of_what_the_file_tells(stage: Stage) -> None:
    stage.files.hook("pre_tool_use", "gentle", says({"power": "mutate", "input": {"command": "echo gently"}}))
    plays(stage, calls("echo hard"), {"text": "Dug."})
    async with serving(stage, approver=Always()) as served:
        session = await served.open()
        await turns(served, session, 1)
        await served.client.delete(f"/api/sessions/{session}")
        async with watching(served.client, session) as events:
            found = await events.rest()
    [call] = [event.record for event in found if event.type == "tool_call"]
    assert (call["left_out"], call["input"]) == (["asked"], {"command": "echo gently"})
    assert b"echo hard" not in json.dumps([event.record for event in found]).encode()


async def test_the_file_takes_over_where_memory_ends(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treblehook.daemon.sessions.feed.MEMORY_BYTES", 2000)
    monkeypatch.setattr("treblehook.daemon.sessions.stored.CHUNK_BYTES", 700)
    plays(stage, {"text": "Dug. " * 300, "repeat": 1000})
    async with serving(stage) as served:
        session = await served.open()
        feed = served.daemon._live._live[session].feed
        feed._memory = 2000
        await turns(served, session, 20)
        assert sum(len(frame) for _, frame in feed._frames) <= 2000
        async with watching(served.client, session) as events:
            whole = [event for _ in range(20) for event in await events.until("end")]
        assert [event.type for event in whole] == ["session", *["prompt", "reply", "end"] * 20]
        for at in range(0, len(whole) - 1, 7):
            async with watching(served.client, session, after=whole[at].id) as events:
                assert await events.take(len(whole) - at - 1) == whole[at + 1 :]


async def test_readers_that_come_and_go_while_it_runs_lose_nothing(served: Served) -> None:
    session = await served.open()
    count = 40

    async def reader(step: int) -> list[Event]:
        found: list[Event] = []
        while sum(event.type == "end" for event in found) < count:
            async with watching(served.client, session, after=found[-1].id if found else "") as events:
                found += await events.take(step)
        return found

    readers = [asyncio.ensure_future(reader(step)) for step in (1, 1, 11, 11)]
    for _ in range(count):
        await served.prompt(session)
    told = await asyncio.gather(*readers)
    async with watching(served.client, session) as events:
        whole = [event for _ in range(count) for event in await events.until("end")]
    for found in told:
        assert found[: len(whole)] == whole[: len(found)]


@pytest.mark.parametrize("after", ["x", "-1", "5", "999999999", "1.x", "1e3", "0x10", "9" * 40, "12;drop"])
async def test_an_id_that_no_event_has(served: Served, after: str) -> None:
    session = await served.open()
    answer = await served.client.get(f"/api/sessions/{session}/events", headers={"last-event-id": after})
    assert (answer.status_code, answer.json()["error"]["place"]) == (400, "Last-Event-ID")


async def test_a_heartbeat_while_nothing_happens(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(stage) as served:
        session = await served.open()
        monkeypatch.setattr(stream, "HEARTBEAT_SECONDS", 0.01)
        async with watching(served.client, session) as events:
            async for line in events.response.aiter_lines():
                if line.startswith(":"):
                    events.comments.append(line)
                if len(events.comments) == 4:
                    break
        assert set(events.comments) == {": heartbeat"}


async def test_a_client_that_goes_away_is_let_go_of(served: Served) -> None:
    session = await served.open()
    resident = served.daemon._residents._residents[session]
    before = len(asyncio.all_tasks())
    for _ in range(10):
        async with watching(served.client, session) as events:
            await events.take(1)
            assert len(resident.clients) == 1
        await until(lambda: not resident.clients)
    await until(lambda: len(asyncio.all_tasks()) <= before)


async def test_a_client_that_had_sent_another_request_ahead_is_let_go_of_too(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "HEARTBEAT_SECONDS", 0.01)
    session = await served.open()
    resident = served.daemon._residents._residents[session]
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    request = f"GET /api/sessions/{session}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    writer.write(request + request)
    await reader.readuntil(b"event: session")
    assert len(resident.clients) == 1
    writer.transport.abort()
    await until(lambda: not resident.clients)


async def test_a_reader_that_takes_nothing_holds_up_nobody_and_is_let_go_of(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    plays(stage, {"text": "x" * 200_000, "repeat": 1000})
    async with serving(stage) as served:
        monkeypatch.setattr(stream, "STUCK_SECONDS", 0.2)
        session = await served.open()
        resident = served.daemon._residents._residents[session]
        _, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(f"GET /api/sessions/{session}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        await until(lambda: len(resident.clients) == 1)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        feed = served.daemon._live._live[session].feed
        for _ in range(60):
            await served.client.post(f"/api/sessions/{session}/prompts", json={"prompt": "dig"})
            assert feed._size <= 256 * 1024
        await until(lambda: served.daemon._live.info(session).turns == 60 and not served.daemon._live.info(session).waiting)
        await until(lambda: not resident.clients)
        assert (await served.client.get("/healthz")).status_code == 200
        writer.transport.abort()

        # What it has not taken is still there for it.
        async with watching(served.client, session) as events:
            found = [event for _ in range(60) for event in await events.until("end")]
        assert sum(len(event.record["text"]) for event in found if event.type == "reply") == 60 * 200_000


async def test_a_record_of_a_subagent_is_told_as_it_happens(stage: Stage) -> None:
    plays(
        stage,
        {"text": "", "tools": [{"name": "agent", "args": {"task": "look"}}]},
        {"text": "Looked."},
        {"text": "Dug."},
    )
    async with serving(stage, approver=Always()) as served:
        session = await served.open()
        await served.prompt(session)
        async with watching(served.client, session) as events:
            found = await events.until("end")
            while found[-1].record["session"] != session:
                found += await events.until("end")
        children = {event.record["session"] for event in found} - {session}
        assert children
        for at, event in enumerate(found[:-1]):
            async with watching(served.client, session, after=event.id) as events:
                assert await events.take(len(found) - at - 1) == found[at + 1 :]
        async with watching(served.client, min(children)) as events:
            assert [event.type for event in await events.rest()][-1] == "closed"


async def test_a_stream_ends_with_the_daemon(stage: Stage) -> None:
    async with serving(stage) as served:
        session = await served.open()
        rest: asyncio.Future[list[Event]]
        stream_ = watching(served.client, session)
        events = await stream_.__aenter__()
        await events.take(1)
        rest = asyncio.ensure_future(events.rest())
        served.daemon.stop()
        assert (await rest)[-1].record == {"type": "closed", "reason": "shutdown"}
        await stream_.__aexit__(None, None, None)


async def test_a_session_that_is_moved_to_the_trash_ends_its_streams(served: Served) -> None:
    session = await served.open()
    async with watching(served.client, session) as events:
        await events.take(1)
        await served.client.delete(f"/api/sessions/{session}", params={"forget": "true"})
        assert (await events.rest())[-1].record == {"type": "closed", "reason": "deleted"}
