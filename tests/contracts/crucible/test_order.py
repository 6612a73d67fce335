"""Who is asked first (crucible.md 2.6)."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from tests.support.crucible_rig import LuaRig
from treblehook.lifecycle import PreToolCall, Rewrite, ToolCall

TOOL = PreToolCall(session="s1", call=ToolCall("c1", "bash", {"command": "ls"}))


def on(label: str, priority: str = "") -> str:
    options = f"{{priority = {priority}}}, " if priority else ""
    return f'cru.on("pre_tool_call", {options}function() seen("{label}") end)\n'


def labels(rig: LuaRig) -> list[str]:
    return [label for (label,) in rig.seen]


async def test_case_019_lower_priorities_run_first(rig: LuaRig, kind: str) -> None:
    rig.load(kind, on("50", "50") + on("10", "10") + on("200", "200") + on("100"))
    await rig.fire(TOOL)
    assert labels(rig) == ["10", "50", "100", "200"]


async def test_case_020_equal_priorities_run_in_the_order_of_registration(rig: LuaRig, kind: str) -> None:
    rig.load(kind, on("a", "7") + on("b", "7") + on("c", "7"))
    await rig.fire(TOOL)
    assert labels(rig) == ["a", "b", "c"]


async def test_case_021_a_negative_priority_runs_before_zero(rig: LuaRig, kind: str) -> None:
    rig.load(kind, on("zero", "0") + on("minus", "-5"))
    await rig.fire(TOOL)
    assert labels(rig) == ["minus", "zero"]


async def test_case_022_the_session_comes_first_whatever_the_priority(rig: LuaRig) -> None:
    rig.load("plugin", on("plugin", "1") + on("minus", "-1000"))
    rig.load("session", on("session", "900"))
    await rig.fire(TOOL)
    assert labels(rig) == ["session", "minus", "plugin"]


async def test_case_023_a_session_that_settles_a_call_spares_the_plugins(rig: LuaRig) -> None:
    rig.load("plugin", on("plugin"))
    for answer in ('{cancel = true, reason = "no"}', '{handled = true, result = "out"}'):
        rig.load("session", f'cru.on("pre_tool_call", {{priority = 1000}}, function() seen("session") return {answer} end)')
    await rig.fire(TOOL)
    assert labels(rig) == ["session"]


async def test_case_024_a_plugin_sees_what_the_session_rewrote(rig: LuaRig) -> None:
    append = 'cru.on("pre_tool_call", function(ctx, event) return {args = {command = event.args.command .. " %s"}} end)'
    rig.load("plugin", append % "P")
    rig.load("session", append % "S")
    assert (await rig.fire(TOOL)).value.call.input == {"command": "ls S P"}


async def test_case_025_the_default_priority_is_100(rig: LuaRig, kind: str) -> None:
    rig.load(kind, on("101", "101") + on("default") + on("99", "99"))
    await rig.fire(TOOL)
    assert labels(rig) == ["99", "default", "101"]


async def test_case_026_the_users_file_comes_after_the_plugins(rig: LuaRig) -> None:
    rig.load("plugin", on("plugin", "100"))
    rig.load("plugin", on("user", "100"), name="init.lua")
    await rig.fire(TOOL)
    assert labels(rig) == ["plugin", "user"]


async def test_case_027_the_sessions_files_come_in_their_order(rig: LuaRig) -> None:
    rig.load("session", on("user"), name="init.lua")
    rig.load("session", on("workspace") + on("early", "1"))
    await rig.fire(TOOL)
    assert labels(rig) == ["early", "user", "workspace"]


async def test_case_028_a_workspace_reaches_its_own_sessions_only(rig: LuaRig) -> None:
    other = LuaRig(rig.folder)
    rig.load("session", 'cru.on("pre_tool_call", function() return {cancel = true} end)')
    other.load("session", on("b"))
    assert (await rig.fire(TOOL)).blocked
    assert (await other.fire(TOOL)).blocked is None
    assert labels(other) == ["b"]
    other.close()


async def test_a_plugins_list_is_taken_when_its_turn_comes(rig: LuaRig) -> None:
    rig.load("session", 'cru.on("pre_tool_call", function() seen("session") register() end)')
    rig.session.lua.provide("register", lambda: rig.load("plugin", on("plugin")))
    await rig.fire(TOOL)
    assert labels(rig) == ["session", "plugin"]


async def test_a_reloaded_plugin_goes_behind_those_of_equal_priority(rig: LuaRig) -> None:
    rig.load("plugin", on("digest"), owner="digest")
    rig.load("plugin", on("oci"), owner="oci")
    rig.plugins.clear("digest")
    rig.load("plugin", on("digest"), owner="digest")
    await rig.fire(TOOL)
    assert labels(rig) == ["oci", "digest"]


async def test_rewrites_chain_inside_one_machine(rig: LuaRig, kind: str) -> None:
    append = 'cru.on("pre_tool_call", function(ctx, event) return {args = {command = event.args.command .. "%s"}} end)\n'
    rig.load(kind, append % "1" + append % "2")
    outcome = await rig.fire(TOOL)
    assert outcome.value.call.input == {"command": "ls12"}
    assert [call.decision for call in rig.journal.calls] == [Rewrite(input={"command": "ls1"}), Rewrite(input={"command": "ls12"})]


@given(st.lists(st.tuples(st.sampled_from(["session", "plugin"]), st.integers(-2, 2)), max_size=8))
async def test_the_order_is_machine_then_priority_then_registration(registrations: list[tuple[str, int]]) -> None:
    with TemporaryDirectory() as folder:
        rig = LuaRig(Path(folder))
        for number, (kind, priority) in enumerate(registrations):
            rig.load(kind, on(str(number), str(priority)))
        await rig.fire(TOOL)
        places = sorted(range(len(registrations)), key=lambda n: (registrations[n][0] == "plugin", registrations[n][1], n))
        assert labels(rig) == [str(number) for number in places]
        rig.close()
