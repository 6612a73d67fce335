"""The examples of the seed, as they stand there, do what it says of them."""

import asyncio
import json

import pytest

from tests.support.call_rig import CallRig
from tests.support.crucible_rig import LuaRig
from treblehook.host.permission import Verdict
from treblehook.lifecycle import (
    ChooseNotes,
    ModelRequest,
    Note,
    NoteChoice,
    NoteCreated,
    NoteModified,
    NotesRetrieved,
    PermissionRequest,
    PreToolCall,
    SessionEnd,
    SessionStart,
    ToolCall,
    ToolFinished,
    WebhookReceived,
)


def tool(name: str, **arguments: object) -> PreToolCall:
    return PreToolCall(session="s1", call=ToolCall("c1", name, arguments))


async def test_log_every_tool_call(rig: LuaRig, kind: str) -> None:
    rig.load(
        kind,
        """
-- Log every tool call
cru.on("pre_tool_call", function(ctx, event)
  cru.log("info", "Tool called: " .. event.tool)
end)
""",
    )
    await rig.fire(tool("bash"))
    assert rig.told == [("info", "Tool called: bash")]


async def test_note_events(rig: LuaRig) -> None:
    rig.load(
        "plugin",
        """
local function rebuild_digest(path) seen(path) end
cru.on("note:created", function(ctx, event)
  cru.log("info", "new note: " .. event.path)
end)

-- Only the daily notes:
cru.on("note:modified", { pattern = "Daily/*" }, function(ctx, event)
  rebuild_digest(event.path)
end)
""",
    )
    await rig.fire(NoteCreated(path="a.md", title="A"))
    for path in ("Daily/today.md", "Other/today.md"):
        await rig.fire(NoteModified(path=path))
    assert (rig.told, rig.seen) == ([("info", "new note: a.md")], [("Daily/today.md",)])


async def test_a_webhook(rig: LuaRig) -> None:
    rig.plugins.lua.provide("cru.json.decode", json.loads)
    rig.load(
        "plugin",
        """
cru.on("webhook:received", { pattern = "ci" }, function(ctx, event)
  local payload = cru.json.decode(event.body)
  cru.log("info", "CI said " .. tostring(payload.status))
end)
""",
    )
    await rig.fire(WebhookReceived(name="ci", headers={}, body='{"status": "green"}'))
    assert rig.told == [("info", "CI said green")]


async def test_redaction(rig: LuaRig, kind: str) -> None:
    rig.load(
        kind,
        """
cru.on("tool_result", { pattern = "bash" }, function(ctx, event)
  return { result = event.result:gsub("token=%S+", "token=[REDACTED]") }
end)
""",
    )
    outcome = await rig.fire(ToolFinished(session="s1", call=ToolCall("c1", "bash", {}), content="a token=1 b token=2"))
    assert outcome.value.content == "a token=[REDACTED] b token=[REDACTED]"
    assert rig.lines == []


async def test_strong_matches(rig: LuaRig, kind: str) -> None:
    rig.load(
        kind,
        """
cru.on("precognition_select", function(ctx, event)
  -- Keep only strong matches, best first. To restrict to one corpus, compare
  -- `note.kiln` — a session's kilns are a flat set with no primary.
  local picked = {}
  for _, note in ipairs(event.results) do
    if note.score > 0.7 then
      picked[#picked + 1] = { index = note.index }
    end
  end
  return picked
end)
""",
    )
    notes = (Note(1, "One", 0.9, "a"), Note(2, "Two", 0.5, "b"), Note(3, "Three", 0.8, "c"))
    outcome = await rig.fire(NotesRetrieved(session="s1", prompt="p", char_budget=3000, notes=notes))
    assert outcome.decision == ChooseNotes((NoteChoice(1), NoteChoice(3)))
    assert (await rig.fire(NotesRetrieved(session="s1", prompt="p", char_budget=3000, notes=notes[1:2]))).decision == ChooseNotes(())


async def test_a_snippet_is_cut_by_characters(rig: LuaRig, kind: str) -> None:
    rig.load(
        kind,
        """
cru.on("precognition_select", function(ctx, event)
  local snippet, n = event.results[1].snippet, 3
  local stop = utf8.offset(snippet, n + 1)
  snippet = stop and snippet:sub(1, stop - 1) or snippet
  return { { index = 1, snippet = snippet } }
end)
""",
    )
    outcome = await rig.fire(NotesRetrieved(session="s1", prompt="p", char_budget=3, notes=(Note(1, "One", 0.9, "éèêë"),)))
    assert outcome.decision == ChooseNotes((NoteChoice(1, "éèê"),))


async def test_a_longer_prompt(rig: LuaRig, kind: str) -> None:
    rig.load(
        kind,
        """
cru.on("pre_llm_call", function(ctx, event)
  return { prompt = event.prompt .. " (be concise)" }
end)
""",
    )
    assert (await rig.fire(ModelRequest(session="s1", prompt="hi"))).value.prompt == "hi (be concise)"


async def test_no_deletes(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(
        kind,
        """
cru.on("pre_tool_call", { pattern = "*di*", priority = 5 }, function(ctx, event)
  return { cancel = true, reason = "Deletes are blocked in this session" }
end)
""",
    )
    outcome = await calls.take("dig")
    assert (outcome.ran, outcome.is_error) == (False, True)
    assert "Deletes are blocked in this session" in outcome.content


async def test_a_container(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    async def run_in_container(command: str) -> str:
        await asyncio.sleep(0)
        return f"contained {command}"

    on_calls.vm(kind).lua.provide_async("run_in_container", run_in_container)
    on_calls.load(
        kind,
        """
cru.on("pre_tool_call", { pattern = "shell", priority = 10 }, function(ctx, event)
  local output = run_in_container(event.args.command)
  return { handled = true, result = output }
end)
""",
    )
    outcome = await calls.take("shell", command="ls")
    assert (outcome.content, outcome.ran) == ("contained ls", False)


async def test_session_hooks(rig: LuaRig, kind: str) -> None:
    rig.load(
        kind,
        """
local function cleanup(id) seen("cleanup", id) end
local function acquire_container(session) seen("acquire", session.id) end
cru.on_session_start(function(session)
  cru.log("info", "Session started: " .. session.id)
end)
cru.on_session_start(function(session)
  acquire_container(session)   -- raising here aborts session creation
end, { required = true })
cru.on_session_end(function(session)
  cleanup(session.id)
end)
""",
    )
    await rig.fire(SessionStart(session="s1"))
    await rig.fire(SessionEnd(session="s1", reason="closed"))
    assert (rig.told, rig.seen) == ([("info", "Session started: s1")], [("acquire", "s1"), ("cleanup", "s1")])


@pytest.mark.parametrize(
    ("name", "command", "ran", "prompted"),
    [("dig", "ls", True, False), ("shell", "rm -rf /", False, False), ("shell", "ls", True, True)],
)
async def test_permissions(calls: CallRig, on_calls: LuaRig, name: str, command: str, ran: bool, prompted: bool) -> None:
    calls.verdict_of = lambda call: Verdict("ask")
    on_calls.load(
        "session",
        """
local function looks_dangerous(args) return args.command:find("rm", 1, true) end
cru.permissions.on_request(function(request)
  if request.tool_name == "dig" then
    return { allow = true }          -- auto-allow
  end
  if request.tool_name == "shell" and looks_dangerous(request.args) then
    return { deny = true }           -- auto-deny
  end
  return nil                         -- fall through to normal prompt
end)
""",
    )
    assert PermissionRequest in {handler.event for handler in on_calls.handlers}
    outcome = await calls.take(name, command=command)
    assert (outcome.ran, bool(calls.asked)) == (ran, prompted)


async def test_the_reference_plugin(calls: CallRig, on_calls: LuaRig) -> None:
    """One handler per tool, closures made in a loop, state by session, waits everywhere (crucible.md 10.4)."""

    async def container(*words: str) -> str:
        await asyncio.sleep(0)
        return "+".join(words)

    on_calls.plugins.lua.provide_async("container", container)
    on_calls.load(
        "plugin",
        """
local by_session = {}
for _, tool in ipairs({ "dig", "shell", "read", "write", "edit", "glob" }) do
  cru.on("pre_tool_call", { pattern = tool, priority = 10 }, function(ctx, event)
    local box = by_session[ctx.session_id]
    if not box then return end
    return { handled = true, result = { tool = tool, output = container(box, event.args.command or "-") } }
  end)
end
cru.on_session_start(function(session) by_session[session.id] = container("box", session.id) end, { required = true })
cru.on_session_end(function(session) by_session[session.id] = nil end)
""",
        owner="oci",
    )
    assert (await calls.take("dig")).ran
    await on_calls.fire(SessionStart(session="s1"))
    handled = await calls.take("shell", command="ls")
    assert json.loads(handled.content) == {"tool": "shell", "output": "box+s1+ls"}
    assert not handled.ran
    await on_calls.fire(SessionEnd(session="s1", reason="closed"))
    assert (await calls.take("dig")).ran
