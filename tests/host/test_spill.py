"""Big results: what is shown, and the file that keeps the whole."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.host.test_write import files_at_most
from treblehook.host.spill import LIMIT, limited, spill


def text_of(length: int) -> str:
    return "".join(f"{number:>9}\n" for number in range(length // 10 + 1))[:length]


@pytest.mark.parametrize("length", [0, 1, LIMIT - 1, LIMIT])
def test_up_to_the_limit_nothing_is_done(length: int, tmp_path: Path) -> None:
    text = text_of(length)

    assert limited(text) == text
    assert spill(text, tmp_path / "results", "c1") == text
    assert os.listdir(tmp_path) == []


def test_over_the_limit_head_and_tail_stay() -> None:
    text = text_of(LIMIT + 1)

    assert limited(text) == text[:20_000] + "\n[2001 characters were left out here]\n" + text[-8_000:]


@given(st.integers(LIMIT + 1, 100_000))
def test_what_is_limited_is_within_the_limit_and_stays_as_it_is(length: int) -> None:
    once = limited("ü" * length)

    assert len(once) <= LIMIT
    assert limited(once) == once


def test_the_whole_is_kept_in_a_private_file_that_is_named(tmp_path: Path) -> None:
    text = text_of(50_000) + "ü"

    shown = spill(text, tmp_path / "a" / "results", "call_1")

    path = tmp_path / "a" / "results" / "call_1.txt"
    assert path.read_text() == text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    remark = f"\n[The whole output, 50001 characters in 5001 lines, is in {path}. Look into it with read (offset, limit) or grep.]"
    assert shown == limited(text) + remark
    assert spill(shown, tmp_path, "call_2") == shown


def test_an_older_result_of_the_same_call_id_stays(tmp_path: Path) -> None:
    first, second = spill("1" * 40_000, tmp_path, "c1"), spill("2" * 40_000, tmp_path, "c1")

    assert str(tmp_path / "c1.txt") in first
    assert str(tmp_path / "c1-2.txt") in second
    assert (tmp_path / "c1.txt").read_text() == "1" * 40_000


@pytest.mark.parametrize("call_id", ["../../escape", "/etc/passwd", "..", "", "a/b", "x" * 5000, "nul\0", "\ud800", "ünï", "-rf"])
def test_no_call_id_leaves_the_folder(call_id: str, tmp_path: Path) -> None:
    folder = tmp_path / "results"

    spill("x" * 40_000, folder, call_id)

    (kept,) = folder.iterdir()
    assert kept.suffix == ".txt"
    assert os.listdir(tmp_path) == ["results"]


def test_call_ids_that_are_alike_keep_their_own_files(tmp_path: Path) -> None:
    for call_id in ("a/b", "a_b", "a.b"):
        spill(call_id * 40_000, tmp_path, call_id)

    assert len(os.listdir(tmp_path)) == 3


def test_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "c1.txt").symlink_to(tmp_path / "victim")

    spill("x" * 40_000, tmp_path, "c1")

    assert not (tmp_path / "victim").exists()
    assert (tmp_path / "c1-2.txt").read_text() == "x" * 40_000


def test_half_a_surrogate_pair_is_kept_as_a_question_mark(tmp_path: Path) -> None:
    spill("x" * 40_000 + "\ud800", tmp_path, "c1")

    assert (tmp_path / "c1.txt").read_text() == "x" * 40_000 + "?"


def test_a_full_disk_leaves_the_limited_text_and_no_part_of_a_file(tmp_path: Path) -> None:
    text = "x" * 40_000
    with files_at_most(1000):
        shown = spill(text, tmp_path, "c1")

    assert shown == limited(text) + "\n[The whole output, 40000 characters in 1 lines, could not be kept: File too large.]"
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(("folder", "why"), [("file/results", "Not a directory"), ("file", "File exists")])
def test_a_folder_that_cannot_be(folder: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    shown = spill("x" * 40_000, tmp_path / folder, "c1")

    assert shown.endswith(f"could not be kept: {why}.]")


def test_a_folder_that_nothing_can_be_written_to() -> None:
    assert "could not be kept: " in spill("x" * 40_000, Path("/proc/self/results"), "c1")
