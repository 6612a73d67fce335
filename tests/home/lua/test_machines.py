"""Which machines there are, and for how long."""

import gc
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command_home import MAIN
from tests.support.lua_nest import TELL, LuaNest
from tests.support.nest import agent, bash
from treblehook.home.lua import machines
from treblehook.host.problems import ConfigInvalid


async def test_plugins_are_loaded_once_for_all_sessions_and_init_lua_in_each_of_its_machines(nest: LuaNest) -> None:
    nest.plugin("tell('plugin', cru.vm)")
    nest.user(TELL + "tell('user', cru.vm)")
    for _ in range(3):
        await nest.open()
    assert nest.told == [["plugin", "plugin"], ["user", "plugin"], *[["user", "session"]] * 3]


async def test_an_event_reaches_init_lua_in_both_machines(nest: LuaNest) -> None:
    nest.user("cru.on('pre_llm_call', function(ctx, event) return {prompt = event.prompt .. '!'} end)")
    await (await nest.open()).prompt("dig")
    assert nest.queries[-1].messages[-1].text == "dig!!"


async def test_a_guard_keeps_init_lua_to_one_machine(nest: LuaNest) -> None:
    nest.user("if cru.vm == 'session' then cru.on('pre_llm_call', function(ctx, e) return {prompt = e.prompt .. '!'} end) end")
    await (await nest.open()).prompt("dig")
    assert nest.queries[-1].messages[-1].text == "dig!"


async def test_sessions_share_nothing_and_plugins_everything(nest: LuaNest) -> None:
    count = "cru.on('pre_llm_call', function(ctx) seen = (seen or 0) + 1 tell(cru.vm, seen) end)"
    nest.of_workspace(TELL + count)
    nest.plugin(count)
    for _ in range(2):
        await (await nest.open()).prompt("dig")
    assert nest.told == [["session", 1], ["plugin", 1], ["session", 1], ["plugin", 2]]


async def test_a_file_that_fails_keeps_what_it_had_registered_and_the_next_one_runs(nest: LuaNest) -> None:
    file = nest.user(TELL + "cru.on('pre_tool_call', function() tell('user', cru.vm) end)\nerror('overboard')")
    nest.of_workspace(TELL + "cru.on('pre_tool_call', function() tell('workspace') end)")
    nest.plays(bash("echo dug"))
    await (await nest.open()).prompt("dig")
    assert nest.told == [["user", "session"], "workspace", ["user", "plugin"]]
    (problem,) = [problem for problem in nest.home.problems if problem.level == "error"]
    assert problem.file == str(file)
    assert f"{file}:2: overboard" in problem.message


@pytest.mark.parametrize(
    "broken",
    [
        "no lua at all",
        "error({})",
        "while true do end",
        "local t = ('x'):rep(1e9)",
        "return {setup = 5}",
        "return {setup = function() error() end}",
    ],
)
async def test_a_plugin_in_error_disturbs_no_other(nest: LuaNest, broken: str) -> None:
    nest.plugin("cru.on('pre_tool_call', function() tell('a') end)", "a")
    file = nest.plugin("cru.on('pre_tool_call', function() tell('never') return {cancel = true} end)\n" + broken, "b")
    nest.plugin("cru.on('pre_tool_call', function() tell('c') end)", "c")
    nest.plays(bash("echo dug"))
    await (await nest.open()).prompt("dig")
    assert nest.told == ["a", "c"]
    assert nest.home.lua.plugins is not None
    states = {state.name: state for state in nest.home.lua.plugins.plugins.states()}
    assert {name: state.state for name, state in states.items()} == {"a": "loaded", "b": "error", "c": "loaded"}
    assert str(file) in (states["b"].cause or "")
    assert any(problem.file == str(file) and problem.level == "error" for problem in nest.home.problems)


async def test_the_machine_of_a_session_goes_with_it(nest: LuaNest) -> None:
    nest.of_workspace("cru.on('pre_tool_call', function() end)")
    session = await nest.open()
    registry = session.state.dispatcher.registry
    assert len(registry.handlers()) == 1
    await session.finish("closed")
    assert registry.handlers() == []


@pytest.mark.parametrize("profile", ["bare", "prompt-only"])
async def test_without_hooks_no_lua_runs(nest: LuaNest, profile: str) -> None:
    nest.plugin("tell('never') return {tools = {{name = 'dig', description = 'd', run = function() return 'dug' end}}}")
    nest.user(TELL + "tell('never')")
    nest.of_workspace(TELL + "tell('never')")
    await (await nest.open(profile=profile)).prompt("dig")
    assert nest.told == []
    assert nest.home.lua.plugins is None
    await nest.open()
    await (await nest.open(profile=profile)).prompt("dig")
    assert "dig" not in [tool.name for tool in nest.queries[-1].tools], "nor where another session has loaded the plugins"


async def test_a_home_without_lua_makes_no_machine(nest: LuaNest) -> None:
    await nest.open()
    assert nest.home.lua.plugins is None
    assert not (nest.folder / "runtime" / "storage.sqlite3").exists()


@pytest.mark.parametrize("place", ["user", "plugin", "workspace"])
async def test_lua_without_its_library_does_not_start(nest: LuaNest, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = {"user": nest.user, "plugin": nest.plugin, "workspace": nest.of_workspace}[place]("")
    monkeypatch.setattr(machines, "find_spec", lambda name: None)
    with pytest.raises(ConfigInvalid) as invalid:
        await nest.open()
    (problem,) = invalid.value.problems
    assert problem.file == str(file)
    assert "treblehook[lua]" in problem.remedy
    assert list((nest.folder / "sessions").glob("*")) == []


def test_the_command_without_the_library_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "init.lua").write_text("")
    (tmp_path / "model.json").write_text('{"turns": []}')
    hide = "import sys; sys.modules['lupa'] = None\n" + MAIN
    flags = ["--home", str(tmp_path / "home"), "--workspace", str(tmp_path), "--model", f"script:{tmp_path / 'model.json'}"]
    ran = subprocess.run([sys.executable, "-c", hide, "run", "dig", *flags], capture_output=True, text=True, check=False)
    assert (ran.returncode, "Traceback" in ran.stderr) == (2, False), ran.stderr
    assert "pip install 'treblehook[lua]'" in ran.stderr
    (tmp_path / "home" / "init.lua").unlink()
    ran = subprocess.run([sys.executable, "-c", hide, "run", "dig", *flags], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


async def test_memory_is_flat_over_many_sessions(nest: LuaNest) -> None:
    nest.user("local big = ('x'):rep(1000000) cru.on('pre_llm_call', function() return big == '' end)")
    nest.plugin("cru.on_session_start(function() end)")

    async def some(count: int) -> int:
        for _ in range(count):
            session = await nest.open()
            await session.finish("closed")
        nest.ears.records.clear()
        nest._open.clear()
        gc.collect()
        return _resident()

    before = await some(40)
    after = await some(200)
    assert after - before < 60_000_000, "200 machines of over 1 MB each would be over 200 MB"


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


async def test_subagents_have_machines_of_their_own(nest: LuaNest) -> None:
    nest.of_workspace(TELL + "n = 0 cru.on('pre_llm_call', function() n = n + 1 tell(n) end)")
    nest.plays(agent("dig here"), routes=[{"match": "dig here", "turns": [{"text": "Dug."}]}])
    await (await nest.open()).prompt("go")
    assert nest.told == [1, 1, 2]


async def test_a_session_that_cannot_be_made_leaves_no_machine(nest: LuaNest) -> None:
    nest.of_workspace("")
    nest.settings('[permissions]\nask = ["bash"]\n')
    with pytest.raises(ConfigInvalid):
        await nest.open(kilns=("nowhere",))
    assert nest.home.lua._open == set()


async def test_what_a_file_does_at_its_own_session_while_it_loads_counts(nest: LuaNest) -> None:
    code = "cru.tools.set_active{'read'} cru.context.attach('Low tide at six.') cru.notify('ahoy') tell(#cru.tools.list() > 3)"
    nest.of_workspace(TELL + code)
    await (await nest.open()).prompt("dig")
    assert nest.told == [True]
    assert [tool.name for tool in nest.queries[-1].tools] == ["read"]
    assert nest.queries[-1].messages[0].text == "Low tide at six."
    assert nest.ears.rows() == ["ahoy"]
    assert nest.ears.records[0]["type"] == "session"


async def test_what_code_says_is_in_a_private_log(nest: LuaNest) -> None:
    nest.plugin("print('plain', 1) cru.log('warn', 'careful') cru.log(nil) cru.log('info', {1}) cru.log('info', '\\xff')")
    await nest.open()
    file = nest.folder / "runtime" / "logs" / "lua.jsonl"
    assert file.stat().st_mode & 0o777 == 0o600
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["owner"] for line in lines] == ["print", *["digest"] * 4]
    assert [problem.message for problem in nest.home.problems] == ["digest: careful"]
