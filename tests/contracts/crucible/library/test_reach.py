"""`cru.sessions`, `cru.tools`, `cru.context`, `cru.notify`, `cru.require_isolation`, over a small host."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Literal

import pytest

from tests.contracts.crucible.library.conftest import Rig
from tests.support.processes import until
from treblehook.contracts.crucible.caller import Caller
from treblehook.host.reach import OpenSession, ReachRefused
from treblehook.host.tool import ToolOutput, ToolSpec

S1 = Caller(session="s1", owner="demo", hook="demo")


class SmallHost:
    """Two open sessions; keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.told: list[Callable[[dict[str, Any]], None]] = []
        self.room = 2000

    def sessions(self) -> list[OpenSession]:
        return [OpenSession("s1", "/w", "m", True), OpenSession("s2", "", "m", False, "s1")]

    def _there(self, session: str) -> None:
        if session not in ("s1", "s2"):
            raise ReachRefused(f"session {session} is not open")

    async def prompt(self, session: str, text: str, when: Literal["idle", "now"]) -> None:
        self._there(session)
        await asyncio.sleep(0)
        self.asked.append(("prompt", session, text, when))

    def subscribe(self, session: str, told: Callable[[dict[str, Any]], None]) -> Callable[[], None]:
        self._there(session)
        self.told.append(told)
        return lambda: self.told.remove(told)

    def tools(self, session: str) -> list[ToolSpec]:
        self._there(session)
        return [ToolSpec("read", "Reads.", {"type": "object"})]

    def offered(self, session: str) -> tuple[str, ...]:
        self._there(session)
        return ("read",)

    def offer(self, session: str, names: Sequence[str]) -> None:
        self._there(session)
        self.asked.append(("offer", session, list(names)))

    async def call_tool(self, session: str, name: str, arguments: dict[str, Any]) -> ToolOutput:
        self._there(session)
        self.asked.append(("call", session, name, arguments))
        return ToolOutput("no such file", is_error=True) if name == "broken" else ToolOutput("content")

    def attach(self, session: str, text: str, key: str) -> None:
        self._there(session)
        if len(text) > self.room:
            raise ReachRefused("no room")
        self.asked.append(("attach", session, text, key))

    def notify(self, session: str, text: str, level: Literal["info", "warn", "error"]) -> None:
        self.asked.append(("notify", session, text, level))

    def require_isolation(self, owner: str, tools: Sequence[str], reason: str, session: str = "") -> None:
        self.asked.append(("isolate", owner, list(tools), reason, session))


@pytest.fixture
def host() -> SmallHost:
    return SmallHost()


@pytest.fixture
async def reaching(rig: Rig, host: SmallHost) -> Any:
    reaching = rig.with_services(reach=host)
    yield reaching
    await reaching.close()


async def test_list_and_get(reaching: Rig) -> None:
    first = {"id": "s1", "workspace": "/w", "model": "m", "running": True}
    second = {"id": "s2", "model": "m", "running": False, "parent": "s1"}
    assert await reaching.run("return cru.sessions.list()") == [first, second]
    assert await reaching.run("return cru.sessions.get(), cru.sessions.get('s2')", caller=S1) == [first, second]
    assert await reaching.run("return cru.sessions.get('gone') == nil, cru.sessions.get() == nil") == [True, True]


async def test_send(reaching: Rig, host: SmallHost) -> None:
    await reaching.run("cru.sessions.send('s2', 'hello'); cru.sessions.send('s1', 'stop', {when = 'now'})")
    assert host.asked == [("prompt", "s2", "hello", "idle"), ("prompt", "s1", "stop", "now")]
    assert "session gone is not open" in await reaching.refused("cru.sessions.send('gone', 'x')")


async def test_records_come_in_order_and_one_at_a_time(reaching: Rig, host: SmallHost) -> None:
    await reaching.run("""
        local inside = 0
        stop = cru.sessions.subscribe('s1', function(record)
            inside = inside + 1
            cru.timer.sleep(0)
            cru.log('info', record.n .. ':' .. inside)
            inside = inside - 1
            if record.n == 2 then error('broken') end
        end)
    """)
    for number in range(5):
        host.told[0]({"n": number, "type": "row"})
    await until(lambda: len(reaching.heard()) == 5)
    assert reaching.heard() == ["0:1", "1:1", "2:1", "3:1", "4:1"]
    assert reaching.heard("error") == ["cru.sessions.subscribe: demo.lua:8: broken"]
    await reaching.run("stop(); stop()")
    assert host.told == []


async def test_a_listener_that_is_too_slow_loses_records_and_is_told(reaching: Rig, host: SmallHost) -> None:
    await reaching.run("cru.sessions.subscribe('s1', function(record) cru.timer.sleep(0) end)")
    for number in range(1500):
        host.told[0]({"n": number})
    await until(lambda: len(reaching.heard("warn")) == 1)
    assert "500 were dropped" in reaching.heard("warn")[0]


async def test_a_reload_ends_subscriptions(reaching: Rig, host: SmallHost) -> None:
    await reaching.run("cru.sessions.subscribe('s1', print)")
    await reaching.run("cru.sessions.subscribe('s1', print)", caller=Caller(owner="other"))
    reaching.vm.clear("demo")
    assert len(host.told) == 1
    await reaching.library.close()
    assert host.told == []


async def test_tools(reaching: Rig, host: SmallHost) -> None:
    assert await reaching.run("return cru.tools.call('read', {path = 'x', list = {1}})", caller=S1) == {"ok": True, "result": "content"}
    assert await reaching.run("return cru.tools.call('broken', nil, {session = 's2'})") == {
        "ok": False,
        "result": "",
        "error": "no such file",
    }
    assert await reaching.run("return cru.tools.list()", caller=S1) == [
        {"name": "read", "description": "Reads.", "parameters": {"type": "object"}}
    ]
    assert await reaching.run("cru.tools.set_active({'read'}); return cru.tools.get_active()", caller=S1) == ["read"]
    assert host.asked == [("call", "s1", "read", {"path": "x", "list": [1]}), ("call", "s2", "broken", {}), ("offer", "s1", ["read"])]


async def test_what_json_cannot_say_reaches_no_tool(reaching: Rig, host: SmallHost) -> None:
    assert "`path` is not UTF-8" in await reaching.refused("cru.tools.call('read', {path = '\\xff'}, {session = 's1'})")
    assert host.asked == []


async def test_a_call_without_a_session_must_name_one(reaching: Rig) -> None:
    assert "say which one with the option 'session'" in await reaching.refused("cru.tools.call('read', {})")
    assert "session gone is not open" in await reaching.refused("local x = cru.tools.list({session = 'gone'})")


async def test_attach(reaching: Rig, host: SmallHost) -> None:
    assert await reaching.run("return cru.context.attach('a', {key = 'k'})", caller=S1) is True
    assert await reaching.run("cru.context.attach('b', {session = 's2'}); return cru.context.attach('c', {session = 's2'})") is True
    assert [asked[1:] for asked in host.asked] == [("s1", "a", "demo:k"), ("s2", "b", "demo:#1"), ("s2", "c", "demo:#2")]
    host.room = 0
    assert await reaching.run("return cru.context.attach('d')", caller=S1) == [False, "no room"]


async def test_notify(reaching: Rig, host: SmallHost) -> None:
    await reaching.run("cru.notify('a'); cru.notify('b', 'warn'); cru.notify('c', {level = 'error', session = 's2'})", caller=S1)
    await reaching.run("cru.notify('d')")
    assert [asked[1:] for asked in host.asked] == [("s1", "a", "info"), ("s1", "b", "warn"), ("s2", "c", "error"), ("", "d", "info")]


async def test_isolation_is_for_the_session_of_the_call_or_for_all(reaching: Rig, host: SmallHost) -> None:
    await reaching.run("cru.require_isolation{tools = {'bash'}, reason = 'sandboxed'}", caller=S1)
    reaching.run_now("cru.require_isolation{tools = {'bash', 'write'}}")
    assert host.asked == [("isolate", "demo", ["bash"], "sandboxed", "s1"), ("isolate", "demo", ["bash", "write"], "", "")]


@pytest.mark.parametrize("call", ["cru.sessions.list()", "cru.tools.list({session = 's'})", "cru.require_isolation{tools = {'bash'}}"])
async def test_a_host_without_sessions_says_so(rig: Rig, call: str) -> None:
    assert f"{call.partition('(')[0].partition('{')[0]}: there are no sessions here" in await rig.refused(f"local x = {call}")


async def test_where_nobody_can_be_told_a_notice_is_in_the_log(rig: Rig) -> None:
    await rig.run("cru.notify('ahoy', 'warn')")
    assert rig.lines == [("warn", "demo", "ahoy")]
