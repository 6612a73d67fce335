"""Workspace Lua runs only as the very bytes that were trusted."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.unprivileged import NOBODY, give_away, reachable_folder
from treblehook.home.trust import HeldBack, Untrustable, WorkspaceLua, read_workspace, trusted_workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "workspace"
    write(place, "init.lua", "require('words')")
    write(place, "words.lua", "return {}")
    return place


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def write(workspace: Path, name: str, text: str) -> Path:
    path = workspace / ".crucible" / "lua" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def asked(home: Path, workspace: Path) -> WorkspaceLua | HeldBack | None:
    return trusted_workspace(home, workspace, trust_now=False)


def trusts(home: Path, workspace: Path) -> WorkspaceLua:
    found = trusted_workspace(home, workspace, trust_now=True)
    assert isinstance(found, WorkspaceLua)
    return found


def held(home: Path, workspace: Path) -> HeldBack:
    found = asked(home, workspace)
    assert isinstance(found, HeldBack)
    return found


def test_a_workspace_without_lua_has_nothing_to_trust(home: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    assert asked(home, tmp_path / "empty") is None
    assert not home.exists()


def test_modules_without_an_init_never_run(home: Path, tmp_path: Path) -> None:
    write(tmp_path / "w", "words.lua", "return {}")

    assert asked(home, tmp_path / "w") is None


def test_what_nobody_trusted_is_held_back_and_the_remedy_said(home: Path, workspace: Path) -> None:
    found = held(home, workspace)

    assert found.why == "it has not been trusted yet"
    assert found.problem.file == str(workspace / ".crucible" / "lua")
    assert found.problem.level == "warning"
    assert found.problem.remedy == f"look at it, then trust it as it is now: treblehook trust {workspace} --home {home}"
    assert not home.exists()


def test_trusted_content_is_handed_over_as_bytes(home: Path, workspace: Path) -> None:
    trusts(home, workspace)

    found = asked(home, workspace)

    assert isinstance(found, WorkspaceLua)
    assert found.files == {"init.lua": b"require('words')", "words.lua": b"return {}"}
    assert found.init == workspace / ".crucible" / "lua" / "init.lua"


def test_what_was_hashed_is_what_is_handed_over_whatever_happens_to_the_files(home: Path, workspace: Path) -> None:
    found = trusts(home, workspace)

    write(workspace, "init.lua", "os.exit()")

    assert found.files["init.lua"] == b"require('words')"


@pytest.mark.parametrize("change", ["init", "module", "new module", "data file", "renamed", "removed", "longer name"])
def test_any_change_takes_the_trust_back(home: Path, workspace: Path, change: str) -> None:
    trusts(home, workspace)
    folder = workspace / ".crucible" / "lua"
    match change:
        case "init":
            write(workspace, "init.lua", "require('Words')")
        case "module":
            write(workspace, "words.lua", "return { }")
        case "new module":
            write(workspace, "more/init.lua", "")
        case "data file":
            write(workspace, "list.txt", "x")
        case "renamed":
            (folder / "words.lua").rename(folder / "w.lua")
        case "removed":
            (folder / "words.lua").unlink()
        case "longer name":
            # The same bytes in the same order, cut in another place.
            (folder / "words.lua").rename(folder / "words.luareturn")
            (folder / "words.luareturn").write_text(" {}")

    assert held(home, workspace).why.startswith("it has changed since it was trusted on 2")


def test_trust_comes_back_with_the_bytes(home: Path, workspace: Path) -> None:
    trusts(home, workspace)
    write(workspace, "init.lua", "other")
    assert isinstance(asked(home, workspace), HeldBack)

    write(workspace, "init.lua", "require('words')")

    assert isinstance(asked(home, workspace), WorkspaceLua)


def test_moving_the_workspace_does_not_matter(home: Path, workspace: Path) -> None:
    trusts(home, workspace)

    moved = workspace.rename(workspace.with_name("elsewhere"))

    assert isinstance(asked(home, moved), WorkspaceLua)


def test_the_store_is_private_and_whole(home: Path, workspace: Path) -> None:
    trusts(home, workspace)

    assert stat.S_IMODE((home / "trust.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    stored = json.loads((home / "trust.json").read_text())
    assert stored["version"] == 1
    assert [entry["workspace"] for entry in stored["trusted"]] == [str(workspace)]
    assert set(stored["trusted"][0]["files"]) == {"init.lua", "words.lua"}
    assert sorted(path.name for path in home.iterdir()) == ["trust.json", "trust.json.lock"]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("", "is damaged"),
        ("{", "is damaged"),
        ('{"version": 2, "trusted": []}', "is of version 2"),
        ('{"version": 1}', "is damaged"),
        ('{"version": 1, "trusted": [{"digest": 1}]}', "$.trusted[0].digest"),
        ("[" * 100_000, "is damaged"),
    ],
)
def test_a_damaged_store_trusts_nothing_and_is_left_as_it_is(home: Path, workspace: Path, content: str, what: str) -> None:
    home.mkdir()
    (home / "trust.json").write_text(content)
    (home / "trust.json").chmod(0o600)

    for trust_now in (False, True):
        found = trusted_workspace(home, workspace, trust_now=trust_now)
        assert isinstance(found, HeldBack)
        assert what in found.problem.message
        assert found.problem.level == "error"
    assert (home / "trust.json").read_text() == content


def test_a_store_that_others_may_write_trusts_nothing(home: Path, workspace: Path) -> None:
    trusts(home, workspace)
    (home / "trust.json").chmod(0o620)

    assert held(home, workspace).problem.message == "others may write it"


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_store_that_is_no_file_trusts_nothing_and_does_not_hang(home: Path, workspace: Path, make: Callable[[Path], None]) -> None:
    home.mkdir()
    make(home / "trust.json")

    assert held(home, workspace).problem.message == "is no regular file"


def test_a_link_to_a_file_inside_counts_with_its_content(home: Path, workspace: Path) -> None:
    real = write(workspace, "real.lua", "return 1")
    (real.parent / "link.lua").symlink_to("real.lua")
    found = trusts(home, workspace)

    assert found.files["link.lua"] == b"return 1"
    write(workspace, "real.lua", "return 2")
    assert isinstance(asked(home, workspace), HeldBack)


def test_the_whole_folder_may_be_a_link(home: Path, workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "other" / ".crucible").mkdir(parents=True)
    (tmp_path / "other" / ".crucible" / "lua").symlink_to(workspace / ".crucible" / "lua")
    trusts(home, workspace)

    assert isinstance(asked(home, tmp_path / "other"), WorkspaceLua)


@pytest.mark.parametrize(
    "obstacle", ["outside", "outside folder", "folder link", "loop", "dangling", "pipe", "too many", "too big", "too deep"]
)
def test_what_cannot_be_hashed_soundly_is_never_trusted(home: Path, workspace: Path, tmp_path: Path, obstacle: str) -> None:
    folder = workspace / ".crucible" / "lua"
    match obstacle:
        case "outside":
            (tmp_path / "secret.lua").write_text("return 1")
            (folder / "x.lua").symlink_to(tmp_path / "secret.lua")
        case "outside folder":
            (folder / "x").symlink_to(tmp_path)
        case "folder link":
            write(workspace, "real/a.lua", "")
            (folder / "x").symlink_to("real")
        case "loop":
            (folder / "x").symlink_to("x")
        case "dangling":
            (folder / "x").symlink_to("nothing.lua")
        case "pipe":
            os.mkfifo(folder / "x")
        case "too many":
            for number in range(1000):
                (folder / f"f{number}").touch()
        case "too big":
            with open(folder / "x", "wb") as file:
                file.truncate(200 * 1024 * 1024)
        case "too deep":
            folder.joinpath(*("d" * 33)).mkdir(parents=True)

    found = trusted_workspace(home, workspace, trust_now=True)

    assert isinstance(found, HeldBack)
    assert found.problem.remedy == "while that is so it cannot be trusted, and does not run"
    assert not home.exists()


def test_many_files_together_are_too_big(workspace: Path) -> None:
    for name in "abc":
        with open(workspace / ".crucible" / "lua" / name, "wb") as file:
            file.truncate(6 * 1024 * 1024)

    with pytest.raises(Untrustable, match="its files have more than"):
        read_workspace(workspace)


def test_an_init_that_is_a_link_to_nowhere_is_told(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "w" / ".crucible" / "lua"
    folder.mkdir(parents=True)
    (folder / "init.lua").symlink_to("gone.lua")

    assert "cannot be read" in held(home, tmp_path / "w").why


def test_a_file_that_may_not_be_read() -> None:
    with reachable_folder() as place:
        secret = write(place / "w", "words.lua", "")
        write(place / "w", "init.lua", "")
        give_away(secret)
        secret.chmod(0)
        before = os.geteuid()
        if before == 0:
            os.seteuid(NOBODY)
        try:
            with pytest.raises(Untrustable, match="cannot be read: Permission denied"):
                read_workspace(place / "w")
        finally:
            os.seteuid(before)


def test_a_folder_that_may_not_be_entered_is_not_taken_for_an_empty_one() -> None:
    with reachable_folder() as place:
        folder = write(place / "w", "init.lua", "").parent
        give_away(folder)
        folder.chmod(0)
        before = os.geteuid()
        if before == 0:
            os.seteuid(NOBODY)
        try:
            with pytest.raises(Untrustable, match="cannot be read: Permission denied"):
                read_workspace(place / "w")
        finally:
            os.seteuid(before)
            folder.chmod(0o700)


@given(st.dictionaries(st.text("abL/.", min_size=1, max_size=4), st.binary(max_size=6), max_size=4), st.data())
def test_only_equal_trees_have_equal_digests(files: dict[str, bytes], data: st.DataObject) -> None:
    """Other trees that are nearly the same: bytes moved from one file to the next, from a name to its content, or cut."""
    stream = b"".join(name.encode() + content for name, content in sorted(files.items()))
    other: dict[str, bytes] = {}
    while stream:
        name_length = data.draw(st.integers(1, min(4, len(stream))))
        length = data.draw(st.integers(name_length, len(stream)))
        other[os.fsdecode(stream[:name_length])] = stream[name_length:length]
        stream = stream[length:]

    digests = WorkspaceLua(Path("/a"), files).digest, WorkspaceLua(Path("/b"), other).digest

    assert (digests[0] == digests[1]) is (files == other)


def test_names_that_are_no_utf8(home: Path, workspace: Path) -> None:
    with open(os.fsencode(workspace) + b"/.crucible/lua/\xff.txt", "wb"):
        pass

    trusts(home, workspace)

    assert isinstance(asked(home, workspace), WorkspaceLua)
    assert "\\xff.txt" in json.loads((home / "trust.json").read_text())["trusted"][0]["files"]
