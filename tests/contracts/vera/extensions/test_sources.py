"""Where extensions come from, their order, and the included one (vera.md 5.2, 5.5; cases 168 to 170)."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.extension_rig import ExtensionRig, write_extension
from tests.support.needs import needs
from tests.support.sample_events import proposed
from treblehook.contracts.vera.config import load_config
from treblehook.contracts.vera.extensions.sources import COMMAND_HOOKS, INCLUDED, find_sources
from treblehook.host.problems import ConfigInvalid
from treblehook.lifecycle import Block

NODE = needs("node")
COPY = INCLUDED[COMMAND_HOOKS]
BLOCKS = "vera.hooks.registerPreToolUse(() => ({ power: 'block', reason: vera.config.reason ?? 'no' }));"


def names(rig: ExtensionRig, environ: dict[str, str] | None = None) -> list[str]:
    """The folders' names in the order of activation, the included one as `included`."""
    found = find_sources(load_config(rig.config), rig.folder, environ or {})
    return ["included" if source.is_included else Path(source.folder).name for source in found]


def command(rig: ExtensionRig, name: str, answer: object) -> str:
    """An executable outside of hooks/, by its absolute path."""
    file = rig.place / name
    file.write_text(f"#!{sys.executable}\nimport sys\nsys.stdin.read()\nprint({json.dumps(json.dumps(answer))})\n")
    file.chmod(0o755)
    return str(file)


def test_included_discovered_configured(rig: ExtensionRig) -> None:
    for name in ("b", "a", "C"):
        rig.js(name.lower(), "", name=name)
    for name in ("z", "y"):
        write_extension(rig.place / "elsewhere" / name, name, "")
    rig.configure(extensions=[{"path": str(rig.place / "elsewhere" / name)} for name in ("z", "y")])

    assert names(rig) == ["included", "C", "a", "b", "z", "y"]


def test_links_files_and_folders_without_a_manifest_are_not_discovered(rig: ExtensionRig) -> None:
    outside = write_extension(rig.place / "elsewhere" / "linked", "linked", "")
    folder = rig.folder / "extensions"
    (folder / "empty").mkdir(parents=True)
    (folder / "file").write_text("")
    (folder / "linked").symlink_to(outside)

    assert names(rig) == ["included"]


def test_an_entry_that_is_not_enabled(rig: ExtensionRig) -> None:
    folder = write_extension(rig.place / "elsewhere" / "one", "one", "")
    rig.configure(extensions=[{"path": str(folder), "enabled": False}])

    assert names(rig) == ["included"]


def test_an_entry_for_a_discovered_folder_is_that_extension(rig: ExtensionRig) -> None:
    folder = rig.js("one", "")
    rig.js("two", "")
    rig.configure(extensions=[{"path": str(folder), "config": {"a": 1}}])

    sources = find_sources(load_config(rig.config), rig.folder, {})
    assert [(Path(source.folder).name, source.config) for source in sources[1:]] == [("two", {}), ("one", {"a": 1})]

    rig.configure(extensions=[{"path": str(folder), "enabled": False}])
    assert names(rig) == ["included", "two"]


def test_the_variable_stands_for_the_list(rig: ExtensionRig) -> None:
    rig.js("home", "")
    for name in ("a", "b", "c"):
        write_extension(rig.place / "elsewhere" / name, name, "")
    rig.configure(extensions=[{"path": str(rig.place / "elsewhere" / "a")}])
    paths = f"{rig.place}/elsewhere/c, {rig.place}/elsewhere/b,"

    assert names(rig, {"VERA_EXTENSIONS": paths}) == ["included", "home", "c", "b"]
    assert names(rig, {"VERA_EXTENSIONS": ""}) == ["included", "home", "a"]


def test_a_relative_path_in_the_variable(rig: ExtensionRig) -> None:
    with pytest.raises(ConfigInvalid, match="VERA_EXTENSIONS"):
        find_sources(load_config(rig.config), rig.folder, {"VERA_EXTENSIONS": "here"})


def test_an_included_extension_is_disabled_by_its_id(rig: ExtensionRig) -> None:
    rig.configure(disabled_included_extensions=[COMMAND_HOOKS])

    assert names(rig) == []


@pytest.mark.parametrize("value", [None, "x", [1], [""], {}])
def test_a_bad_list_of_disabled_extensions_invalidates_the_config(rig: ExtensionRig, value: Any) -> None:
    rig.configure(disabled_included_extensions=value)

    with pytest.raises(ConfigInvalid, match="disabled_included_extensions"):
        load_config(rig.config)


@pytest.mark.parametrize("enabled", [True, False])
def test_an_entry_replaces_the_included_copy_by_path(rig: ExtensionRig, enabled: bool) -> None:
    rig.configure(extensions=[{"path": COPY, "enabled": enabled}])

    assert names(rig) == (["included"] if enabled else [])


@pytest.mark.parametrize("enabled", [True, False])
def test_an_entry_replaces_the_included_copy_by_id(rig: ExtensionRig, enabled: bool) -> None:
    folder = write_extension(rig.place / "elsewhere" / "mine", COMMAND_HOOKS, "")
    rig.configure(extensions=[{"path": str(folder), "enabled": enabled}])

    assert names(rig) == (["mine"] if enabled else [])


@NODE
async def test_case_168_of_two_extensions_with_one_id_the_second_is_not_loaded(rig: ExtensionRig) -> None:
    rig.js("twin", BLOCKS, name="a")
    rig.js("twin", "vera.hooks.registerPreToolUse(() => ({ power: 'block', reason: 'second' }));", name="b")
    rig.js("other", "")

    outcome = await rig.fire(proposed())

    assert outcome.decision == Block("no")
    assert await rig.load() == [COMMAND_HOOKS, "twin", "other"]
    assert rig.log() == [
        {
            "type": "host_startup_extension_failed",
            "level": "warn",
            "extension_id": "twin",
            "message": "an extension with the id twin is active already",
        }
    ]


@NODE
async def test_the_second_of_two_loads_where_the_first_did_not(rig: ExtensionRig) -> None:
    rig.js("twin", "throw new Error('no');", name="a")
    rig.js("twin", BLOCKS, name="b")

    assert (await rig.fire(proposed())).decision == Block("no")


@NODE
async def test_the_same_folder_twice_in_the_list(rig: ExtensionRig) -> None:
    folder = write_extension(rig.place / "elsewhere" / "one", "one", BLOCKS)
    rig.configure(extensions=[{"path": str(folder)}, {"path": str(folder), "config": {"reason": "second"}}])

    assert (await rig.fire(proposed())).decision == Block("no")
    assert len(rig.messages()) == 1


async def test_case_169_command_hooks_without_a_list_run_nothing(rig: ExtensionRig) -> None:
    for config in ({}, {"extensions": [{"path": COPY}]}, {"extensions": [{"path": COPY, "config": {"hooks": []}}]}):
        rig.configure(**config)

        session = await rig.session()

        assert session.handlers == []
        assert rig.messages() == []
        assert await rig.node() is None


async def test_command_hooks_run_executables_by_their_absolute_path(rig: ExtensionRig) -> None:
    entry = {"phase": "pre_tool_use", "argv": [command(rig, "guard", {"power": "block", "reason": "guarded"})], "timeout_ms": 30000}
    rig.configure(extensions=[{"path": COPY, "config": {"hooks": [entry]}}])
    session = await rig.session()

    outcome = await session.fire(proposed())

    assert outcome.decision == Block("guarded")
    assert [(handler.name, handler.origin.file) for handler in session.handlers] == [(COMMAND_HOOKS, entry["argv"][0])]
    assert await rig.node() is None


BAD = [
    {"phase": "on_start", "argv": ["/bin/true"]},
    {"phase": "turn_finished", "argv": ["/bin/true"]},
    {"phase": "Stop", "argv": ["/bin/true"]},
    {"phase": "pre_turn", "argv": []},
    {"phase": "pre_turn", "argv": ["lookout"]},
    {"phase": "pre_turn", "argv": ["./lookout"]},
    {"phase": "pre_turn", "argv": ["/bin/true"], "timeout_ms": 30001},
    {"phase": "pre_turn", "argv": ["/bin/true"], "timeout_ms": 0},
    {"phase": "pre_turn", "argv": ["/bin/true", *["x"] * 16]},
    {"phase": "pre_turn", "argv": ["/bin/true", "x" * 8192]},
    None,
]


@pytest.mark.parametrize("config", [*({"hooks": [entry]} for entry in BAD), {"hooks": None}, {"hooks": {}}, [], "x", None])
async def test_case_170_a_bad_list_leaves_the_extension_inactive_and_config_json_runs(rig: ExtensionRig, config: Any) -> None:
    rig.hook("pre_tool_use", "guard", 'cat >/dev/null; echo \'{"power":"block","reason":"from config.json"}\'')
    rig.configure(extensions=[{"path": COPY, "config": config}])

    outcome = await rig.fire(proposed())

    assert outcome.decision == Block("from config.json")
    assert await rig.load() == []
    [problem] = rig.home.problems
    assert problem.file == str(rig.config)
    assert problem.place.startswith("extensions[0].config")
    [line] = rig.log()
    assert (line["type"], line["extension_id"]) == ("host_startup_extension_failed", COMMAND_HOOKS)


async def test_disabling_command_hooks_does_not_stop_the_list_of_config_json(rig: ExtensionRig) -> None:
    rig.hook("pre_tool_use", "guard", 'cat >/dev/null; echo \'{"power":"block","reason":"still"}\'')
    rig.configure(disabled_included_extensions=[COMMAND_HOOKS])

    assert (await rig.fire(proposed())).decision == Block("still")


@NODE
async def test_a_copy_of_command_hooks_does_the_same_in_javascript(rig: ExtensionRig) -> None:
    copy = shutil.copytree(COPY, rig.place / "copy")
    entry = {"phase": "pre_tool_use", "argv": [command(rig, "guard", {"power": "block", "reason": "guarded"})], "timeout_ms": 30000}
    rig.configure(extensions=[{"path": str(copy), "config": {"hooks": [entry]}}])

    assert (await rig.fire(proposed())).decision == Block("guarded")
    assert await rig.node() is not None


@NODE
@pytest.mark.parametrize("entry", BAD[:-1])
async def test_a_copy_refuses_what_the_included_one_refuses(rig: ExtensionRig, entry: Any) -> None:
    copy = shutil.copytree(COPY, rig.place / "copy")
    rig.configure(extensions=[{"path": str(copy), "config": {"hooks": [entry]}}])

    assert await rig.load() == []
