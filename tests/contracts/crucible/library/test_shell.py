"""`cru.shell` runs real programs."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from tests.contracts.crucible.library.conftest import Rig
from tests.support.processes import alive, until
from treblehook.contracts.crucible.caller import Caller
from treblehook.contracts.crucible.library.command import OUTPUT_BYTES

_STUBBORN = "trap '' TERM; sleep 100 & echo $$ $! > PLACE; wait; wait"


async def test_what_a_program_leaves(rig: Rig) -> None:
    assert await rig.run("return cru.shell.exec('sh', {'-c', 'echo out; echo err >&2; exit 3'})") == {
        "success": False,
        "exit_code": 3,
        "stdout": "out\n",
        "stderr": "err\n",
        "truncated": False,
    }


async def test_arguments_are_not_read_by_a_shell(rig: Rig) -> None:
    assert (await rig.run("return cru.shell.exec('printf', {'%s|', '$HOME', 'a b', 5, '*'})"))["stdout"] == "$HOME|a b|5|*|"


async def test_every_option_is_honoured(rig: Rig, tmp_path: Path) -> None:
    source = """
        local folder = ...
        return cru.shell.exec('sh', {'-c', 'pwd; echo $A $PATH; cat'}, {cwd = folder, env = {A = 'x'}, stdin = 'in', timeout = 60})
    """
    found = await rig.run(source, str(tmp_path))
    assert found["stdout"] == f"{tmp_path}\nx {os.environ['PATH']}\nin"


async def test_a_relative_folder_begins_at_the_workspace(rig: Rig, tmp_path: Path) -> None:
    (tmp_path / "s1" / "inner").mkdir(parents=True)
    caller = Caller(session="s1", owner="demo")
    assert (await rig.run("return cru.shell.exec('pwd', {})", caller=caller))["stdout"] == f"{tmp_path / 's1'}\n"
    assert (await rig.run("return cru.shell.exec('pwd', {}, {cwd = 'inner'})", caller=caller))["stdout"].endswith("/s1/inner\n")


async def test_bytes_come_back_as_they_are(rig: Rig) -> None:
    assert (await rig.run("return cru.shell.exec('cat', {}, {stdin = '\\xff\\0z'})"))["stdout"] == b"\xff\x00z"


async def test_a_signal_is_minus_one(rig: Rig) -> None:
    found = await rig.run("return cru.shell.exec('sh', {'-c', 'kill -9 $$'})")
    assert (found["exit_code"], found["success"]) == (-1, False)


async def test_too_much_output_is_cut_and_told(rig: Rig) -> None:
    found = await rig.run("local r = cru.shell.exec('head', {'-c', '6000000', '/dev/zero'}); r.stdout = #r.stdout; return r")
    assert (found["stdout"], found["truncated"], found["success"]) == (OUTPUT_BYTES, True, True)


@pytest.mark.parametrize("program", ["rm", "/bin/rm", "sudo", "chmod", "chown"])
async def test_some_programs_are_refused_by_name(rig: Rig, program: str) -> None:
    message = await rig.refused(f"cru.shell.exec('{program}', {{}})")
    assert f"'{program}' is not run from a hook" in message


async def test_what_cannot_be_started_raises(rig: Rig) -> None:
    assert "no such program on PATH" in await rig.refused("cru.shell.exec('no-such-program', {})")
    assert "cannot be entered" in await rig.refused("cru.shell.exec('ls', {}, {cwd = '/no/such'})")


async def test_a_deadline_raises_and_ends_the_whole_group(rig: Rig, tmp_path: Path) -> None:
    place = tmp_path / "pids"
    script = _STUBBORN.replace("PLACE", str(place))
    message = await rig.refused(f"cru.shell.exec('sh', {{'-c', {json.dumps(script)}}}, {{timeout = 0.5}})")
    assert "not finished after 0.5 s" in message
    pids = [int(pid) for pid in place.read_text().split()]
    await until(lambda: not any(map(alive, pids)))


async def test_a_cancelled_run_ends_the_whole_group(rig: Rig, tmp_path: Path) -> None:
    place = tmp_path / "pids"
    script = _STUBBORN.replace("PLACE", str(place))
    run = asyncio.create_task(rig.run(f"cru.shell.exec('sh', {{'-c', {json.dumps(script)}}})"))
    await until(lambda: place.exists() and len(place.read_text().split()) == 2)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    pids = [int(pid) for pid in place.read_text().split()]
    await until(lambda: not any(map(alive, pids)))


async def test_a_timeout_around_a_program_ends_it(rig: Rig, tmp_path: Path) -> None:
    place = tmp_path / "pid"
    source = f"return cru.timer.timeout(0.5, function() cru.shell.exec('sh', {{'-c', 'echo $$ > {place}; exec sleep 100'}}) end)"
    assert await rig.run(source) == [False, "timeout"]
    await until(lambda: not alive(int(place.read_text())))


async def test_two_programs_run_at_the_same_time_in_one_machine(rig: Rig, tmp_path: Path) -> None:
    """Each waits for what the other writes: a machine that ran them one after the other would never end."""
    source = """
        local mine, other = ...
        return cru.shell.exec('sh', {'-c', 'touch "$0"; until test -e "$1"; do sleep 0.01; done; echo ' .. mine, mine, other}).stdout
    """
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    assert await asyncio.gather(rig.run(source, one, two), rig.run(source, two, one)) == [f"{one}\n", f"{two}\n"]


async def test_it_raises_where_nothing_may_wait(rig: Rig) -> None:
    found, problem = rig.run_now("return pcall(cru.shell.exec, 'ls', {})")
    assert not found
    assert "cannot wait here" in problem


async def test_which(rig: Rig) -> None:
    assert (await rig.run("return cru.shell.which('sh')")).endswith("/sh")
    assert await rig.run("return cru.shell.which('no-such-program') == nil")


async def test_spawn_hands_lines_on_while_the_program_runs(rig: Rig) -> None:
    assert await rig.run("""
        local lines, process = {}, nil
        process = cru.shell.spawn('cat', {}, {on_line = function(stream, line)
            lines[#lines + 1] = stream .. ':' .. line
            if line == 'one' then process:write('two\\n') else process:close_input() end
        end})
        process:write('one\\n')
        local result = process:wait()
        return table.concat(lines, ','), result.success, result.stdout, process:wait() == result, math.type(process.pid)
    """) == ["stdout:one,stdout:two", True, "", True, "integer"]


async def test_spawn_keeps_the_output_where_nobody_listens(rig: Rig) -> None:
    found = await rig.run("return cru.shell.spawn('sh', {'-c', 'echo a; echo b >&2; exit 2'}):wait()")
    assert found == {"success": False, "exit_code": 2, "stdout": "a\n", "stderr": "b\n", "truncated": False}


async def test_a_killed_program_is_minus_one(rig: Rig) -> None:
    found, pid = await rig.run("local p = cru.shell.spawn('sleep', {'100'}); p:kill(); p:kill(); return p:wait(), p.pid")
    assert found["exit_code"] == -1
    await until(lambda: not alive(pid))


async def test_a_listener_that_fails_is_logged(rig: Rig) -> None:
    found = await rig.run("return cru.shell.spawn('printf', {'a\\nb\\n'}, {on_line = function(_, line) error('no ' .. line) end}):wait()")
    assert found["success"]
    assert [text.partition("demo.lua:1: ")[2] for text in rig.heard("error")] == ["no a", "no b"]


async def test_spawn_is_bounded_by_its_timeout(rig: Rig) -> None:
    assert "not finished in time" in await rig.refused("local r = cru.shell.spawn('sleep', {'100'}, {timeout = 0.2}):wait()")


async def test_giving_up_the_wait_ends_the_program(rig: Rig) -> None:
    pids: list[int] = []
    rig.vm.lua.provide("tell", pids.append)
    run = asyncio.create_task(rig.run("local p = cru.shell.spawn('sleep', {'100'}); tell(p.pid); p:wait()"))
    await until(lambda: bool(pids))
    await asyncio.sleep(0.01)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    await until(lambda: not alive(pids[0]))


@pytest.mark.parametrize("ending", ["reload", "close"])
async def test_a_program_ends_with_its_plugin_and_its_machine(rig: Rig, ending: str) -> None:
    pid = await rig.run("return cru.shell.spawn('sleep', {'100'}).pid")
    other = await rig.run("return cru.shell.spawn('sleep', {'100'}).pid", caller=Caller(owner="other"))
    assert alive(pid)
    if ending == "reload":
        rig.vm.clear("demo")
        await until(lambda: not alive(pid))
        assert alive(other)
    await rig.library.close()
    await until(lambda: not alive(pid) and not alive(other))


async def test_writing_to_a_program_that_does_not_read_raises(rig: Rig) -> None:
    message = await rig.refused("local p = cru.shell.spawn('true', {}); for _ = 1, 100 do p:write(('x'):rep(100000)) end")
    assert "process:write: " in message
