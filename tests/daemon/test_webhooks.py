"""`POST /api/webhook/{name}` from end to end (crucible.md 8.2, 8.6, cases 133 to 147)."""

import json

import pytest

from tests.support.deliveries import SECRET, crucible, github, secrets_file, signed, stripe
from tests.support.served import AFAR, KEY, Clock, Served, Stage, serving
from treblehook.daemon.http.body import LIMIT_BYTES

NOW = 1_700_000_000
BODY = b'{"status":"green"}'
JSON = {"content-type": "application/json"}


async def test_case_133_a_timestamped_signature(served: Served) -> None:
    headers = {**JSON, "x-crucible-signature": crucible(SECRET, BODY, NOW), "X-Custom": "kept"}

    response = await served.deliver(BODY, headers=headers)

    assert (response.status_code, response.json()) == (200, {"status": "accepted"})
    [event] = await served.deliveries(1)
    assert (event.name, event.target, event.body) == ("ci", "ci", BODY.decode())
    assert event.headers["x-custom"] == "kept"
    assert event.headers["content-type"] == "application/json"


async def test_a_signature_as_stripe_makes_it(served: Served) -> None:
    assert (await served.deliver(BODY, headers={**JSON, "Stripe-Signature": stripe(SECRET, BODY, NOW)})).status_code == 200
    [event] = await served.deliveries(1)
    assert event.body == BODY.decode()


async def test_case_134_a_signature_as_github_makes_it(served: Served) -> None:
    assert (await served.deliver(BODY, headers={**JSON, "X-Hub-Signature-256": github(SECRET, BODY)})).status_code == 200
    [event] = await served.deliveries(1)
    assert event.body == BODY.decode()


async def test_case_136_freshness(stage: Stage) -> None:
    clock = Clock(NOW)
    async with serving(stage, clock=clock) as served:
        for away, status in ((-301, 401), (-300, 200), (300, 200), (301, 401)):
            headers = {**JSON, "x-crucible-signature": crucible(SECRET, BODY, NOW + away)}
            assert (await served.deliver(BODY, headers=headers)).status_code == status, away


async def test_case_137_the_same_delivery_twice(stage: Stage) -> None:
    clock = Clock(NOW)
    async with serving(stage, clock=clock) as served:
        assert (await served.deliver(BODY)).status_code == 200
        assert (await served.deliver(BODY)).status_code == 401
        clock.now += 300
        assert (await served.deliver(BODY)).status_code == 401
        # A scheme that tells no time can be replayed after that, which is inherent to it.
        clock.now += 1
        assert (await served.deliver(BODY)).status_code == 200


async def test_case_138_no_downgrade(served: Served) -> None:
    response = await served.deliver(BODY, x_crucible_signature=f"t={NOW},v1={'0' * 64}")
    assert response.status_code == 401


async def test_one_answer_for_every_wrong_signature(stage: Stage) -> None:
    stage.secrets(secrets_file(ci=SECRET, tiny="short"))
    good = signed(BODY)
    async with serving(stage) as served:
        await served.deliver(BODY)
        answers = [
            await served.deliver(BODY, name="nobody"),
            await served.deliver(BODY, name="tiny"),
            await served.deliver(BODY, headers=JSON),
            await served.deliver(BODY, headers={**JSON, "x-hub-signature-256": "sha256=zz"}),
            await served.deliver(BODY, headers={**JSON, "x-crucible-signature": crucible(SECRET, BODY, NOW - 301)}),
            await served.deliver(BODY + b" ", headers=good),
            await served.deliver(BODY, headers=good),
        ]

    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.content for answer in answers}) == 1
    assert answers[0].json()["error"]["code"] == "signature_refused"
    assert {tuple(sorted(name for name in answer.headers if name != "date")) for answer in answers} == {("content-length", "content-type")}


@pytest.mark.parametrize(
    "body", [b'{"b":1,"a":2}\n', b'{"a":2,  "b":1}', '{"ä":"\U0001f600"}\r\n'.encode(), b"\xef\xbb\xbf{}", b'{"nul":"\x00"}', b""]
)
async def test_case_141_the_body_is_delivered_byte_for_byte(served: Served, body: bytes) -> None:
    assert (await served.deliver(body)).status_code == 200
    [event] = await served.deliveries(1)
    assert event.body.encode() == body


async def test_case_142_a_body_that_is_no_json(served: Served) -> None:
    assert (await served.deliver(b"<xml/>")).status_code == 200
    [event] = await served.deliveries(1)
    assert event.body == "<xml/>"


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/json", 200),
        ("Application/JSON", 200),
        ("application/json; charset=utf-8", 200),
        ("application/json ;charset=utf-8", 200),
        (None, 415),
        ("", 415),
        ("text/json", 415),
        ("application/json, text/plain", 415),
        ("application/jsonp", 415),
        ("application/x-www-form-urlencoded", 415),
    ],
)
async def test_the_content_type(served: Served, content_type: str | None, status: int) -> None:
    headers = {"x-hub-signature-256": github(SECRET, BODY)} | ({} if content_type is None else {"content-type": content_type})
    assert (await served.deliver(BODY, headers=headers)).status_code == status


async def test_the_content_type_is_looked_at_before_the_signature(served: Served) -> None:
    assert (await served.deliver(BODY, headers={"content-type": "text/plain"})).status_code == 415


async def test_a_signed_body_that_is_no_text(served: Served) -> None:
    assert (await served.deliver(b'{"a":"\xff"}')).status_code == 400
    assert (await served.deliver(b'{"a":"\xff"}', headers=JSON)).status_code == 401
    assert served.received == []


async def test_case_144_a_caller_from_afar_needs_the_key(served: Served) -> None:
    for content in (BODY, b""):
        answer = await served.deliver(content, headers={**AFAR, **JSON})
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "bearer_required")
    assert (await served.deliver(BODY, **AFAR)).json()["error"]["code"] == "bearer_required"
    assert (await served.deliver(BODY, **AFAR, authorization="Bearer wrong")).json()["error"]["code"] == "bearer_required"
    # Before the content type, and so before the signature.
    assert (await served.deliver(BODY, headers={**AFAR, "content-type": "text/plain"})).status_code == 401
    with_key = {**AFAR, "authorization": f"Bearer {KEY}"}
    assert (await served.deliver(BODY, headers={**JSON, **with_key})).json()["error"]["code"] == "signature_refused"
    assert (await served.deliver(BODY, **with_key)).status_code == 200
    assert (await served.deliver(BODY, headers={**JSON})).json()["error"]["code"] == "signature_refused"


async def test_case_145_what_hooks_are_shown_of_the_headers(served: Served) -> None:
    response = await served.deliver(
        BODY, authorization="Bearer mine", cookie="a=b", proxy_authorization="Basic x", x_custom="kept", user_agent="GitHub-Hookshot/1"
    )
    assert response.status_code == 200
    [event] = await served.deliveries(1)
    for hidden in ("authorization", "cookie", "proxy-authorization", "x-crucible-signature", "stripe-signature", "x-hub-signature-256"):
        assert hidden not in event.headers
    assert event.headers["x-github-event"] == "push"
    assert event.headers["user-agent"] == "GitHub-Hookshot/1"


async def test_headers_that_are_no_text_are_dropped_and_repeated_ones_collapse(served: Served) -> None:
    head = [
        b"POST /api/webhook/ci HTTP/1.1",
        b"Host: localhost",
        b"Connection: close",
        b"Content-Type: application/json",
        b"Content-Length: %d" % len(BODY),
        b"X-Hub-Signature-256: " + github(SECRET, BODY).encode(),
        b"X-Bytes: \xff\xfe",
        b"X-Twice: one",
        b"X-TWICE: two",
    ]
    assert (await served.raw(b"\r\n".join([*head, b"", b""]) + BODY)).startswith(b"HTTP/1.1 200 ")
    [event] = await served.deliveries(1)
    assert "x-bytes" not in event.headers
    assert event.headers["x-twice"] == "two"


async def test_case_146_shared_and_short_secrets_verify_nothing(stage: Stage) -> None:
    stage.secrets(secrets_file(one=SECRET, two=SECRET, tiny="ten-bytes!", good="another-long-secret"))
    async with serving(stage) as served:
        assert (await served.deliver(BODY, name="one")).status_code == 401
        assert (await served.deliver(BODY, name="two")).status_code == 401
        tiny = {**JSON, "x-hub-signature-256": github("ten-bytes!", BODY)}
        assert (await served.deliver(BODY, name="tiny", headers=tiny)).status_code == 401
        good = {**JSON, "x-hub-signature-256": github("another-long-secret", BODY)}
        assert (await served.deliver(BODY, name="good", headers=good)).status_code == 200
    assert all(SECRET not in line and "ten-bytes!" not in line for line in served.said)
    assert sum("webhooks.toml" in line for line in served.said) == 3


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"])
async def test_other_methods(served: Served, method: str) -> None:
    response = await served.client.request(method, "/api/webhook/ci", headers=signed(b""))
    assert (response.status_code, response.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(("path", "name"), [("c%69", "ci"), ("a%2Fb", "a/b"), ("%C3%A4%20b", "ä b"), ("a+b", "a+b")])
async def test_the_name_is_one_segment_percent_decoded(stage: Stage, path: str, name: str) -> None:
    stage.secrets(f'[webhooks]\n{json.dumps(name)} = {{ secret = "{SECRET}" }}\n')
    async with serving(stage) as served:
        assert (await served.deliver(BODY, name=path)).status_code == 200
        assert (await served.deliveries(1))[0].name == name


@pytest.mark.parametrize("path", ["", "a/b", "ci/", "/ci"])
async def test_a_name_that_is_not_one_segment(served: Served, path: str) -> None:
    assert (await served.deliver(BODY, name=path)).status_code == 404


async def test_a_delivery_without_a_handler_is_accepted(stage: Stage) -> None:
    async with serving(stage) as served:
        for handler in list(served.home.registry.handlers()):
            served.home.registry.remove(handler)
        assert (await served.deliver(BODY)).status_code == 200


async def test_a_body_of_eleven_megabytes(served: Served) -> None:
    large = b"x" * (11 * 1024 * 1024)
    answer = await served.deliver(large)
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")
    # Before the bearer layer, and whatever the content type is.
    assert (await served.deliver(large, headers=AFAR)).status_code == 413
    assert (await served.deliver(BODY)).status_code == 200


async def test_the_largest_body_arrives_whole(served: Served) -> None:
    largest = b'"' + b"x" * (LIMIT_BYTES - 2) + b'"'
    assert (await served.deliver(largest)).status_code == 200
    assert (await served.deliver(largest + b" ")).status_code == 413
    [event] = await served.deliveries(1)
    assert event.body.encode() == largest


async def test_a_delivery_that_cannot_be_stored_may_be_sent_again(served: Served) -> None:
    queue = served.daemon._queue
    database = queue._database
    database.execute("PRAGMA query_only = ON")
    answer = await served.deliver(BODY)
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "not_stored")
    assert (await served.client.get("/healthz")).json()["status"] == "degraded"
    database.execute("PRAGMA query_only = OFF")
    assert (await served.deliver(BODY)).status_code == 200
    assert (await served.client.get("/healthz")).json()["status"] == "ok"
    assert len(await served.deliveries(1)) == 1


async def test_deliveries_reach_hooks_in_order_one_at_a_time(served: Served) -> None:
    served.hold.clear()
    for number in range(20):
        assert (await served.deliver(b"%d" % number)).status_code == 200
    assert served.received == []
    served.hold.set()
    assert [event.body for event in await served.deliveries(20)] == [str(number) for number in range(20)]
