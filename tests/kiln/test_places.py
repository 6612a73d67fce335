"""`[kilns]`: what is right, and how what is wrong is told."""

from pathlib import Path
from typing import Any

import pytest

from treblehook.host.problems import Problem
from treblehook.kiln.places import read_kilns


def read(values: dict[str, Any]) -> tuple[dict[str, Path], list[Problem]]:
    problems: list[Problem] = []
    return read_kilns(values, "config.toml", {"HOME": "/home/dev"}, problems), problems


def test_folders_are_absolute_and_a_tilde_is_the_home_folder() -> None:
    values = {"notes": "/data/notes/", "mine": "~/notes", "all": "~", "work-2.x": "/a/../b"}

    assert read(values) == (
        {"notes": Path("/data/notes"), "mine": Path("/home/dev/notes"), "all": Path("/home/dev"), "work-2.x": Path("/b")},
        [],
    )


FOLDER = "allowed: the absolute path of a folder; a leading ~ is your home folder"
NAME = "allowed: letters, digits, dots, - and _, at most 64, not beginning with a dot"


@pytest.mark.parametrize(
    ("name", "value", "place", "message", "remedy"),
    [
        ("notes", 5, "kilns.notes", "found 5", FOLDER),
        ("notes", {"path": "/x"}, "kilns.notes", "found a table", FOLDER),
        ("notes", " ", "kilns.notes", "found ' '", FOLDER),
        ("notes", "notes", "kilns.notes", "found the relative path 'notes'", FOLDER),
        ("notes", "~other/x", "kilns.notes", "found the relative path '~other/x'", FOLDER),
        ("notes", "/etc/passwd", "kilns.notes", "found '/etc/passwd', which is no folder", FOLDER),
        ("notes", "/a\0b", "kilns.notes", "found a NUL character", FOLDER),
        ("a/b", "/x", 'kilns."a/b"', "found 'a/b' as the name of a kiln", NAME),
        (".hidden", "/x", 'kilns.".hidden"', "found '.hidden' as the name of a kiln", NAME),
    ],
)
def test_what_is_wrong_is_told_with_its_place(name: str, value: object, place: str, message: str, remedy: str) -> None:
    assert read({name: value}) == ({}, [Problem("config.toml", place, message, remedy)])


def test_the_same_folder_twice_is_a_warning() -> None:
    folders, problems = read({"a": "/x", "b": "/x/", "A": "/y"})

    assert len(folders) == 3
    assert [(problem.place, problem.level) for problem in problems] == [("kilns.b", "warning"), ("kilns.A", "warning")]
