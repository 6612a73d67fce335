"""The logs of hooks (murmur.md 4.4)."""

import stat
from pathlib import Path

from treblehook.contracts.murmur.faults import HookLogs


def test_case_049_a_line_is_exactly_the_message(tmp_path: Path) -> None:
    logs = HookLogs(tmp_path / "deep" / "logs")

    logs.write("guard", "no shovel")
    logs.write("guard", "two\nlines \ud800é")
    logs.write("other", "")

    file = tmp_path / "deep" / "logs" / "hook-guard.log"
    assert file.read_bytes() == "no shovel\ntwo\nlines ?é\n".encode()
    assert (tmp_path / "deep" / "logs" / "hook-other.log").read_bytes() == b"\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_log_that_cannot_be_written_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("in the way")

    HookLogs(tmp_path / "logs").write("guard", "no shovel")

    assert (tmp_path / "logs").read_text() == "in the way"
