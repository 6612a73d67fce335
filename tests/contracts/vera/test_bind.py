"""Which hooks a session has, in which order, and how they share time and places."""

import asyncio
import json

import pytest

from tests.support.clock import Clock
from tests.support.processes import until
from tests.support.sample_events import closed, compacting, proposed
from tests.support.vera_home import VeraHome, reason, says
from treblehook.contracts.vera.bind import bind
from treblehook.contracts.vera.config import load_config
from treblehook.contracts.vera.phases import PHASES
from treblehook.engine import DETACHED, Answer, Background, Dispatcher, Journal, Mode, OnFailure, Registry, Tier
from treblehook.runtimes.process import ProcessRuntime

OBSERVE = says({"power": "observe"})


async def test_handlers_are_what_the_table_says(home: VeraHome) -> None:
    for phase in PHASES:
        home.hook(phase, "x", timeout_ms=1500)

    handlers = {handler.origin.event: handler for handler in home.session().handlers}

    assert list(handlers) == list(PHASES)
    for name, handler in handlers.items():
        assert handler.event is PHASES[name].event
        assert (handler.tier, handler.priority, handler.timeout, handler.name) == (Tier.CONFIG, 100, 1.5, "x")
        assert (handler.origin.contract, handler.origin.file) == ("vera", str(home.hooks / "x"))
    closed_phases = {name for name, handler in handlers.items() if handler.on_failure is OnFailure.CLOSED}
    aborting = {name for name, handler in handlers.items() if handler.on_failure is OnFailure.ABORT}
    detached = {name for name, handler in handlers.items() if handler.delivery is DETACHED}
    assert closed_phases == {"pre_tool_use", "pre_turn"}
    assert aborting == {"post_tool_use", "turn_ending"}
    assert detached == {"pre_compact", "session_end", "subagent_finished"}


async def test_lanes_and_their_deadlines(home: VeraHome) -> None:
    for phase in PHASES:
        home.hook(phase, "x")

    lanes = {handler.origin.event: handler.lane for handler in home.session().handlers if handler.lane is not None}

    assert {lane.name for lane in lanes.values()} == {"vera"}
    assert {name: lane.seconds for name, lane in lanes.items() if lane.seconds is not None} == {
        "pre_turn": 60.0,
        "pre_tool_use": 60.0,
        "post_tool_use": 5.0,
        "turn_ending": 60.0,
    }


@pytest.mark.parametrize(
    ("spawned", "awaited", "missing"),
    [(False, False, set()), (True, False, set()), (True, True, {"pre_compact", "session_end"})],
)
async def test_which_phases_a_session_has(home: VeraHome, spawned: bool, awaited: bool, missing: set[str]) -> None:
    for phase in PHASES:
        home.hook(phase, "x")

    bound = {handler.origin.event for handler in home.session(spawned=spawned, awaited=awaited).handlers}

    assert bound == set(PHASES) - missing


async def test_hooks_run_in_list_order_across_both_protocols(home: VeraHome) -> None:
    home.hook(
        "pre_tool_use", "b", 'cat >/dev/null; echo b >> order; echo \'{"power":"observe"}\''.replace("order", str(home.hooks / "order"))
    )
    home.claude("PreToolUse", "a", "echo a >> order".replace("order", str(home.hooks / "order")))
    home.hook("pre_tool_use", "b")

    await home.fire(proposed())

    assert (home.hooks / "order").read_text().split() == ["b", "a", "b"]


async def test_modes_are_by_name(home: VeraHome) -> None:
    home.hook("pre_tool_use", "watched", says({"power": "block", "reason": "never"}))
    home.hook("pre_tool_use", "silent", says({"power": "block", "reason": "never"}))
    home.hook("pre_tool_use", "lookout", OBSERVE)
    session = home.session(modes={"watched": Mode.REPORT, "silent": Mode.OFF})

    outcome = await session.fire(proposed())

    assert outcome.decision is None
    assert [len(home.sent(name)) for name in ("watched", "silent", "lookout")] == [1, 0, 1]


async def test_a_hooks_clock_stands_still_while_it_waits_for_a_place(home: VeraHome, clock: Clock) -> None:
    home.hook("pre_tool_use", "hook", f'touch "$0.started"; while [ ! -e "$0.go" ]; do sleep 0.01; done; {OBSERVE}', timeout_ms=1000)
    home.session()
    async with ProcessRuntime(at_once=1) as runtime:
        config = load_config(home.config)
        (handler,) = bind(config, runtime=runtime, observers=runtime, spawned=False, awaited=False, modes={})
        blocker = home.script("blocker", 'touch "$0.started"; while [ ! -e "$0.go" ]; do sleep 0.01; done')
        holder = asyncio.ensure_future(runtime.run([str(blocker)], b""))
        await until((home.hooks / "blocker.started").exists)

        answer = asyncio.ensure_future(handler.ask(proposed()))
        await clock.advance(30.0)
        (home.hooks / "blocker.go").touch()
        await until((home.hooks / "hook.started").exists)
        (home.hooks / "hook.go").touch()

        assert await answer == Answer(None, raw='{"power": "observe"}\n')
        await holder


async def test_slow_observers_do_not_take_the_places_of_hooks_that_hold_up_a_turn(home: VeraHome) -> None:
    wait = 'touch "$0.started"; while [ ! -e "$0.go" ]; do sleep 0.01; done'
    home.hook("pre_compact", "slow", wait)
    home.hook("pre_tool_use", "guard", says({"power": "block", "reason": "no"}))
    home.session()
    async with ProcessRuntime(at_once=1) as runtime, ProcessRuntime(at_once=1) as observers:
        registry, background = Registry(), Background()
        config = load_config(home.config)
        for handler in bind(config, runtime=runtime, observers=observers, spawned=False, awaited=False, modes={}):
            registry.add(handler)
        dispatcher = Dispatcher(registry, background=background, journal=Journal())

        await dispatcher.fire(compacting())
        await until((home.hooks / "slow.started").exists)

        assert reason(await dispatcher.fire(proposed())) == "no"
        (home.hooks / "slow.go").touch()
        assert await background.drain(detached_seconds=60) == []


async def test_one_configuration_serves_many_sessions(home: VeraHome) -> None:
    home.hook("session_end", "watch", '{ cat; echo; } >> "$0.stdin"')
    first, second = home.session(), home.session()

    for session in (first, second):
        await session.fire(closed())
        await session.settle()

    assert len(home.sent("watch")) == 2
    assert json.loads(home.config.read_text())["hooks"][0]["argv"] == ["watch"]
