"""Sessions over HTTP."""

import asyncio
import json
from typing import Any

import pytest

from tests.support.command_run import calls
from tests.support.nest import HELD, KEEPS_STDIN
from tests.support.processes import until
from tests.support.served import Served, Stage, serving
from tests.support.sse import watching
from treblehook.agent.permissions import Always
from treblehook.contracts.python import Hooks
from treblehook.lifecycle import Refuse, SessionEnd, SessionStart


def plays(stage: Stage, *turns: dict[str, Any], **more: Any) -> None:
    stage.script.write_text(json.dumps({"turns": turns, **more}))


def told(stage: Stage, hook: str) -> list[dict[str, Any]]:
    """What a hook with `KEEPS_STDIN` has been sent."""
    file = stage.files.hooks / f"{hook}.stdin"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.fixture(autouse=True)
def scripted(stage: Stage) -> None:
    plays(stage, {"text": "Dug.", "repeat": 100})
    for phase in ("session_start", "session_end"):
        stage.files.hook(phase, phase, f'{KEEPS_STDIN}echo \'{{"power":"observe"}}\'')


async def test_a_session_from_opening_to_closing(served: Served) -> None:
    response = await served.client.post("/api/sessions", json=served.stage.opening)
    assert response.status_code == 201
    info = response.json()
    assert response.headers["location"] == f"/api/sessions/{info['id']}"
    assert info == {
        "id": info["id"],
        "workspace": str(served.stage.workspace),
        "model": served.stage.opening["model"],
        "state": "idle",
        "turns": 0,
        "waiting": 0,
    }
    assert (await served.client.get("/api/sessions")).json() == {"sessions": [info]}

    assert await served.prompt(info["id"]) == {"session": info["id"], "standing": "starts", "ahead": 0}
    async with watching(served.client, info["id"]) as events:
        records = [event.record for event in await events.until("end")]
        assert [record["text"] for record in records if record["type"] == "reply"] == ["Dug."]
        closed = await served.client.delete(f"/api/sessions/{info['id']}")
        assert (closed.status_code, closed.json()) == (200, {"id": info["id"], "kept": True})
        last = (await events.rest())[-1]
        assert (last.type, last.record) == ("closed", {"type": "closed", "reason": "closed"})

    assert [payload["reason"] for payload in told(served.stage, "session_end")] == ["closed"]
    assert (await served.client.get("/api/sessions")).json() == {"sessions": []}
    gone = await served.client.get(f"/api/sessions/{info['id']}")
    assert (gone.status_code, gone.json()["error"]["code"]) == (404, "session_not_open")
    assert (await served.client.delete(f"/api/sessions/{info['id']}")).status_code == 404
    assert (served.stage.home / "sessions" / f"{info['id']}.jsonl").exists()


async def test_a_prompt_opens_a_closed_session_again(served: Served) -> None:
    session = await served.open()
    await served.client.delete(f"/api/sessions/{session}")

    await asyncio.gather(*(served.prompt(session, f"dig {number}") for number in range(3)))

    async with watching(served.client, session) as events:
        records = [event.record for _ in range(3) for event in await events.until("end")]
    assert [record["reason"] for record in records if record["type"] == "session"] == ["start", "resume"]
    assert [record["text"] for record in records if record["type"] == "prompt"] == ["dig 0", "dig 1", "dig 2"]


async def test_a_session_that_is_opened_again_while_it_is_closed_goes_on_being_told(served: Served) -> None:
    ending, go = asyncio.Event(), asyncio.Event()
    hooks = Hooks()

    @hooks.on(SessionEnd)
    async def wait(event: SessionEnd) -> None:
        ending.set()
        await go.wait()

    hooks.bind(served.home.registry)
    session = await served.open()
    closing = asyncio.ensure_future(served.client.delete(f"/api/sessions/{session}"))
    await ending.wait()
    prompting = asyncio.ensure_future(served.prompt(session))
    # A request that was sent after it has been answered, so the prompt has been taken.
    await served.client.get("/healthz")
    go.set()
    assert (await closing).status_code == 200
    await prompting

    async with watching(served.client, session) as events:
        await events.until("end")
        await served.prompt(session, "dig deeper")
        assert [event.record["text"] for event in await events.until("end") if event.type == "prompt"] == ["dig deeper"]


async def test_forgetting_moves_it_to_the_trash(served: Served) -> None:
    session, other = await served.open(), await served.open()
    await served.client.delete(f"/api/sessions/{other}")

    for one in (session, other):
        answer = await served.client.delete(f"/api/sessions/{one}", params={"forget": "true"})
        assert (answer.status_code, answer.json()) == (200, {"id": one, "kept": False})
        assert (served.stage.home / "trash" / f"{one}.jsonl").exists()
        assert (await served.client.delete(f"/api/sessions/{one}", params={"forget": "true"})).status_code == 404
    assert [payload["reason"] for payload in told(served.stage, "session_end")] == ["closed", "deleted"]
    assert (await served.client.post(f"/api/sessions/{session}/prompts", json={"prompt": "dig"})).status_code == 404
    assert (await served.client.delete(f"/api/sessions/{session}", params={"forget": "perhaps"})).status_code == 422


@pytest.mark.parametrize("session", ["ses_", "ses_0", "ses_" + "0" * 32, "x", "..", "%2e%2e%2fconfig", "SES_" + "0" * 32])
async def test_a_session_that_there_is_not(served: Served, session: str) -> None:
    await served.open()
    path = f"/api/sessions/{session}"
    answers = [
        await served.client.get(path),
        await served.client.delete(path),
        await served.client.delete(path, params={"forget": "true"}),
        await served.client.post(f"{path}/prompts", json={"prompt": "dig"}),
        await served.client.get(f"{path}/events"),
    ]
    assert {answer.status_code for answer in answers} <= {404, 405}
    assert all(answer.json()["error"]["code"] for answer in answers)
    assert len((await served.client.get("/api/sessions")).json()["sessions"]) == 1


async def test_a_refused_session_answers_with_the_hooks_words(stage: Stage) -> None:
    async with serving(stage) as served:
        hooks = Hooks()
        hooks.on(SessionStart)(lambda event: Refuse("the harbour is closed"))
        hooks.bind(served.home.registry)
        answer = await served.client.post("/api/sessions", json=stage.opening)
        assert answer.status_code == 403
        assert answer.json() == {"error": {"code": "session_refused", "message": "the harbour is closed"}}
        assert (await served.client.get("/api/sessions")).json() == {"sessions": []}
    assert len(told(stage, "session_end")) == 1


@pytest.mark.parametrize(
    ("body", "status", "place"),
    [
        (b"", 400, ""),
        (b"{", 400, ""),
        (b"\xff", 400, ""),
        (b"[" * 5000, 422, "$"),
        (b'{"kilns": ' + b"[" * 5000, 422, "$.kilns[0]"),
        (b"[]", 422, "$"),
        (b'{"workspace": 5}', 422, "$.workspace"),
        (b'{"workspace": ""}', 422, "$.workspace"),
        (b'{"workspace": "relative"}', 422, "$.workspace"),
        (b'{"workspace": "/no/such/folder"}', 422, "$.workspace"),
        (b'{"workspace": "/etc/passwd"}', 422, "$.workspace"),
        (b'{"workspace": "/a\\u0000b"}', 422, "$.workspace"),
        (b'{"workspace": "~nobody-of-that-name/x"}', 422, "$.workspace"),
        (b'{"model": "nonsense"}', 422, "$.model"),
        (b'{"model": "script:/no/such/file"}', 422, "$.model"),
        (b'{"kilns": ["treasure"]}', 422, "$.kilns"),
        (b'{"kilns": [1]}', 422, "$.kilns[0]"),
        (b'{"modle": "x"}', 422, "$"),
    ],
)
async def test_a_body_that_opens_nothing(served: Served, body: bytes, status: int, place: str) -> None:
    answer = await served.client.post("/api/sessions", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert error.get("place", "") == place, error
    assert error["message"]


async def test_what_is_allowed_is_said(served: Served) -> None:
    session = await served.open()
    answer = await served.client.post(f"/api/sessions/{session}/prompts", json={"prompt": "dig", "when": "later"})
    assert answer.json() == {
        "error": {
            "code": "body_invalid",
            "message": "Invalid enum value 'later'",
            "place": "$.when",
            "allowed": 'prompt: string, when?: "idle" or "now"',
        }
    }
    for prompt in ("", "  \n", 5, None):
        assert (await served.client.post(f"/api/sessions/{session}/prompts", json={"prompt": prompt})).status_code == 422


async def test_without_a_model_it_says_which_file_names_one(served: Served) -> None:
    answer = await served.client.post("/api/sessions", json={"workspace": str(served.stage.workspace)})
    assert answer.status_code == 422
    [problem] = answer.json()["error"]["problems"]
    assert (problem["file"], problem["place"]) == (str(served.stage.home / "config.toml"), "model.default")


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", ""])
async def test_a_body_of_another_media_type(served: Served, content_type: str) -> None:
    answer = await served.client.post("/api/sessions", content=b"{}", headers={"content-type": content_type})
    assert (answer.status_code, answer.json()["error"]["allowed"]) == (415, "application/json")


async def test_prompts_wait_their_turn_or_join(served: Served) -> None:
    stage = served.stage
    stage.files.hook("post_tool_use", "gate", f'cat >/dev/null\n{HELD}echo \'{{"power":"observe"}}\'')
    plays(stage, {"text": "", "tools": [{"name": "read", "args": {"path": "x"}}]}, {"text": "Dug.", "repeat": 10})
    session = await served.open()

    assert (await served.prompt(session, "one"))["standing"] == "starts"
    await until(lambda: (stage.files.hooks / "gate.started").exists())
    assert await served.prompt(session, "two") == {"session": session, "standing": "waits", "ahead": 0}
    assert await served.prompt(session, "three") == {"session": session, "standing": "waits", "ahead": 1}
    assert (await served.prompt(session, "joined", "now"))["standing"] == "joins"
    info = (await served.client.get(f"/api/sessions/{session}")).json()
    assert (info["state"], info["waiting"]) == ("running", 3)
    (stage.files.hooks / "gate.go").touch()

    async with watching(served.client, session) as events:
        records = [event.record for _ in range(3) for event in await events.until("end")]
    assert [record["text"] for record in records if record["type"] == "prompt"] == ["one", "joined", "two", "three"]
    assert [record["turns"] for record in records if record["type"] == "end"] == [1, 2, 3]


async def test_too_many_that_wait_are_refused(served: Served) -> None:
    stage = served.stage
    stage.files.hook("pre_turn", "gate", f'cat >/dev/null\n{HELD}echo \'{{"power":"observe"}}\'')
    session = await served.open()
    await served.prompt(session)
    await until(lambda: (stage.files.hooks / "gate.started").exists())
    for number in range(100):
        assert (await served.prompt(session))["ahead"] == number
    answer = await served.client.post(f"/api/sessions/{session}/prompts", json={"prompt": "dig"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (429, "too_many_wait")


async def test_nobody_is_asked_so_the_policy_decides(stage: Stage) -> None:
    plays(stage, calls("echo dug > treasure"), {"text": "Done."}, calls("echo dug > treasure"), {"text": "Done."})
    async with serving(stage) as served:
        session = await served.open()
        await served.prompt(session)
        async with watching(served.client, session) as events:
            results = [event.record for event in await events.until("end") if event.type == "tool_result"]
        assert [(result["ran"], result["is_error"]) for result in results] == [(False, True)]
    assert not (stage.workspace / "treasure").exists()
    async with serving(stage, approver=Always()) as served:
        session = await served.open()
        await served.prompt(session)
        async with watching(served.client, session) as events:
            await events.until("end")
    assert (stage.workspace / "treasure").exists()


async def test_many_clients_and_sessions_at_once(served: Served) -> None:
    sessions = await asyncio.gather(*(served.open() for _ in range(20)))
    await asyncio.gather(*(served.prompt(session, f"{session} {number}") for session in sessions for number in range(3)))

    async def watch(session: str) -> list[str]:
        async with watching(served.client, session) as events:
            records = [event.record for _ in range(3) for event in await events.until("end")]
        assert {record["session"] for record in records} == {session}
        return [record["text"] for record in records if record["type"] == "prompt"]

    found = await asyncio.gather(*(watch(session) for session in sessions for _ in range(2)))
    assert found == [[f"{session} {number}" for number in range(3)] for session in sessions for _ in range(2)]
    assert len((await served.client.get("/api/sessions")).json()["sessions"]) == 20


async def test_a_session_that_nobody_uses_is_parked_and_woken_by_a_prompt(stage: Stage) -> None:
    async with serving(stage, park_seconds=0) as served:
        session = await served.open()
        while (info := (await served.client.get(f"/api/sessions/{session}")).json())["state"] != "parked":
            await asyncio.sleep(0.005)
        assert info["id"] == session
        assert told(stage, "session_end")[0]["reason"] == "idle"
        assert [one["state"] for one in (await served.client.get("/api/sessions")).json()["sessions"]] == ["parked"]

        async with watching(served.client, session) as events:
            assert [event.type for event in await events.take(3)] == ["session", "hook", "hook"]
            await served.prompt(session)
            records = [event.record for event in await events.until("end")]
        assert [record["reason"] for record in records if record["type"] == "session"] == ["resume"]

        await until(lambda: len(told(stage, "session_end")) == 2)
        await served.client.delete(f"/api/sessions/{session}")
        assert (await served.client.get("/api/sessions")).json() == {"sessions": []}


async def test_a_watched_session_is_not_parked(stage: Stage) -> None:
    async with serving(stage, park_seconds=0) as served:
        session = await served.open()
        async with watching(served.client, session) as events:
            await events.take(1)
            other = await served.open()
            await until(lambda: len(told(stage, "session_end")) >= 1)
            await served.daemon._live.park(0)
            states = {one["id"]: one["state"] for one in (await served.client.get("/api/sessions")).json()["sessions"]}
        assert states == {session: "idle", other: "parked"}


async def test_a_session_file_that_cannot_be_written(served: Served) -> None:
    (served.stage.home / "sessions").write_text("in the way")
    answer = await served.client.post("/api/sessions", json=served.stage.opening)
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "not_written")
