"""Expected errors: one line each, and the exit status that the design gives them."""

from pathlib import Path

import pytest

from treblehook.agent.errors import SessionRefused
from treblehook.agent.models.model import ModelSpecInvalid
from treblehook.agent.transcript import SessionAmbiguous, SessionBusy, SessionUnknown, TranscriptFailed
from treblehook.cli.failures import EXIT, EXPECTED, exit_of, lines_of
from treblehook.host.problems import ConfigInvalid, Problem


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (SessionRefused("ses_1", "not today"), 4),
        (TranscriptFailed(Path("/s.jsonl"), "disk full"), 1),
        (ModelSpecInvalid("oracle:x", "no such provider"), 2),
        (SessionBusy(Path("/ses_1.jsonl"), 7), 1),
        (SessionUnknown("ses_2", []), 2),
        (ConfigInvalid([Problem("config.json", "hooks[0]", "is wrong")]), 2),
    ],
)
def test_each_has_a_line_and_a_status(error: Exception, status: int) -> None:
    assert isinstance(error, EXPECTED)
    assert exit_of(error) == status
    (line,) = lines_of(error)
    assert line.startswith("error: ")
    assert "\n" not in line


def test_each_problem_of_a_configuration_has_a_line() -> None:
    invalid = ConfigInvalid([Problem("a.json", "hooks[0]", "is\nwrong", "mend it"), Problem("b.toml", "", "is odd", level="warning")])

    assert lines_of(invalid) == ["error: a.json: hooks[0]: is wrong (mend it)", "warning: b.toml: is odd"]


@pytest.mark.parametrize(("count", "more"), [(2, ""), (5, ""), (6, " and 1 more"), (900, " and 895 more")])
def test_of_sessions_that_may_be_meant_the_five_newest_are_named(count: int, more: str) -> None:
    newest_first = [f"ses_{number:032x}" for number in range(count, 0, -1)]

    (line,) = lines_of(SessionAmbiguous("ses_0", newest_first))

    assert line == f"error: several sessions' ids begin with 'ses_0': {', '.join(newest_first[:5])}{more}"


def test_the_statuses_of_a_sessions_end() -> None:
    assert EXIT == {"finished": 0, "failed": 1, "blocked": 3, "refused": 4, "interrupted": 130}
