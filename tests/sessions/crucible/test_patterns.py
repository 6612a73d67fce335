"""Patterns against what each event is about, in whole sessions (crucible.md 2.4, 5 and 11 C)."""

import pytest

from tests.support.lua_nest import LuaNest, Place, last_result
from tests.support.nest import Record
from treblehook.lifecycle import FileChanged, NoteDeleted, NoteModified, NoteRenamed, WebhookReceived

TOOLS = """
local tools = {}
for _, name in ipairs{'just_test', 'just_test_all', 'justtest', 'note_delete', 'edit_it'} do
  tools[#tools + 1] = {name = name, description = name, run = function() return name .. ' ran' end}
end
return {tools = tools}
"""


def calls(*tools: str) -> Record:
    return {"tools": [{"name": tool, "args": {"command": "echo x"} if tool == "bash" else {}} for tool in tools]}


def matched(pattern: str, event: str = "pre_tool_call") -> str:
    return f"cru.on('{event}', {{pattern = [[{pattern}]]}}, function(ctx, event) tell(event.tool or event.path or event.name) end)\n"


async def _call(nest: LuaNest, *tools: str) -> None:
    nest.plugin(TOOLS, "tools")
    nest.plays(calls(*tools))
    session = await nest.open()
    await session.prompt("go")
    assert [record["is_error"] for record in nest.results(session)] == [False] * len(tools), nest.results(session)


@pytest.mark.parametrize(
    ("case", "pattern", "matching"),
    [
        (29, "just_test*", ["just_test", "just_test_all"]),
        (30, "*delete*", ["note_delete"]),
        (31, "*", ["just_test", "just_test_all", "justtest", "note_delete", "edit_it", "bash"]),
        (31, "**", ["just_test", "just_test_all", "justtest", "note_delete", "edit_it", "bash"]),
        (37, "[abc", []),
        (38, "{bash,edit_it}", ["edit_it", "bash"]),
        (41, "!bash", ["just_test", "just_test_all", "justtest", "note_delete", "edit_it"]),
        (41, "?ash", ["bash"]),
        (41, "BASH", []),
    ],
)
async def test_case_029_031_037_038_041_tools(nest: LuaNest, where: Place, case: int, pattern: str, matching: list[str]) -> None:
    nest.put(where, matched(pattern) + "cru.on('post_llm_call', function() tell('others go on') end)")
    await _call(nest, "just_test", "just_test_all", "justtest", "note_delete", "edit_it", "bash")
    assert nest.told == ["others go on", *matching, "others go on"]
    assert any("malformed" in warning for warning in nest.warnings) == (case == 37)


@pytest.mark.parametrize(
    "event", ["pre_llm_call", "post_llm_call", "transform_context", "turn:complete", "precognition_select", "precognition_format"]
)
async def test_case_036_the_stages_of_a_turn_have_no_identifier(nest: LuaNest, where: Place, event: str) -> None:
    nest.put(where, matched("*", event) + matched("**", event))
    await _call(nest, "bash")
    assert nest.told == []
    assert any("has no identifier" in warning for warning in nest.warnings)


async def test_case_039_all_five_tool_events_are_matched_by_the_tools_name(nest: LuaNest, where: Place) -> None:
    names = ("pre_tool_call", "tool:display_start", "tool:before_execute", "tool_result", "tool:display_complete")
    nest.put(where, "".join(f"cru.on('{name}', {{pattern = 'b*'}}, function(ctx, e) tell(e.type, e.tool) end)\n" for name in names))
    await _call(nest, "bash", "note_delete")
    assert nest.told == [[name, "bash"] for name in names]


async def test_case_040_tool_result_of_one_tool(nest: LuaNest, where: Place) -> None:
    nest.put(where, "cru.on('tool_result', {pattern = 'bash'}, function(ctx, event) return {result = 'patched'} end)")
    await _call(nest, "note_delete", "bash")
    assert [record["content"] for record in nest.results()] == ["note_delete ran", "patched"]
    assert last_result(nest).text == "patched"


async def test_case_032_to_035_daemon_events(nest: LuaNest) -> None:
    code = matched("Daily/*", "note:modified") + matched("Daily/*", "note:deleted") + matched("ci", "webhook:received")
    code += "cru.on('note:renamed', {pattern = 'Daily/*'}, function(ctx, event) tell(event.from, event.to) end)"
    code += "cru.on('note:renamed', {pattern = 'Inbox/*'}, function(ctx, event) tell('never') end)"
    code += "cru.on('FileChanged', {pattern = '*'}, function() tell('never') end) cru.on('FileChanged', function(c, e) tell(e.path) end)"
    nest.plugin(code)
    await nest.open()
    happened = [
        FileChanged(path="/n/a.md", change="modified"),
        NoteModified(path="Daily/2026-08-18.md", change="content"),
        NoteModified(path="Daily/2026/08.md", change="content"),
        NoteModified(path="Other/a.md", change="content"),
        NoteDeleted(path="x/Daily/a.md", existed=True),
        NoteRenamed(source="Inbox/x.md", path="Daily/x.md"),
        WebhookReceived(name="ci", headers={}, body="{}"),
        WebhookReceived(name="CI", headers={}, body="{}"),
        WebhookReceived(name="ci-main", headers={}, body="{}"),
    ]
    for event in happened:
        nest.home.bus.tell(event)
    await nest.home.bus.drain(30)
    assert nest.told == ["/n/a.md", "Daily/2026-08-18.md", ["Inbox/x.md", "Daily/x.md"], "ci"]


async def test_daemon_events_reach_no_session(nest: LuaNest) -> None:
    code = "cru.on('note:modified', function(ctx, event) tell(cru.vm, ctx.session_id == nil, event.path) end)"
    nest.user("local function tell(...) cru.log('info', 'TOLD ' .. cru.json.encode(cru.json.array({...}))) end " + code)
    nest.of_workspace(code)
    await nest.open()
    await nest.open()
    nest.home.bus.tell(NoteModified(path="a.md", change="content"))
    await nest.home.bus.drain(30)
    assert nest.told == [["plugin", True, "a.md"]]
    assert any("workspace init.lua" in warning and "belongs to no session" in warning for warning in nest.warnings)
