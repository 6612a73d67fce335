"""`cru.permissions.on_request` (crucible.md 6.1)."""

import asyncio

import pytest

from tests.support.call_rig import CallRig
from tests.support.crucible_rig import LuaRig
from treblehook.contracts.crucible import permission_hooks
from treblehook.engine import Ended
from treblehook.host.permission import Verdict
from treblehook.lifecycle import Allow, Deny, PermissionRequest, ToolCall
from treblehook.runtimes.lua import LuaFailed

REQUEST = PermissionRequest(session="s1", call=ToolCall("c1", "bash", {"command": "ls"}))


def on_request(body: str, options: str = "") -> str:
    return f"cru.permissions.on_request(function(request) {body} end{options})\n"


@pytest.mark.parametrize(
    ("body", "ran", "prompted"),
    [
        ("return {allow = true}", True, False),
        ("return {deny = true}", False, False),
        ("return nil", True, True),
        ("return {}", True, True),
        ('error("boom")', True, True),
        ("return {allow = false}", True, True),
        ("return {allow = false, deny = 0}", False, False),
        ("return {'because', deny = true}", False, False),
        ("return {deny = print, request = _G}", False, False),
        ("return setmetatable({}, {__index = {allow = true}})", True, True),
    ],
)
async def test_case_154_an_opinion_settles_the_prompt(calls: CallRig, on_calls: LuaRig, body: str, ran: bool, prompted: bool) -> None:
    calls.verdict_of = lambda call: Verdict("ask")
    on_calls.load("session", on_request(body))
    outcome = await calls.take("dig")
    assert (outcome.ran, len(calls.asked)) == (ran, prompted)


async def test_case_154_a_denial_names_the_tool_and_says_who_denied(calls: CallRig, on_calls: LuaRig) -> None:
    calls.verdict_of = lambda call: Verdict("ask")
    on_calls.load("session", on_request('return {deny = "not on a Sunday"}') + 'cru.on("tool_result", function() seen("result") end)')
    outcome = await calls.take("dig")
    assert outcome.is_error
    for part in ("`dig`", "Lua", "not on a Sunday", "workspace init.lua"):
        assert part in outcome.content
    assert on_calls.seen == []


@pytest.mark.parametrize(
    ("input", "path"),
    [({"path": "/a"}, "/a"), ({"file": "/b"}, "/b"), ({"file": "/b", "path": "/a"}, "/a"), ({"path": 5}, None), ({}, None)],
)
async def test_case_155_the_fields_of_a_request(rig: LuaRig, input: dict[str, object], path: str | None) -> None:
    rig.load("session", on_request("seen(request.tool_name, type(request.args), request.mode, request.is_safe, request.file_path or '-')"))
    await rig.fire(PermissionRequest(session="s1", call=ToolCall("c1", "edit", input)))
    assert rig.seen == [("edit", "table", "normal", False, path or "-")]


@pytest.mark.parametrize("body", ['error("boom")', "while true do end", "return print", "wait()", "error({allow = true})"])
async def test_case_156_a_hook_that_fails_never_allows(rig: LuaRig, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    monkeypatch.setattr(permission_hooks, "SECONDS", 0.05)
    rig.session.lua.provide_async("wait", asyncio.Event().wait)
    rig.load("session", on_request(body))
    assert (await rig.fire(REQUEST)).decision is None
    assert rig.lines


async def test_a_hook_that_computes_too_long_has_timed_out(rig: LuaRig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(permission_hooks, "SECONDS", 0.05)
    rig.load("session", on_request("while true do end"))
    await rig.fire(REQUEST)
    assert rig.ends == [Ended.TIMED_OUT]


async def test_an_error_leaves_it_to_the_next_hook(rig: LuaRig) -> None:
    rig.load("session", on_request('error("boom")') + on_request("return {deny = true}"))
    assert isinstance((await rig.fire(REQUEST)).decision, Deny)


async def test_case_157_plugins_have_no_permission_hooks(rig: LuaRig) -> None:
    assert rig.load("plugin", "return type(cru.permissions)") == "nil"
    assert rig.load("session", "return type(cru.permissions)") == "table"
    with pytest.raises(LuaFailed, match="attempt to index a nil value"):
        rig.load("plugin", on_request(""))


async def test_both_opinions_at_once_deny_and_are_told(rig: LuaRig) -> None:
    rig.load("session", on_request("return {allow = true, deny = true}"))
    assert isinstance((await rig.fire(REQUEST)).decision, Deny)
    assert len(rig.warnings) == 1


async def test_the_first_opinion_stands_in_the_order_of_priority(rig: LuaRig) -> None:
    rig.load("session", on_request("return {deny = true}") + on_request("seen('early') return {allow = true}", ", {priority = 5}"))
    assert (await rig.fire(REQUEST)).decision == Allow()
    assert rig.seen == [("early",)]


async def test_a_pattern_chooses_the_tools(rig: LuaRig) -> None:
    rig.load("session", on_request("return {deny = true}", ", {pattern = 'ba*'}"))
    assert isinstance((await rig.fire(REQUEST)).decision, Deny)
    assert (await rig.fire(PermissionRequest(session="s1", call=ToolCall("c1", "read", {})))).decision is None


async def test_each_hook_has_a_request_of_its_own(rig: LuaRig) -> None:
    rig.load(
        "session",
        on_request("request.args.command = 'rm' request.tool_name = 'x'") + on_request("seen(request.tool_name, request.args.command)"),
    )
    await rig.fire(REQUEST)
    assert rig.seen == [("bash", "ls")]


@pytest.mark.parametrize("value", ["true", '"allow"', "5"])
async def test_what_is_no_opinion_is_none(rig: LuaRig, value: str) -> None:
    rig.load("session", on_request(f"return {value}"))
    assert (await rig.fire(REQUEST)).decision is None
    assert len(rig.warnings) == 1


@pytest.mark.parametrize("call", ["on_request()", "on_request({})", "on_request(print, 5)", "on_request(print, {priority = 'x'})"])
def test_a_wrong_registration_raises(rig: LuaRig, call: str) -> None:
    with pytest.raises(LuaFailed, match=r":1: cru\.permissions\.on_request: "):
        rig.load("session", f"cru.permissions.{call}")
    assert rig.handlers == []
