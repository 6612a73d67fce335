"""otlp: spans that a collector understands, by OpenTelemetry's own decoder, and that go where the operator allowed."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tests.shipped_hooks.conftest import ShippedRig
from tests.support.murmur_rig import RAN, RESPONSE, SHELL_RAN, START, TASK, TASK_END
from treblehook.contracts.murmur.grant import Grant
from treblehook.contracts.murmur.network import parse_origin
from treblehook.contracts.murmur.spans import send_spans
from treblehook.lifecycle import SessionEnd, ToolCall, ToolRan


class Collector:
    """An HTTP server that keeps what it is sent and answers `status`."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, bytes]] = []
        self.status = b"200 OK"
        self.address = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
        body = await reader.readexactly(int(headers["content-length"]))
        self.requests.append((head.split("\r\n")[0], headers["content-type"], body))
        writer.write(b"HTTP/1.1 " + self.status + b"\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()


@pytest.fixture
async def collector() -> AsyncIterator[Collector]:
    collector = Collector()
    server = await asyncio.start_server(collector.serve, "127.0.0.1", 0)
    collector.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield collector


async def played(rig: ShippedRig, endpoint: str | None = "http://127.0.0.1:4318") -> Path:
    """A session with a task, in the scope that is given back."""
    rig.ship("otlp", capabilities={"filesystem": {"scope": "telemetry"}})
    rig.environment = {} if endpoint is None else {"MURMUR_OTEL_ENDPOINT": endpoint}
    await rig.start()
    failed = ToolRan(call=ToolCall("c9", "sink", {}), content="no", is_error=True, duration_ms=7)
    for event in (START, TASK, RESPONSE, RAN, SHELL_RAN, failed, TASK_END, SessionEnd(reason="closed", requests=1)):
        await rig.fire(event)
    return rig.accessible / "telemetry"


def decoded(content: bytes) -> tuple[dict[str, Any], list[Span]]:
    """The resource's attributes, and the spans."""
    request = ExportTraceServiceRequest()
    request.ParseFromString(content)
    (of_resource,) = request.resource_spans
    (of_scope,) = of_resource.scope_spans
    return {each.key: each.value.string_value for each in of_resource.resource.attributes}, list(of_scope.spans)


async def test_a_session_is_one_trace(rig: ShippedRig) -> None:
    scope = await played(rig)

    (file,) = (scope / "otlp").iterdir()
    resource, spans = decoded(file.read_bytes())
    by_name = {span.name: span for span in spans}
    assert resource == {"service.name": "nest"}
    assert list(by_name) == ["chat acme/first", "execute_tool dig", "shell bash", "execute_tool sink", "invoke_agent nest", "session nest"]
    session, task = by_name["session nest"], by_name["invoke_agent nest"]
    assert session.parent_span_id == b""
    assert task.parent_span_id == session.span_id
    assert {span.parent_span_id for span in spans} - {b"", session.span_id} == {task.span_id}
    assert {span.trace_id.hex() for span in spans} == {file.stem}
    assert len({span.span_id for span in spans}) == len(spans)
    assert all(len(span.trace_id) == 16 and len(span.span_id) == 8 for span in spans)
    assert all(0 < span.start_time_unix_nano <= span.end_time_unix_nano for span in spans)
    assert [span.name for span in spans if span.status.code == Status.STATUS_CODE_ERROR] == ["execute_tool sink"]
    failed = by_name["execute_tool sink"]
    assert failed.end_time_unix_nano - failed.start_time_unix_nano == 7_000_000
    assert by_name["chat acme/first"].kind == Span.SPAN_KIND_CLIENT
    attributes = {each.key: each.value.string_value or each.value.int_value for each in by_name["chat acme/first"].attributes}
    assert attributes["gen_ai.request.model"] == "acme/first"
    assert attributes["gen_ai.operation.name"] == "chat"
    assert attributes["gen_ai.usage.input_tokens"] == 0


async def test_without_an_endpoint_it_warns_and_leaves_nothing(rig: ShippedRig) -> None:
    scope = await played(rig, endpoint=None)

    assert rig.sink.of("otlp") == ["otlp: MURMUR_OTEL_ENDPOINT is not set; nothing is exported"]
    assert list(scope.iterdir()) == []


async def test_the_collector_is_sent_what_the_hook_left(rig: ShippedRig, collector: Collector) -> None:
    scope = await played(rig)
    (file,) = (scope / "otlp").iterdir()
    content = file.read_bytes()

    problems = await send_spans(scope, f"http://{collector.address}", Grant(network=(parse_origin(collector.address),)))

    assert problems == []
    assert collector.requests == [("POST /v1/traces HTTP/1.1", "application/x-protobuf", content)]
    assert not file.exists()


@pytest.mark.parametrize("allowed", [(), ("127.0.0.1:1",), ("example.com",)])
async def test_what_is_not_granted_is_not_asked(rig: ShippedRig, collector: Collector, allowed: tuple[str, ...]) -> None:
    scope = await played(rig)

    problems = await send_spans(scope, f"http://{collector.address}", Grant(network=tuple(map(parse_origin, allowed))))

    assert problems == [
        f"the spans are not sent: the hook is not granted {collector.address}; grant it capabilities: network: allow: [{collector.address}]"
    ]
    assert collector.requests == []
    assert len(list((scope / "otlp").iterdir())) == 1


async def test_a_link_in_the_place_of_the_folder_gives_nothing_away(tmp_path: Path, collector: Collector) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.pb").write_bytes(b"mine")
    (tmp_path / "scope").mkdir()
    (tmp_path / "scope" / "otlp").symlink_to(tmp_path / "elsewhere")

    (problem,) = await send_spans(tmp_path / "scope", f"http://{collector.address}", Grant(network=(parse_origin(collector.address),)))

    assert "link" in problem
    assert collector.requests == []
    assert (tmp_path / "elsewhere" / "a.pb").exists()


@pytest.mark.parametrize("status", [b"500 Sad", b"307 Elsewhere"])
async def test_what_the_collector_does_not_take_stays(rig: ShippedRig, collector: Collector, status: bytes) -> None:
    scope = await played(rig)
    collector.status = status

    (problem,) = await send_spans(scope, f"http://{collector.address}/v1/traces", Grant(network=(parse_origin("127.0.0.1"),)))

    assert problem.endswith(f"the collector answered {status[:3].decode()}")
    assert len(collector.requests) == 1
    assert len(list((scope / "otlp").iterdir())) == 1


@pytest.mark.parametrize("endpoint", ["", "127.0.0.1:4318", "ftp://127.0.0.1", "http://127.0.0.1:x", "http://"])
async def test_an_endpoint_that_is_none(tmp_path: Path, endpoint: str) -> None:
    (tmp_path / "otlp").mkdir()
    (tmp_path / "otlp" / "a.pb").write_bytes(b"x")

    (problem,) = await send_spans(tmp_path, endpoint, Grant(network=(parse_origin("127.0.0.1"),)))

    assert "allowed is http:// or https:// and a host" in problem


async def test_a_link_in_the_scope_leads_nowhere(tmp_path: Path, collector: Collector) -> None:
    (tmp_path / "secret").write_text("x")
    (tmp_path / "scope" / "otlp").mkdir(parents=True)
    (tmp_path / "scope" / "otlp" / "a.pb").symlink_to(tmp_path / "secret")

    (problem,) = await send_spans(tmp_path / "scope", f"http://{collector.address}", Grant(network=(parse_origin("127.0.0.1"),)))

    assert "a.pb are not sent" in problem
    assert collector.requests == []
