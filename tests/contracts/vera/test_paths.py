"""Which names of executables lie inside hooks/, judged by their words alone (vera.md 2.2; cases 12 to 15)."""

import json
from pathlib import Path

import pytest

from tests.support.sample_events import proposed
from tests.support.vera_home import VeraHome, says
from treblehook.contracts.vera.config import load_config
from treblehook.host.problems import ConfigInvalid

OBSERVE = says({"power": "observe"})


def executable(home: Path, name: str) -> str:
    file = home / "config.json"
    file.write_text(json.dumps({"hooks": [{"phase": "pre_turn", "argv": [name]}]}))
    return load_config(file).hooks[0].executable


async def test_case_012_dots_are_taken_out(home: VeraHome) -> None:
    home.script("b", OBSERVE)
    home.hook("pre_tool_use", "b", None, argv=["a/../b"])

    await home.fire(proposed())

    assert len(home.sent("b")) == 1


async def test_case_013_a_folder_inside_is_fine(home: VeraHome) -> None:
    home.script("nested/note", OBSERVE)
    home.hook("pre_tool_use", "note", None, argv=["./nested/note"])

    session = home.session()
    await session.fire(proposed())

    assert len(home.sent("nested/note")) == 1
    assert session.handlers[0].name == "note"


async def test_case_014_an_absolute_path_inside_is_fine(home: VeraHome) -> None:
    path = home.script("lookout", OBSERVE)
    home.hook("pre_tool_use", "lookout", None, argv=[str(path)])

    await home.fire(proposed())

    assert len(home.sent("lookout")) == 1


@pytest.mark.parametrize("name", ["lookout", "lookout/", "./lookout", "sub/../lookout", "//lookout/", "lookout/."])
def test_spellings_of_one_executable(tmp_path: Path, name: str) -> None:
    spelled = f"{tmp_path}/hooks{name[1:]}" if name.startswith("//") else name

    assert executable(tmp_path, spelled) == f"{tmp_path}/hooks/lookout"


def test_two_slashes_in_front_are_one(tmp_path: Path) -> None:
    assert executable(tmp_path, f"/{tmp_path}/hooks/x") == f"{tmp_path}/hooks/x"


@pytest.mark.parametrize("name", ["..x", "...", "a b", "~", "$HOME", "*", "x\\..\\y", "é"])
def test_nothing_is_expanded(tmp_path: Path, name: str) -> None:
    assert executable(tmp_path, name) == f"{tmp_path}/hooks/{name}"


@pytest.mark.parametrize(
    "name", ["../x", "/bin/sh", ".", "./", "sub/../../x", "a/..", "..", "../hooks", "../hooks-evil/x", "/", "//bin/sh"]
)
def test_a_path_that_leaves_hooks_does_not_load(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigInvalid) as raised:
        executable(tmp_path, name)

    (found,) = raised.value.problems
    assert found.place == "hooks[0].argv[0]"
    assert found.message == f'found "{name}"; it must be a path inside {tmp_path}/hooks'
    assert f"{tmp_path}/hooks" in found.remedy


def test_a_folder_that_only_begins_like_hooks_is_outside(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid):
        executable(tmp_path, f"{tmp_path}/hooks-evil/x")


def test_a_path_that_comes_back_is_inside(tmp_path: Path) -> None:
    assert executable(tmp_path, "../hooks/x") == f"{tmp_path}/hooks/x"


async def test_a_link_inside_hooks_may_lead_anywhere(home: VeraHome) -> None:
    outside = home.folder / "elsewhere"
    outside.write_text('#!/bin/sh\ncat >/dev/null; echo \'{"power":"block","reason":"linked"}\'')
    outside.chmod(0o755)
    (home.hooks / "link").symlink_to(outside)
    home.hook("pre_tool_use", "link")

    blocked = (await home.fire(proposed())).blocked

    assert blocked is not None
    assert blocked.reason == "linked"


def test_another_hooks_folder_can_be_named(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps({"hooks": [{"phase": "pre_turn", "argv": ["a"]}]}))

    assert load_config(file, tmp_path / "mine").hooks[0].executable == f"{tmp_path}/mine/a"


async def test_arguments_pass_untouched(home: VeraHome) -> None:
    home.script("args", 'cat >/dev/null; printf \'{"power":"block","reason":"%s"}\' "$*"')
    home.hook("pre_tool_use", "args", None, argv=["args", "~", "$HOME", "*", ">out", "a b"])

    blocked = (await home.fire(proposed())).blocked

    assert blocked is not None
    assert blocked.reason == "~ $HOME * >out a b"
