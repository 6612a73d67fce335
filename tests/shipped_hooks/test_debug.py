"""debug: a JSON line per event, with the keys of murmur.md section 9."""

import json
from pathlib import Path

from msgspec.structs import replace

from tests.shipped_hooks.conftest import ShippedRig
from tests.support.murmur_rig import FULL, RAN, RESPONSE, SHELL_GATE, SHELL_RAN, START, TASK, TASK_END, TOOL_GATE
from treblehook.lifecycle import SessionEnd

SCOPE = {"filesystem": {"scope": "."}}


def lines(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


async def test_every_event_has_its_line(rig: ShippedRig) -> None:
    rig.ship("debug", capabilities=SCOPE)
    await rig.start()
    for event in (
        START,
        TASK,
        RESPONSE,
        TOOL_GATE,
        RAN,
        SHELL_GATE,
        SHELL_RAN,
        FULL,
        TASK_END,
        SessionEnd(reason="closed", turns=2, requests=2, tool_calls=4),
    ):
        await rig.fire(event)
    await rig.drain()

    assert rig.sink.lines == []
    assert lines(rig.accessible / "hook-debug.jsonl") == [
        {
            "event": "session-start",
            "capsule_name": "nest",
            "capsule_version": "0.1.0",
            "session_id": "ses_1",
            "model": "acme/first",
            "capabilities": ["shell"],
        },
        {"event": "inference", "turn": 0, "input_tokens": 0, "output_tokens": 0, "decision": "end_turn", "tool_name": None},
        {"event": "tool-call", "turn": 0, "tool_name": "dig", "input_bytes": 13, "output_bytes": 4, "duration_ms": 3, "status": "ok"},
        {"event": "shell", "turn": 0, "command": "rm x", "exit_code": 0, "stdout_bytes": 3, "stderr_bytes": 3, "duration_ms": 3},
        {"event": "compaction", "message_count": 2, "session_tokens": 991, "threshold": 0.991},
        {
            "event": "session-end",
            "total_turns": 2,
            "total_input_tokens": 0,
            "total_output_tokens": 0,
            "total_tool_calls": 4,
            "total_shell_calls": 0,
            "duration_ms": 0,
            "exit_status": "ok",
        },
    ]


async def test_it_appends(rig: ShippedRig) -> None:
    rig.ship("debug", capabilities={"filesystem": {"scope": "kept"}})
    file = rig.accessible / "kept" / "hook-debug.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text('{"event":"earlier"}\n')
    await rig.start()
    await rig.fire(START)
    await rig.fire(RESPONSE)
    await rig.drain()

    assert [line["event"] for line in lines(file)] == ["earlier", "session-start", "inference"]


async def test_without_a_folder_it_errs(rig: ShippedRig) -> None:
    rig.ship("debug")
    await rig.start()
    await rig.fire(START)
    await rig.drain()

    assert rig.sink.of("debug") == ["no folder is granted; grant it capabilities: filesystem: scope"]


async def test_what_cannot_be_opened_is_an_error(rig: ShippedRig) -> None:
    rig.ship("debug", capabilities=SCOPE)
    (rig.accessible / "hook-debug.jsonl").mkdir(parents=True)
    await rig.start()
    await rig.fire(START)
    await rig.drain()

    assert rig.sink.of("debug") == ["the file hook-debug.jsonl of its scope cannot be opened"]


async def test_a_thousand_events_keep_their_order(rig: ShippedRig) -> None:
    rig.ship("debug", capabilities=SCOPE)
    await rig.start()
    for turn in range(1000):
        await rig.fire(replace(RESPONSE, turn=turn))
    await rig.drain(60)

    assert [line["turn"] for line in lines(rig.accessible / "hook-debug.jsonl")] == list(range(1000))
