"""The log of failed hooks whose failure changes nothing else (vera.md 3.3, 3.10)."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from tests.support.sample_events import SESSION, closed, compacting, finished, proposed, started
from tests.support.vera_home import VeraHome, mode_of
from treblehook.contracts.vera.host_log import HostLog
from treblehook.engine import Call, Ended, Handler, Origin, Tier
from treblehook.lifecycle import Event


async def nobody(event: Event) -> None:
    return None


def failed(event: Event, *, contract: str = "vera", error: str = "exited with status 1", ended: Ended = Ended.FAILED) -> Call:
    handler = Handler(type(event), nobody, name="bad", origin=Origin(contract, "x"), tier=Tier.CONFIG)
    return Call(handler, event, started=1.0, stopped=2.0, position=4, end=ended, error=error)


async def test_a_failed_session_start_names_its_place(home: VeraHome) -> None:
    home.hook("session_start", "good", b'{"power":"observe"}')
    home.hook("session_start", "bad", b"")

    await home.fire(started("resume"))

    (line,) = home.log()
    error = line.pop("error")
    timestamp = line.pop("timestamp")
    assert line == {"type": "session_start_hook_failed", "level": "warn", "sessionId": SESSION, "reason": "resume", "index": 2}
    assert error.startswith("printed nothing")
    assert datetime.fromisoformat(timestamp).tzinfo is not None


async def test_folder_and_file_are_private(home: VeraHome) -> None:
    home.hook("session_start", "bad", b"")

    await home.fire(started())
    await home.fire(started())

    logs = home.folder / "runtime" / "logs"
    assert (mode_of(logs), mode_of(logs / "host.jsonl")) == ("0o700", "0o600")
    assert len(home.log()) == 2


async def test_failures_that_show_elsewhere_are_not_logged(home: VeraHome) -> None:
    home.hook("pre_tool_use", "bad", b"")
    home.hook("post_tool_use", "bad", b"")
    session = home.session()

    await session.fire(proposed())
    await session.fire(finished())

    assert home.log() == []


def test_the_time_is_written_in_utc(tmp_path: Path) -> None:
    east = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=timezone(timedelta(hours=2)))

    HostLog(tmp_path, pytest.fail, now=lambda: east).finished([failed(closed())])

    text = (tmp_path / "runtime" / "logs" / "host.jsonl").read_text()
    assert text == (
        '{"timestamp":"2026-01-02T01:04:05.678Z","type":"session_end_hook_failed","level":"warn",'
        '"message":"exited with status 1","command":"bad"}\n'
    )


def test_hooks_of_other_contracts_and_good_calls_are_left_out(tmp_path: Path) -> None:
    log = HostLog(tmp_path, pytest.fail, now=lambda: datetime.now(UTC))

    log.finished([failed(compacting(), contract="python"), failed(compacting(), ended=Ended.PASSED)])

    assert not log.path.exists()


def test_a_line_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "runtime").write_text("a file")
    told: list[str] = []

    HostLog(tmp_path, told.append).finished([failed(closed()), failed(closed())])

    assert len(told) == 2
    assert str(tmp_path / "runtime" / "logs" / "host.jsonl") in told[0]


def test_half_a_surrogate_pair_in_an_error_does_no_harm(tmp_path: Path) -> None:
    HostLog(tmp_path, pytest.fail).finished([failed(closed(), error="bad \ud800")])

    assert b"bad \\ud800" in (tmp_path / "runtime" / "logs" / "host.jsonl").read_bytes()
