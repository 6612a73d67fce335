"""`cru.on_session_start` and `cru.on_session_end` (crucible.md 6.2, 6.3)."""

import asyncio

import pytest

from tests.support.crucible_rig import LuaRig
from treblehook.contracts.crucible import lifecycle_hooks
from treblehook.engine import Ended, OnFailure
from treblehook.lifecycle import Refuse, SessionEnd, SessionStart
from treblehook.runtimes.lua import LuaFailed

START = SessionStart(session="s1", workspace="/ws")
END = SessionEnd(session="s1", workspace="/ws", reason="closed")


def start(body: str, options: str = "") -> str:
    return f"cru.on_session_start(function(session) {body} end{options})\n"


def end(body: str) -> str:
    return f"cru.on_session_end(function(session) {body} end)\n"


REQUIRED = ", {required = true}"


async def test_case_148_a_required_hook_that_raises_refuses_the_session(rig: LuaRig) -> None:
    rig.load("plugin", start('error("no container")', REQUIRED) + end('seen("released")'), owner="oci")
    outcome = await rig.fire(START)
    assert isinstance(outcome.blocked, Refuse)
    assert "oci" in outcome.blocked.reason
    assert "oci.lua:1: no container" in outcome.blocked.reason
    await rig.fire(SessionEnd(session="s1", reason="refused"))
    assert rig.seen == [("released",)]


@pytest.mark.parametrize("options", [REQUIRED, ", {required = 0}", ""])
async def test_case_149_a_session_of_its_own_machine_is_never_refused(rig: LuaRig, options: str) -> None:
    rig.load("session", start('error("boom")', options) + start('seen("next")'))
    outcome = await rig.fire(START)
    assert outcome.blocked is None
    assert rig.seen == [("next",)]
    assert [line.level for line in rig.lines if line.level == "error"] == ["error"]
    assert len(rig.warnings) == bool(options)


async def test_case_150_every_hook_is_asked_before_a_refusal(rig: LuaRig) -> None:
    rig.load("plugin", start('seen("first") error("no container")', REQUIRED) + start('seen("second")'), owner="oci")
    rig.load("plugin", start('seen("third") error("no licence")', REQUIRED) + start('error("whatever")'), owner="licence")
    outcome = await rig.fire(START)
    assert rig.seen == [("first",), ("second",), ("third",)]
    assert outcome.blocked is not None
    assert "no container; " in outcome.blocked.reason
    assert "no licence" in outcome.blocked.reason
    assert "whatever" not in outcome.blocked.reason


@pytest.mark.parametrize(
    ("options", "required"), [("", False), (", nil", False), (", {}", False), (REQUIRED, True), (", {required = 0}", True)]
)
def test_required_is_true_as_lua_has_it(rig: LuaRig, options: str, required: bool) -> None:
    rig.load("plugin", start("", options))
    assert rig.handlers[0].on_failure is (OnFailure.CLOSED if required else OnFailure.OPEN)


@pytest.mark.parametrize(
    "call",
    [
        "cru.on_session_start()",
        "cru.on_session_start({})",
        "cru.on_session_start(print, 5)",
        "cru.on_session_start(setmetatable({}, {__call = print}))",
        "cru.on_session_end()",
        "cru.on_session_end('f')",
    ],
)
def test_case_151_what_is_no_function_raises(rig: LuaRig, kind: str, call: str) -> None:
    with pytest.raises(LuaFailed) as raised:
        rig.load(kind, f"\n{call}")
    assert raised.value.message.startswith(f"{raised.value.file}:2: {call.split('(')[0]}: ")
    assert rig.handlers == []


def test_an_unknown_option_of_a_lifecycle_hook_is_told(rig: LuaRig, kind: str) -> None:
    rig.load(kind, start("", ", {requird = true}"))
    assert any("`requird`" in text and "`required`" in text for text in rig.warnings)
    assert rig.handlers[0].on_failure is OnFailure.OPEN


async def test_case_152_the_session_can_be_read_and_not_changed(rig: LuaRig, kind: str) -> None:
    change = "for _, name in ipairs({'id', 'workspace'}) do seen(pcall(function() session[name] = 'x' end)) end"
    rig.load(kind, start(f"seen(session.id, session.workspace) {change} seen(session.id)"))
    await rig.fire(START)
    first, one, two, last = rig.seen
    assert first == ("s1", "/ws")
    assert (one[0], two[0], last) == (False, False, ("s1",))
    assert "session.id is read-only" in one[1]
    assert "session.workspace is read-only" in two[1]


async def test_case_152_a_session_without_workspace_has_nil(rig: LuaRig, kind: str) -> None:
    rig.load(kind, start("seen(session.workspace == nil)"))
    await rig.fire(SessionStart(session="s1"))
    assert rig.seen == [(True,)]


@pytest.mark.parametrize("body", ["return session.workspce", "session.name = 'x'", "return session.end_reason"])
async def test_an_unknown_property_raises_with_its_name_and_line(rig: LuaRig, kind: str, body: str) -> None:
    rig.load(kind, "\n" + start(body))
    await rig.fire(START)
    (error,) = rig.errors
    assert ".lua:2: session has no property `" in error


async def test_the_end_tells_its_reason(rig: LuaRig, kind: str) -> None:
    rig.load(kind, end("seen(session.id, session.workspace, session.end_reason)"))
    await rig.fire(END)
    assert rig.seen == [("s1", "/ws", "closed")]


async def test_case_153_every_end_hook_runs_and_what_fails_is_logged(rig: LuaRig) -> None:
    for kind in ("session", "plugin"):
        rig.load(kind, end('error("boom")') + end(f'seen("{kind}")'))
    await rig.fire(END)
    assert rig.seen == [("session",), ("plugin",)]
    assert [line.level for line in rig.lines] == ["error", "error"]


async def test_a_compaction_is_no_start(rig: LuaRig, kind: str) -> None:
    rig.load(kind, start("seen(session.id)"))
    for reason in ("start", "compacted", "resume"):
        await rig.fire(SessionStart(session=reason, reason=reason))
    assert rig.seen == [("start",), ("resume",)]


async def test_hooks_run_in_the_order_of_registration(rig: LuaRig) -> None:
    rig.load("plugin", start('seen("plugin 1")') + start('seen("plugin 2")'))
    rig.load("session", start('seen("session 1")') + start('seen("session 2")'))
    await rig.fire(START)
    assert rig.seen == [("session 1",), ("session 2",), ("plugin 1",), ("plugin 2",)]


async def test_a_plugins_hook_may_wait(rig: LuaRig) -> None:
    arrived = asyncio.Event()
    rig.plugins.lua.provide_async("wait", arrived.wait)
    rig.load("plugin", start('wait() seen("waited", session.id)'))
    fired = asyncio.ensure_future(rig.fire(START))
    await asyncio.sleep(0)
    assert rig.seen == []
    arrived.set()
    await fired
    assert rig.seen == [("waited", "s1")]


async def test_a_sessions_hook_cannot_wait(rig: LuaRig) -> None:
    rig.session.lua.provide_async("wait", asyncio.Event().wait)
    rig.load("session", start("wait()") + start('seen("next")'))
    await rig.fire(START)
    assert rig.ends == [Ended.FAILED, Ended.PASSED]
    assert "cannot wait here" in rig.errors[0]
    assert rig.seen == [("next",)]


async def test_a_plugins_hook_that_waits_too_long_fails(rig: LuaRig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle_hooks, "SECONDS", 0.01)
    rig.plugins.lua.provide_async("wait", asyncio.Event().wait)
    rig.load("plugin", start("wait()", REQUIRED))
    assert (await rig.fire(START)).blocked is not None
    assert rig.ends == [Ended.TIMED_OUT]


@pytest.mark.parametrize("value", ["{cancel = true}", "print", "5"])
async def test_what_a_lifecycle_hook_returns_does_not_count(rig: LuaRig, kind: str, value: str) -> None:
    rig.load(kind, start(f"return {value}", REQUIRED) + end(f"return {value}"))
    assert (await rig.fire(START)).decision is None
    await rig.fire(END)
    assert rig.errors == []


async def test_the_session_tells_its_fields(rig: LuaRig, kind: str) -> None:
    rig.load(kind, start("local found = {} for name, value in pairs(session) do found[name] = value end seen(found)"))
    await rig.fire(START)
    assert rig.seen == [({"id": "s1", "workspace": "/ws"},)]
