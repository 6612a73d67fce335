"""`cru.timer` and `cru.schedule`."""

import asyncio

import pytest

from tests.contracts.crucible.library.conftest import Rig
from tests.support.processes import until
from treblehook.contracts.crucible.caller import Caller


async def test_sleep_lets_others_run(rig: Rig) -> None:
    seen: list[str] = []
    rig.vm.lua.provide("tell", seen.append)
    source = "local who = ...; for i = 1, 3 do tell(who .. i); cru.timer.sleep(0) end"
    await asyncio.gather(rig.run(source, "a"), rig.run(source, "b"))
    assert sorted(seen) == ["a1", "a2", "a3", "b1", "b2", "b3"]
    assert seen != sorted(seen)


async def test_sessions_that_wait_in_one_machine_stay_themselves(rig: Rig) -> None:
    """Whose call it is does not change while another one runs."""
    source = "for i = 1, 5 do cru.timer.sleep(0); cru.log('info', ...) end; return cru.paths.workspace()"
    callers = [Caller(session=name, owner=f"plugin-{name}") for name in ("s1", "s2", "s3")]
    found = await asyncio.gather(*(rig.run(source, caller.session, caller=caller) for caller in callers))
    assert [place.rpartition("/")[2] for place in found] == ["s1", "s2", "s3"]
    assert {(owner, text) for _, owner, text in rig.lines} == {("plugin-s1", "s1"), ("plugin-s2", "s2"), ("plugin-s3", "s3")}
    assert len(rig.lines) == 15


async def test_a_cancelled_sleep_ends(rig: Rig) -> None:
    run = asyncio.create_task(rig.run("cru.timer.sleep(25)"))
    await asyncio.sleep(0)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert await rig.run("return 1") == 1


async def test_timeout(rig: Rig) -> None:
    assert await rig.run("return cru.timer.timeout(10, function() cru.timer.sleep(0); return 'a', 2 end)") == [True, "a", 2]
    assert await rig.run("return cru.timer.timeout(0.01, function() cru.timer.sleep(25) end)") == [False, "timeout"]
    ok, problem = await rig.run("return cru.timer.timeout(10, function() error('broken') end)")
    assert (ok, problem) == (False, "demo.lua:1: broken")
    ok, problem = await rig.run("return cru.timer.timeout(10, function() error({code = 1}) end)")
    assert not ok
    assert problem


async def test_timeouts_nest(rig: Rig) -> None:
    source = """
        return cru.timer.timeout(20, function()
            return cru.timer.timeout(0.01, function() cru.timer.sleep(25) end)
        end)
    """
    assert await rig.run(source) == [True, False, "timeout"]


async def test_a_timeout_ends_what_waits_inside(rig: Rig) -> None:
    closing = "local x <close> = setmetatable({}, {__close = function() cru.log('closed') end})"
    source = f"cru.timer.timeout(0.01, function() {closing}; cru.timer.sleep(25) end)"
    await rig.run(source)
    await until(lambda: rig.heard() == ["closed"])


async def test_what_is_spawned_runs_on_and_its_errors_are_logged(rig: Rig) -> None:
    await rig.run("cru.timer.spawn(function() cru.timer.sleep(0); cru.log('info', 'later') end); cru.log('info', 'first')")
    await until(lambda: rig.heard() == ["first", "later"])
    await rig.run("cru.timer.spawn(function() error('broken') end)")
    await until(lambda: rig.heard("error") == ["cru.timer.spawn: demo.lua:1: broken"])
    assert rig.lines[-1][1] == "demo"


@pytest.mark.parametrize("ending", ["reload", "close"])
async def test_what_is_spawned_ends_with_its_plugin(rig: Rig, ending: str) -> None:
    closing = "local x <close> = setmetatable({}, {__close = function() cru.log('info', 'over') end})"
    await rig.run(f"cru.timer.spawn(function() {closing}; cru.log('info', 'up'); cru.timer.sleep(25); cru.log('info', 'not this') end)")
    await until(lambda: rig.heard() == ["up"])
    if ending == "reload":
        rig.vm.clear("demo")
    else:
        rig.library.owned.close()
    await until(lambda: rig.heard() == ["up", "over"])


async def test_clock_does_not_go_back(rig: Rig) -> None:
    assert await rig.run("local a = cru.timer.clock(); cru.timer.sleep(0.01); return cru.timer.clock() > a")
    assert rig.run_now("return math.type(cru.timer.clock())") == "float"


async def test_waiting_is_refused_where_it_cannot_be(rig: Rig) -> None:
    ok, problem = rig.run_now("return pcall(cru.timer.sleep, 0)")
    assert not ok
    assert "cannot wait here" in problem


async def test_a_schedule_goes_on_after_an_error_and_until_it_is_cancelled(rig: Rig) -> None:
    handle = await rig.run("""
        local calls = 0
        return cru.schedule({every = 0.01}, function()
            calls = calls + 1
            if calls == 1 then error('broken') end
            cru.log('info', calls)
        end)
    """)
    await until(lambda: len(rig.heard()) >= 2)
    assert rig.heard("error") == ["cru.schedule: demo.lua:5: broken"]
    assert await rig.run("return cru.schedule.cancel(...)", handle) is True
    assert await rig.run("return cru.schedule.cancel(...)", handle) is False
    calls = len(rig.heard())
    await asyncio.sleep(0.05)
    assert len(rig.heard()) == calls


async def test_a_schedule_never_runs_beside_itself(rig: Rig) -> None:
    await rig.run("""
        local inside, calls = 0, 0
        cru.schedule({every = 0.001}, function()
            inside = inside + 1
            cru.timer.sleep(0.01)
            calls = calls + 1
            cru.log('info', inside)
            inside = inside - 1
        end)
    """)
    await until(lambda: len(rig.heard()) >= 5)
    assert set(rig.heard()) == {"1"}


async def test_a_reload_ends_a_plugins_schedules_and_no_others(rig: Rig) -> None:
    for owner in ("demo", "other", None):
        caller = Caller(owner=owner, hook=owner or "init.lua")
        await rig.run("local who = ...; cru.schedule({every = 0.01}, function() cru.log('info', who) end)", owner or "user", caller=caller)
    rig.vm.clear("demo")
    rig.lines.clear()
    await until(lambda: {"other", "user"} <= set(rig.heard()))
    assert "demo" not in rig.heard()


async def test_a_plugin_may_schedule_while_it_is_loaded(rig: Rig) -> None:
    rig.run_now("cru.schedule({every = 0.01}, function() cru.timer.sleep(0); cru.log('info', 'tick') end)")
    await until(lambda: "tick" in rig.heard())
