"""Where plugins are found, in which order, and what is said of everything that is none."""

import os
from pathlib import Path

import pytest

from tests.contracts.crucible.plugins.conftest import PluginHome
from tests.support.unprivileged import NOBODY, give_away, reachable_folder
from treblehook.contracts.crucible.plugins.discovery import find_plugins
from treblehook.host.problems import Problem


def found(home: PluginHome) -> list[tuple[str, str]]:
    plugins = find_plugins(home.folder, home.environ, home.problems.append)
    return [(plugin.name, str(plugin.file.relative_to(home.folder.parent))) for plugin in plugins]


def elsewhere(home: PluginHome, folder: str, *names: str) -> Path:
    place = home.folder.parent / folder
    for name in names:
        (place / name).mkdir(parents=True)
        (place / name / "init.lua").touch()
    return place


async def test_folders_and_single_files_by_name(home: PluginHome) -> None:
    home.write("b/init.lua", "")
    home.write("a.lua", "")
    home.write("c/init.lua", "")
    home.write("README.md", "")
    home.write(".hidden/x", "")
    home.write(".init.lua", "")

    assert found(home) == [("a", "home/plugins/a.lua"), ("b", "home/plugins/b/init.lua"), ("c", "home/plugins/c/init.lua")]
    assert home.problems == []


async def test_without_a_folder_of_plugins_there_are_none(home: PluginHome) -> None:
    assert (found(home), home.problems) == ([], [])


async def test_the_search_path_comes_first_and_the_first_of_a_name_wins(home: PluginHome) -> None:
    home.write("x/init.lua", "")
    home.write("a/init.lua", "")
    first, second = elsewhere(home, "one", "x", "y"), elsewhere(home, "two", "y", "z")
    home.environ["TREBLEHOOK_PLUGIN_PATH"] = f"{first}:{second}:"

    assert found(home) == [
        ("x", "one/x/init.lua"),
        ("y", "one/y/init.lua"),
        ("z", "two/z/init.lua"),
        ("a", "home/plugins/a/init.lua"),
    ]
    assert [(p.file, p.message, p.remedy, p.level) for p in home.problems] == [
        (
            str(second / "y" / "init.lua"),
            "another plugin is named 'y' too, so this one is not loaded",
            f"rename or remove one; loaded is {first / 'y' / 'init.lua'}",
            "warning",
        ),
        (
            str(home.folder / "plugins" / "x" / "init.lua"),
            "another plugin is named 'x' too, so this one is not loaded",
            f"rename or remove one; loaded is {first / 'x' / 'init.lua'}",
            "warning",
        ),
    ]


async def test_a_folder_wins_over_a_file_of_its_name(home: PluginHome) -> None:
    home.write("a/init.lua", "")
    home.write("a.lua", "")

    assert found(home) == [("a", "home/plugins/a/init.lua")]
    assert len(home.problems) == 1


async def test_a_folder_that_is_named_twice_counts_once(home: PluginHome) -> None:
    home.write("a/init.lua", "")
    (home.folder.parent / "link").symlink_to(home.folder / "plugins")
    home.environ["TREBLEHOOK_PLUGIN_PATH"] = f"{home.folder.parent / 'link'}:{home.folder / 'plugins'}"

    assert (len(found(home)), home.problems) == (1, [])


async def test_a_folder_of_the_search_path_that_is_missing_is_told(home: PluginHome) -> None:
    home.environ["TREBLEHOOK_PLUGIN_PATH"] = "/nowhere/at-all"

    assert found(home) == []
    assert home.problems == [Problem("/nowhere/at-all", "", "there is no such folder; $TREBLEHOOK_PLUGIN_PATH names it", level="warning")]


@pytest.mark.parametrize("name", ["a b", "-x", "_x", "a.b", "ä", "x" * 65, "a\nb"])
async def test_names_are_restricted(home: PluginHome, name: str) -> None:
    home.write(f"{name}/init.lua", "")
    home.write("good/init.lua", "")

    assert [name for name, _ in found(home)] == ["good"]
    assert home.messages() == [f"no plugin can be named {name!r}"]


async def test_a_folder_without_init_lua_is_told_and_the_rest_goes_on(home: PluginHome) -> None:
    home.write("empty/lua/x.lua", "")
    home.write("good/init.lua", "")

    assert [name for name, _ in found(home)] == ["good"]
    assert home.problems == [Problem(str(home.folder / "plugins" / "empty"), "", "it is no plugin: there is no init.lua in it")]


async def test_a_linked_folder_is_a_plugin(home: PluginHome) -> None:
    place = elsewhere(home, "elsewhere", "real")
    (place / "real" / "lua").mkdir()
    (place / "real" / "lua" / "words.lua").write_text('return "linked"')
    (place / "real" / "init.lua").write_text('say(require("words"))')
    (home.folder / "plugins").mkdir()
    (home.folder / "plugins" / "link").symlink_to(place / "real")

    home.load()

    assert (home.said, home.problems) == (["linked"], [])


async def test_links_that_lead_nowhere_and_in_circles(home: PluginHome) -> None:
    folder = home.folder / "plugins"
    home.write("good/init.lua", "")
    (folder / "gone").symlink_to("nothing")
    (folder / "gone2.lua").symlink_to("nothing.lua")
    (folder / "round").symlink_to("round")
    home.write("inner/x", "")
    (folder / "inner" / "init.lua").symlink_to("init.lua")

    home.load()

    assert {s.name: s.cause for s in home.plugins.states()} == {
        "gone": f"{folder}/gone: cannot be read: No such file or directory",
        "gone2": f"{folder}/gone2.lua: cannot be read: No such file or directory",
        "good": None,
        "inner": f"{folder}/inner/init.lua: cannot be read: Too many levels of symbolic links",
        "round": f"{folder}/round: cannot be read: Too many levels of symbolic links",
    }


async def test_a_plugins_folder_that_is_a_file(home: PluginHome) -> None:
    (home.folder / "plugins").touch()

    assert found(home) == []
    assert home.messages() == ["plugins cannot be looked for here: Not a directory"]


async def test_what_stands_in_the_place_of_init_lua(home: PluginHome) -> None:
    folder = home.folder / "plugins"
    (home.write("dir/x", "").parent / "init.lua").mkdir()
    os.mkfifo(home.write("pipe/x", "").parent / "init.lua")
    os.truncate(home.write("huge/init.lua", ""), 200 * 1024 * 1024)
    home.write("good/init.lua", 'say("good")')

    home.load()

    assert {s.name: s.cause for s in home.plugins.states()} == {
        "dir": f"{folder}/dir/init.lua: is no regular file",
        "good": None,
        "huge": f"{folder}/huge/init.lua: is too big: 209,715,200 bytes, 4,194,304 are allowed",
        "pipe": f"{folder}/pipe/init.lua: is no regular file",
    }
    assert home.said == ["good"]


def test_files_and_folders_that_may_not_be_read() -> None:
    with reachable_folder() as place:
        home = PluginHome(place)
        give_away(home.write("closed/init.lua", "").parent)
        (home.folder / "plugins" / "closed").chmod(0)
        give_away(home.write("secret/init.lua", ""))
        (home.folder / "plugins" / "secret" / "init.lua").chmod(0)
        home.write("good/init.lua", 'say("good")')
        before = os.geteuid()
        if before == 0:
            os.seteuid(NOBODY)
        try:
            home.load()
        finally:
            os.seteuid(before)
            (home.folder / "plugins" / "closed").chmod(0o700)

        causes = {s.name: s.cause for s in home.plugins.states()}
        assert (causes["good"], home.said) == (None, ["good"])
        for name in ("closed", "secret"):
            assert causes[name] == f"{place}/plugins/{name}/init.lua: cannot be read: Permission denied"
