"""`cru.paths`, `cru.plugin.config`, `cru.config`."""

import stat
from pathlib import Path

import pytest

from tests.contracts.crucible.library.conftest import Rig
from treblehook.contracts.crucible.caller import Caller
from treblehook.contracts.crucible.library.config import for_lua


async def test_state_is_made_and_private(rig: Rig, tmp_path: Path) -> None:
    assert rig.run_now("return cru.paths.state(), cru.paths.state('other')") == [
        str(tmp_path / "state/demo"),
        str(tmp_path / "state/other"),
    ]
    assert stat.S_IMODE((tmp_path / "state" / "demo").stat().st_mode) == 0o700


async def test_folders_of_the_session(rig: Rig, tmp_path: Path) -> None:
    caller = Caller(session="s1", owner="demo")
    assert rig.run_now("return cru.paths.workspace(), cru.paths.session(), cru.paths.workspace('s2')", caller=caller) == [
        str(tmp_path / "s1"),
        str(tmp_path / "sessions/s1"),
        str(tmp_path / "s2"),
    ]


async def test_kiln(rig: Rig, tmp_path: Path) -> None:
    assert rig.run_now("return cru.paths.kiln(), cru.paths.kiln('notes')") == [str(tmp_path / "notes")] * 2


@pytest.mark.parametrize(
    ("parts", "joined"),
    [("'a', 'b'", "a/b"), ("'a/', 'b'", "a/b"), ("'a', '/b', 'c'", "/b/c"), ("'/a', '..', 'b'", "/a/../b"), ("'a'", "a")],
)
async def test_join(rig: Rig, parts: str, joined: str) -> None:
    assert rig.run_now(f"return cru.paths.join({parts})") == joined


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("cru.paths.workspace()", "this call belongs to no session"),
        ("cru.paths.workspace('nowhere')", "session nowhere has no workspace"),
        ("cru.paths.session()", "this call belongs to no session"),
        ("cru.paths.kiln('none')", "no kiln is called 'none'; configured: notes"),
        ("cru.paths.state('..')", "the name of a plugin"),
        ("cru.paths.state('a/b')", "the name of a plugin"),
        ("cru.paths.join()", "argument 1 (`part`) is nil"),
    ],
)
async def test_what_is_not_configured_raises(rig: Rig, call: str, said: str) -> None:
    assert said in await rig.refused(f"local x = {call}")


async def test_a_host_without_folders(rig: Rig) -> None:
    bare = rig.with_services(state=None, kilns={})
    assert "no folder for state" in await bare.refused("local x = cru.paths.state()")
    assert "no kiln is configured" in await bare.refused("local x = cru.paths.kiln()")
    await bare.close()


async def test_settings(rig: Rig) -> None:
    source = """
        local config = cru.plugin.config
        local names = {}
        for name in pairs(config) do names[#names + 1] = name end
        table.sort(names)
        return config.greeting, config.get('greeting'), config.get('crew.size'), config.get('other.key'), cru.config.get('demo.crew.size'),
            config.missing == nil, config.get('missing') == nil, cru.config.get('no.such') == nil, names
    """
    assert rig.run_now(source) == ["ahoy", "ahoy", 3, "o", 3, True, True, True, ["crew", "greeting"]]


async def test_each_plugin_sees_its_own_settings(rig: Rig) -> None:
    assert rig.run_now("return cru.plugin.config.key", caller=Caller(owner="other")) == "o"
    assert rig.run_now("return cru.plugin.config.key == nil", caller=Caller(hook="init.lua")) is True


async def test_settings_are_read_only(rig: Rig) -> None:
    assert "read-only" in await rig.refused("cru.plugin.config.greeting = 'x'")


def test_times_of_a_toml_file_become_text() -> None:
    import tomllib

    settings = tomllib.loads("day = 2026-08-18\nat = 2026-08-18T10:00:00Z\nhour = 10:00:00\nlist = [{d = 2026-01-01}]")
    assert for_lua(settings) == {"day": "2026-08-18", "at": "2026-08-18T10:00:00+00:00", "hour": "10:00:00", "list": [{"d": "2026-01-01"}]}
