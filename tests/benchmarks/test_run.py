"""A run of the benchmarks: limits, the table, and the exit status; what is measured here is made up."""

from pathlib import Path

import pytest

from benchmarks import __main__ as program
from benchmarks import report, rows
from benchmarks.row import Limit, Line
from benchmarks.timing import Action, fastest

ROW = """
from benchmarks.row import Limit, Line, Missing

async def measure():
    {body}
"""
KEPT = 'return [Line("ours", "floor", 3e-6, 2e-6, Limit(at_most=1.5))]'
MISSED = 'return [Line("ours", "floor", 3.1e-6, 2e-6, Limit(at_most=1.5))]'
MISSING = 'raise Missing("needs a peer")'


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(rows, "__path__", [str(tmp_path)])
    monkeypatch.setattr(program, "RESULTS", tmp_path / "results.md")
    return tmp_path


def write(folder: Path, name: str, body: str) -> None:
    (folder / f"{name}.py").write_text(ROW.format(body=body))


LINES = [
    (Limit(), 9.0, True),
    (Limit(at_most=1.5), 1.5, True),
    (Limit(at_most=1.5), 1.51, False),
    (Limit(at_least=40), 1 / 40, True),
    (Limit(at_least=40), 1 / 39, False),
    (Limit(more=2.0), 3.0, True),
    (Limit(more=2.0), 3.1, False),
]


@pytest.mark.parametrize(("limit", "ours", "kept"), LINES)
def test_limits(limit: Limit, ours: float, kept: bool) -> None:
    assert Line("ours", "floor", ours, 1.0, limit).kept is kept


def test_a_table_tells_amounts_and_ratios() -> None:
    lines = [
        Line("a", "b", 2.5e-6, 1e-6, Limit(at_most=4)),
        Line("c", "d", 2e-3, 0.2, Limit(at_least=40)),
        Line("e", "f", 3e6, 2e6, Limit(more=5e5), unit="B"),
    ]

    assert [report.cells(line) for line in lines] == [
        ("a", "b", "2.5 µs", "1 µs", "2.50x", "at most 4x", "yes"),
        ("c", "d", "2 ms", "200 ms", "1/100", "at least 40x as fast", "yes"),
        ("e", "f", "3 MB", "2 MB", "1.50x", "at most 500 kB more", "NO"),
    ]


def test_kept_limits_are_status_0_and_the_page_is_written(made_up: Path) -> None:
    write(made_up, "kept_row", KEPT)
    write(made_up, "missing_row", MISSING)

    assert program.main([]) == 0

    page = (made_up / "results.md").read_text()
    assert "| ours | floor | 3 µs | 2 µs | 1.50x | at most 1.5x | yes |" in page
    assert "Not measured: missing_row (needs a peer)." in page


def test_a_missed_limit_is_status_1(made_up: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(made_up, "missed_row", MISSED)

    assert program.main([]) == 1
    assert "NO" in capsys.readouterr().out


def test_single_rows_are_told_and_not_written(made_up: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(made_up, "one_row", KEPT)
    write(made_up, "other_row", MISSED)

    assert program.main(["one_row"]) == 0
    assert not (made_up / "results.md").exists()
    assert program.main(["no_row"]) == 2
    assert "there are one_row, other_row" in capsys.readouterr().err


async def test_alternatives_are_measured_in_turns() -> None:
    order: list[str] = []

    def counts(name: str) -> Action:
        async def action(times: int) -> None:
            order.append(name)
            for _ in range(times):
                pass

        return action

    best = await fastest({"one": counts("one"), "other": counts("other")}, rounds=3)

    assert set(best) == {"one", "other"}
    assert order[-6:] == ["one", "other"] * 3


def test_every_row_can_be_found_and_measures() -> None:
    names = {path.stem for path in Path(rows.__file__).parent.glob("[!_]*.py")}
    assert {"python_loop", "python_pluggy", "python_cpex", "many_handlers", "nobody_asked"} <= names
