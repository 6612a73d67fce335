"""A path of a file tool is protected where it leads, however it is spelled."""

import os
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.host.protected.conftest import Land
from treblehook.host.protected import Protection
from treblehook.lifecycle import ToolCall

INSIDE = (".treblehook", ".claude/settings.json", ".claude/hooks", "work/.claude/settings.json", "work/.claude/hooks")
PARTS = ["", ".", "..", "up", "dotc", "chain", "file", "src", "work", "user", "new", ".claude", "hooks", "settings.json", ".treblehook"]
SPELLINGS = st.lists(st.sampled_from(PARTS), max_size=8).map("/".join)
STARTS = st.sampled_from(["", "~/", "{user}/", "/{user}/", "{work}/", "./", "{user}/work/../"])


@pytest.fixture(scope="module")
def shared() -> Iterator[Land]:
    with tempfile.TemporaryDirectory() as folder:
        land = Land(Path(folder).resolve(), {})
        # The folders around a repository are no project's.
        (land.work / ".git").mkdir()
        yield land


def leads_inside(land: Land, path: str) -> bool:
    """Where the system, or a program that removes `..` first, would write."""
    whole = os.path.join(land.work, path.replace("~", str(land.user), 1) if path.startswith("~") else path)
    for reading in (whole, os.path.normpath(whole)):
        real = os.path.realpath(reading)
        if any(f"{real}/".startswith(f"{land.user}/{place}/") for place in INSIDE):
            return True
    return False


@settings(max_examples=1500, deadline=None)
@given(start=STARTS, rest=SPELLINGS)
def test_what_leads_inside_is_touched_and_nothing_else(shared: Land, start: str, rest: str) -> None:
    path = start.format(user=shared.user, work=shared.work) + rest
    inside = leads_inside(shared, path)

    assert (shared.call("write", path=path) is not None) is inside
    assert (shared.bash(f"echo > {path if path.startswith('~') else shlex.quote(path)}") is not None) is inside


@settings(max_examples=500, deadline=None)
@given(start=STARTS, first=SPELLINGS, second=SPELLINGS)
def test_a_folder_that_the_command_goes_to_first_hides_nothing(shared: Land, start: str, first: str, second: str) -> None:
    folder = start.format(user=shared.user, work=shared.work) + first or "."
    named = second.lstrip("/") or "."
    if leads_inside(shared, f"{folder}/{named}"):
        assert shared.bash(f"cd {folder} && echo > {named}") is not None


def test_what_is_named_inside_is_inside_though_it_leads_out(land: Land) -> None:
    (land.user / "code").mkdir()
    (land.user / ".treblehook" / "extensions").mkdir(parents=True)
    (land.user / ".treblehook" / "extensions" / "mine").symlink_to(land.user / "code")

    assert land.call("write", path="../.treblehook/extensions/mine/index.js") is not None
    assert land.call("write", path="up/.treblehook/extensions/mine/index.js") is not None
    assert land.call("write", path="../code/index.js") is None


def test_a_place_that_is_a_link_is_protected_where_it_leads(land: Land) -> None:
    (land.user / "dotfiles").mkdir()
    (land.user / ".codex").symlink_to("dotfiles")

    assert land.call("edit", path="../dotfiles/config.toml") is not None
    assert land.call("edit", path="../.codex/config.toml") is not None
    assert land.call("edit", path="../dotfiles/vimrc") is None
    assert land.bash("rm ~/.codex") is not None


def test_a_link_that_is_made_later_is_followed(land: Land) -> None:
    assert land.call("write", path="later/settings.json") is None
    (land.work / "later").symlink_to("chain")

    assert land.call("write", path="later/settings.json") is not None


def test_a_place_that_becomes_a_link_is_protected_where_it_leads(land: Land) -> None:
    now = [0.0]
    protection = Protection(land.user / ".treblehook", {"HOME": str(land.user)}, clock=lambda: now[0])
    call = ToolCall("c1", "edit", {"path": "../dotfiles/config.toml"})
    assert protection.touched(call, land.work) is None
    (land.user / "dotfiles").mkdir()
    (land.user / ".codex").symlink_to("dotfiles")
    now[0] = 1.5

    assert protection.touched(call, land.work) is not None


def test_a_workspace_that_is_moved_is_found(land: Land) -> None:
    now = [0.0]
    protection = Protection(land.user / ".treblehook", {"HOME": str(land.user)}, clock=lambda: now[0])
    place, elsewhere = land.user / "place", land.user / "elsewhere"
    place.symlink_to(land.work)
    call = ToolCall("c1", "write", {"path": "../.claude/settings.json"})
    assert protection.touched(call, place) is not None
    place.unlink()
    (elsewhere / "deep").mkdir(parents=True)
    place.symlink_to(elsewhere / "deep")
    now[0] = 1.5

    assert protection.touched(ToolCall("c1", "bash", {"command": "> ../../.claude/settings.json"}), place) is not None


def test_any_number_of_workspaces(land: Land) -> None:
    for number in range(200):
        workspace = land.work / str(number)
        assert land.protection.touched(ToolCall("c1", "write", {"path": ".claude/settings.json"}), workspace) is not None


def test_a_folder_of_its_own_is_left_to_whoever_has_it(land: Land) -> None:
    own = land.user / ".treblehook" / "capsules" / "digger" / "workdir"
    own.mkdir(parents=True)
    protection = land.protection.granting(own)

    def touched(path: str) -> list[bool]:
        calls = ToolCall("c1", "write", {"path": path}), ToolCall("c1", "bash", {"command": f"echo > {path}"})
        return [protection.touched(call, own) is not None for call in calls]

    assert touched("map") == touched("deep/map") == touched(f"{own}/map") == [False, False]
    assert touched("../murmur.yaml") == touched("~/.treblehook/config.toml") == touched(".claude/settings.json") == [True, True]
    assert protection.touched(ToolCall("c1", "bash", {"command": "rm -rf ~/.treblehook"}), own) is not None
    assert land.protection.touched(ToolCall("c1", "write", {"path": "map"}), own) is not None


@pytest.mark.parametrize("path", ["a\0b", "\ud800", "circle/x", "x" * 5000, "/", "", "."])
def test_what_is_no_file_is_left_alone(land: Land, path: str) -> None:
    (land.work / "circle").symlink_to("circle")

    assert land.call("write", path=path) is None


def test_a_workspace_in_the_home_is_protected_with_it(land: Land) -> None:
    inside = land.user / ".treblehook" / "plugins"
    inside.mkdir(parents=True)

    assert land.protection.touched(ToolCall("c1", "write", {"path": "x.lua"}), inside) is not None
