"""`[kilns]`: what is right, and how what is wrong is told."""

from pathlib import Path
from typing import Any

import pytest

from treblehook.host.problems import Problem
from treblehook.kiln import read_kilns


def read(values: dict[str, Any]) -> tuple[dict[str, Path], list[Problem]]:
    problems: list[Problem] = []
    return read_kilns(values, "config.toml", {"HOME": "/home/dev"}, problems), problems


def test_folders_are_absolute_and_a_tilde_is_the_home_folder() -> None:
    values = {"notes": "/data/notes/", "mine": "~/notes", "all": "~", "work-2.x": "/a/../b"}

    assert read(values) == (
        {"notes": Path("/data/notes"), "mine": Path("/home/dev/notes"), "all": Path("/home/dev"), "work-2.x": Path("/b")},
        [],
    )


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("notes", 5, "config.toml: kilns.notes: found 5 (allowed: the absolute path of a folder; a leading ~ is your home folder)"),
        ("notes", {"path": "/x"}, "config.toml: kilns.notes: found a table (allowed: the absolute path of a folder; a leading ~ is your home folder)"),
        ("notes", " ", "config.toml: kilns.notes: found ' ' (allowed: the absolute path of a folder; a leading ~ is your home folder)"),
        ("notes", "notes", "config.toml: kilns.notes: found the relative path 'notes' (allowed: the absolute path of a folder; a leading ~ is your home folder)"),
        ("notes", "~other/x", "config.toml: kilns.notes: found the relative path '~other/x' (allowed: the absolute path of a folder; a leading ~ is your home folder)"),
        ("notes", "/etc/passwd", "config.toml: kilns.notes: found '/etc/passwd', which is no folder (allowed: the absolute path of a folder; a leading ~ is your home folder)"),
        ("a/b", "/x", "config.toml: kilns.\"a/b\": found 'a/b' as the name of a kiln (allowed: letters, digits, dots, - and _, at most 64, not beginning with a dot)"),
        (".hidden", "/x", "config.toml: kilns.\".hidden\": found '.hidden' as the name of a kiln (allowed: letters, digits, dots, - and _, at most 64, not beginning with a dot)"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(name: str, value: object, told: str) -> None:
    folders, [problem] = read({name: value})

    assert folders == {}
    assert (str(problem), problem.level) == (told, "error")


def test_the_same_folder_twice_is_a_warning() -> None:
    folders, problems = read({"a": "/x", "b": "/x/", "A": "/y"})

    assert len(folders) == 3
    assert [(problem.place, problem.level) for problem in problems] == [("kilns.b", "warning"), ("kilns.A", "warning")]
