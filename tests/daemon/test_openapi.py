"""The document of the routes: it is what is served, and schemathesis finds nothing that contradicts it."""

import asyncio
import json
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from tests.support.served import AFAR, KEY, Served, Stage, serving
from treblehook.daemon.http.openapi import document

ROUTES = {
    "/api/sessions": {"get", "post"},
    "/api/sessions/{id}": {"get", "delete"},
    "/api/sessions/{id}/prompts": {"post"},
    "/api/sessions/{id}/events": {"get"},
    "/api/plugins/{name}/reload": {"post"},
    "/api/webhook/{name}": {"post"},
    "/hooks/{agent}": {"post"},
    "/healthz": {"get"},
    "/metrics": {"get"},
    "/openapi.json": {"get"},
}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


async def test_the_routes_are_those_of_the_document(served: Served) -> None:
    told = (await served.client.get("/openapi.json")).json()
    assert told["openapi"].startswith("3.1.")
    assert {path: set(methods) for path, methods in told["paths"].items()} == ROUTES

    for path, methods in ROUTES.items():
        filled = path.replace("{id}", "ses_0").replace("{name}", "ci").replace("{agent}", "codex")
        for method in METHODS:
            answer = await served.client.request(method, filled, headers={"authorization": f"Bearer {KEY}"})
            assert (answer.status_code == 405) is (method.lower() not in methods), (method, path, answer.status_code)


async def test_every_reference_leads_somewhere_and_every_id_is_its_own(served: Served) -> None:
    told = (await served.client.get("/openapi.json")).json()
    text = json.dumps(told)
    for name in {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}:
        assert name in told["components"]["schemas"], name
    ids = [operation["operationId"] for methods in told["paths"].values() for operation in methods.values()]
    assert len(ids) == len(set(ids))


async def test_an_error_always_has_the_one_shape(served: Served) -> None:
    answers = [
        await served.client.get("/nowhere"),
        await served.client.put("/healthz"),
        await served.client.get("/metrics", headers=AFAR),
        await served.client.get("/metrics", headers={"host": "evil.example"}),
        await served.client.post("/api/sessions", content=b"{"),
        await served.client.post("/api/webhook/ci", content=b""),
        await served.client.post("/api/plugins/none/reload"),
    ]
    assert [answer.status_code for answer in answers] == [404, 405, 401, 403, 415, 415, 404]
    for answer in answers:
        assert answer.headers["content-type"] == "application/json"
        assert set(answer.json()) == {"error"}
        assert {"code", "message"} <= set(answer.json()["error"])


async def test_a_fault_of_our_own(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Any:
        raise RuntimeError("something secret")

    monkeypatch.setattr(served.daemon._live, "infos", broken)
    answer = await served.client.get("/api/sessions")
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal")
    assert "something secret" not in answer.text
    assert any("something secret" in line for line in served.said)


@pytest.mark.slow
async def test_schemathesis_finds_nothing(stage: Stage) -> None:
    stage.script.write_text(json.dumps({"turns": [{"text": "Dug.", "repeat": 100_000}]}))
    stage.files.settings(f'[model]\ndefault = "script:{stage.script}"\n')
    async with serving(stage) as served:
        session = await served.open()
        base = f"http://127.0.0.1:{served.port}"
        schema = schemathesis.openapi.from_dict((await served.client.get("/openapi.json")).json())
        schema.config.update(base_url=base)
        for result in schema.get_all_operations():
            operation = result.ok()
            if operation.path.endswith("/events"):
                continue
            await asyncio.to_thread(_try, operation, session)
        for opened in (await served.client.get("/api/sessions")).json()["sessions"]:
            await served.client.delete(f"/api/sessions/{opened['id']}", params={"forget": "true"})


def _try(operation: Any, session: str) -> None:
    """Send it what the document allows and what it does not, the same each time."""
    for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):

        @settings(
            max_examples=25,
            derandomize=True,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def sent(case: Any) -> None:
            if "id" in case.path_parameters and case.method != "DELETE":
                case.path_parameters["id"] = session
            answer = case.call(timeout=60, headers={"Authorization": f"Bearer {KEY}"})
            case.validate_response(answer, checks=_CHECKS)

        try:
            sent()
        except Unsatisfiable:
            assert mode is schemathesis.GenerationMode.NEGATIVE, "what is allowed can be sent"
            assert not operation.body or operation.path.startswith("/api/webhook/"), "only a webhook's body may be anything"
        except FailureGroup as failures:
            raise AssertionError("\n".join(map(str, failures.exceptions))) from failures


_CHECKS = [not_a_server_error, negative_data_rejection, status_code_conformance, content_type_conformance, response_schema_conformance]


def test_the_document_tells_of_what_the_edge_answers() -> None:
    assert set(document([])["components"]["schemas"]) >= {"ErrorAnswer", "Wrong"}
