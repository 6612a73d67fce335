"""`/metrics` and `/healthz`."""

import re

import pytest

from tests.support.served import AFAR, Served, Stage, serving
from treblehook.daemon.metrics import Family, exposition

LINE = re.compile(r'[a-z_:][a-z0-9_:]*(\{[a-z_]+="(\\.|[^"\\\n])*"(,[a-z_]+="(\\.|[^"\\\n])*")*\})? [0-9.e+-]+')


async def metrics(served: Served) -> dict[str, float]:
    answer = await served.client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    samples = [line for line in answer.text.splitlines() if not line.startswith("#")]
    assert all(LINE.fullmatch(line) for line in samples), answer.text
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in samples}


async def test_what_is_counted(stage: Stage) -> None:
    stage.script.write_text('{"turns": [{"text": "Dug.", "repeat": 9}]}')
    stage.files.hook("session_start", "lookout", 'cat >/dev/null; echo \'{"power":"observe"}\'')
    stage.files.hook("session_start", "broken", "exit 7")
    async with serving(stage) as served:
        before = await metrics(served)
        assert (before["treblehook_sessions_open"], before["treblehook_webhooks_waiting"]) == (0, 0)
        await served.open()
        await served.deliver(b"{}")
        await served.deliver(b"{}")
        await served.deliver(b"{}", headers={})
        await served.deliver(b"{}", **AFAR)
        await served.deliver(b"{}", host="evil.example")
        await served.deliveries(1)

        found = await metrics(served)

    assert found["treblehook_sessions_open"] == 1
    assert found['treblehook_events_fired_total{event="WebhookReceived"}'] == 1
    reasons = {"accepted": 1, "signature_refused": 1, "media_type": 1, "bearer_required": 1, "host_refused": 1}
    assert {reason: found[f'treblehook_webhooks_total{{result="{reason}"}}'] for reason in reasons} == reasons
    calls = {key: value for key, value in found.items() if key.startswith("treblehook_hook_seconds_count")}
    assert calls['treblehook_hook_seconds_count{contract="vera",event="session_start",ended="failed"}'] == 1
    assert sum(value for key, value in calls.items() if 'event="session_start"' in key) == 2
    assert found['treblehook_hook_seconds_sum{contract="vera",event="session_start",ended="failed"}'] > 0
    assert any('contract="python"' in key for key in calls), "the hook of the delivery"


def test_a_label_may_hold_anything() -> None:
    text = exposition([Family("a", "counter", "Help.", {(("x", 'q"\\\n'),): 2})])
    assert text == '# HELP a Help.\n# TYPE a counter\na{x="q\\"\\\\\\n"} 2\n'


async def test_health(served: Served) -> None:
    answer = await served.client.get("/healthz", headers=AFAR)
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")
    facts = {fact["what"]: fact["count"] for fact in answer.json()["facts"]}
    assert {"sessions", "events", "webhooks", "problems"} <= set(facts)
    assert answer.json()["version"]


async def test_health_is_degraded_where_something_is_broken(served: Served) -> None:
    served.home.problems.append(_problem())
    answer = (await served.client.get("/healthz")).json()
    assert answer["status"] == "degraded"
    assert [fact["wrong"] for fact in answer["facts"] if fact["wrong"]] == ["see the error output of the daemon"]
    assert "secret place" not in str(answer)


def _problem() -> object:
    from treblehook.host.problems import Problem

    return Problem("/secret place", "", "broken")


@pytest.mark.parametrize("path", ["/metrics", "/openapi.json"])
async def test_they_are_not_for_everybody(served: Served, path: str) -> None:
    assert (await served.client.get(path, headers=AFAR)).status_code == 401
