"""Which file a name stands for (murmur.md 5.6)."""

import os
from pathlib import Path

import pytest

from treblehook.shell import resolve_executable


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


def program(path: Path, mode: int = 0o755) -> Path:
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


def test_the_first_folder_with_an_executable_file_wins(tmp_path: Path, bin_folder: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    first, _ = program(bin_folder / "tool"), program(other / "tool")

    assert resolve_executable("tool", f"{bin_folder}:{other}", tmp_path) == first


def test_a_file_without_any_execute_bit_and_a_folder_are_passed_over(tmp_path: Path, bin_folder: Path) -> None:
    program(bin_folder / "tool", 0o644)
    other = tmp_path / "other"
    (other / "tool").mkdir(parents=True)
    third = tmp_path / "third"
    third.mkdir()
    found = program(third / "tool", 0o610)

    assert resolve_executable("tool", f"{bin_folder}:{other}:{third}", tmp_path) == found


def test_symbolic_links_are_resolved(tmp_path: Path, bin_folder: Path) -> None:
    real = program(tmp_path / "real-1.0")
    (bin_folder / "tool").symlink_to(real)
    (bin_folder / "broken").symlink_to(tmp_path / "missing")

    assert resolve_executable("tool", str(bin_folder), tmp_path) == real
    assert resolve_executable("broken", str(bin_folder), tmp_path) is None


@pytest.mark.parametrize("search_path", ["", ".", "bin", ":bin:", "missing:/nowhere"])
def test_a_relative_folder_of_the_search_path_never_counts(
    search_path: str, tmp_path: Path, bin_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(bin_folder / "tool")
    program(tmp_path / "tool")
    monkeypatch.chdir(tmp_path)

    assert resolve_executable("tool", search_path, tmp_path) is None


def test_a_name_with_a_slash_is_a_path_from_the_working_folder(tmp_path: Path, bin_folder: Path) -> None:
    plain = program(bin_folder / "tool", 0o644)

    assert resolve_executable("bin/tool", "", tmp_path) == plain
    assert resolve_executable("./bin/../bin/tool", "", tmp_path) == plain
    assert resolve_executable(str(plain), "", Path("/")) == plain
    assert resolve_executable("bin/none", os.environ["PATH"], tmp_path) is None


@pytest.mark.parametrize("name", ["nul\0name", "a/nul\0name", "x" * 5000])
def test_what_can_be_no_file_name_is_not_found(name: str, tmp_path: Path) -> None:
    assert resolve_executable(name, str(tmp_path), tmp_path) is None
