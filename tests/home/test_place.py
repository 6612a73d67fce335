"""Where a home is, and how it comes to be."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.unprivileged import NOBODY, give_away, reachable_folder
from treblehook.home.place import locate_home, make_home_folder
from treblehook.host.problems import ConfigInvalid, Problem


def problem(flag: str | Path | None, environ: dict[str, str]) -> Problem:
    with pytest.raises(ConfigInvalid) as caught:
        locate_home(flag, environ)
    (found,) = caught.value.problems
    return found


def test_the_flag_comes_first_then_the_environment_then_the_default(tmp_path: Path) -> None:
    environ = {"HOME": "/home/u", "TREBLEHOOK_HOME": str(tmp_path / "named")}

    assert locate_home(tmp_path / "flag", environ) == tmp_path / "flag"
    assert locate_home(None, environ) == tmp_path / "named"
    assert locate_home(None, {"HOME": "/home/u"}) == Path("/home/u/.treblehook")
    assert locate_home("", {"HOME": "/home/u", "TREBLEHOOK_HOME": ""}) == Path("/home/u/.treblehook")


def test_without_a_home_of_the_user_in_the_environment_the_system_knows_it() -> None:
    assert locate_home(None, {}) == Path.home() / ".treblehook"


def test_a_relative_home_starts_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert locate_home("a/../b", {}) == tmp_path / "b"


def test_a_tilde_is_the_users_home() -> None:
    assert locate_home(None, {"HOME": "/home/u", "TREBLEHOOK_HOME": "~/th"}) == Path("/home/u/th")
    assert locate_home("~/th", {"HOME": "/home/u"}) == Path("/home/u/th")


def test_looking_makes_nothing(tmp_path: Path) -> None:
    assert locate_home(tmp_path / "new", {}) == tmp_path / "new"
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_no_home(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    found = problem(tmp_path / "file", {})
    assert found.file == str(tmp_path / "file")
    assert found.message == "it is not a folder"
    assert "--home" in found.remedy
    assert "$TREBLEHOOK_HOME" in problem(None, {"TREBLEHOOK_HOME": str(tmp_path / "file")}).remedy
    assert "Not a directory" in problem(tmp_path / "file" / "below", {}).message


UNREADABLE = f"""
import os, sys
from treblehook.home.place import locate_home
from treblehook.host.problems import ConfigInvalid
if os.geteuid() == 0:
    os.seteuid({NOBODY})
try:
    locate_home(sys.argv[1], {{}})
except ConfigInvalid as invalid:
    print(invalid)
"""


@pytest.mark.parametrize("mode", [0o000, 0o444, 0o111])
def test_a_home_that_cannot_be_read_is_told(mode: int) -> None:
    with reachable_folder() as folder:
        home = folder / "home"
        home.mkdir()
        give_away(home)
        home.chmod(mode)

        run = subprocess.run([sys.executable, "-c", UNREADABLE, str(home)], capture_output=True, text=True, check=True)

        assert run.stdout.startswith(f"{home}: it cannot be read: Permission denied")
        home.chmod(0o700)


def test_folders_are_made_for_their_owner_only(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        folder = make_home_folder(tmp_path / "new" / "home", "sessions", "x")
    finally:
        os.umask(before)

    assert folder == tmp_path / "new" / "home" / "sessions" / "x"
    for made in (folder, folder.parent, folder.parent.parent, tmp_path / "new"):
        assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert make_home_folder(tmp_path / "new" / "home", "sessions") == folder.parent


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "sessions").touch()

    with pytest.raises(ConfigInvalid) as caught:
        make_home_folder(tmp_path, "sessions")
    assert caught.value.problems[0].file == str(tmp_path / "sessions")
