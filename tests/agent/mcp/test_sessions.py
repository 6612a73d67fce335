"""MCP servers of config.toml in a session: their tools take the same path as any other."""

import asyncio
import json
import sys
from typing import Any

from tests.agent.mcp.conftest import TINY, McpStage
from tests.support.command_home import Ran, says
from tests.support.command_run import only
from tests.support.nest import Nest
from tests.support.rows import Rows
from treblehook.agent.session import Session
from treblehook.lifecycle import PreToolCall, ToolGate

TOOLS = ["mcp__files__echo", "mcp__files__fail", "mcp__files__ask", "mcp__files__hook"]
SEES = 'payload=$(cat); printf "%s\\n" "$payload" >> "$0.seen"\n'


def uses(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tools": [{"name": name, "args": arguments}]}


def results(ran: Ran) -> list[tuple[str, bool, bool]]:
    """Content, error and ran of every result."""
    return [(record["content"], record["is_error"], record["ran"]) for record in ran.records if record["type"] == "tool_result"]


def seen(stage: McpStage, name: str) -> list[Any]:
    """The payloads that a hook was sent."""
    return [json.loads(line) for line in (stage.home.hooks / f"{name}.seen").read_text().splitlines()]


def test_their_tools_are_offered_and_called(stage: McpStage) -> None:
    stage.home.hook("pre_turn", "look", f'{SEES}echo \'{{"power":"observe"}}\'')
    stage.plays(uses("mcp__files__echo", text="gold"), uses("mcp__files__fail"), {"text": "Done."})

    ran = stage.run("run", "go", "--approve", "always", "--output", "jsonl")

    assert (ran.status, ran.err) == (0, "")
    assert seen(stage, "look")[0]["tools"][-5:] == [*TOOLS, "agent"]
    assert results(ran) == [("echo: gold", False, True), ("it failed", True, True)]
    assert stage.heard("tools/call")[0]["arguments"] == {"text": "gold"}


def test_their_tools_need_the_users_word_by_default(stage: McpStage) -> None:
    stage.plays(uses("mcp__files__echo", text="gold"), {"text": "Done."})

    ran = stage.run("run", "go", "--output", "jsonl")

    ((content, is_error, did_run),) = results(ran)
    assert ("Permission was not given" in content, is_error, did_run) == (True, True, False)
    assert "mcp__files__echo" in ran.err
    assert stage.heard("tools/call") == []


def test_a_rule_can_give_it(stage: McpStage) -> None:
    stage.settings('[permissions]\nallow = ["mcp__files__echo"]\n')
    stage.plays(uses("mcp__files__echo", text="gold"), uses("mcp__files__fail"), {"text": "Done."})

    ran = stage.run("run", "go", "--output", "jsonl")

    assert [did_run for *_, did_run in results(ran)] == [True, False]


def test_hooks_see_their_calls_by_name_and_may_change_stop_and_patch_them(stage: McpStage) -> None:
    rewrite = json.dumps({"power": "mutate", "input": {"text": "silver"}})
    block = json.dumps({"power": "block", "reason": "no failing"})
    stage.home.hook("pre_tool_use", "guard", f"{SEES}case \"$payload\" in *mcp__files__fail*) echo '{block}';; *) echo '{rewrite}';; esac")
    stage.home.hook(
        "post_tool_use", "redact", SEES + says({"power": "mutate", "patch": {"content": [{"type": "text", "text": "***"}]}})[14:]
    )
    stage.plays(uses("mcp__files__echo", text="gold"), uses("mcp__files__fail"), {"text": "Done."})

    ran = stage.run("run", "go", "--approve", "always", "--output", "jsonl")

    assert results(ran) == [("***", False, True), ("no failing", True, False)]
    assert [payload["toolCall"]["name"] for payload in seen(stage, "guard")] == ["mcp__files__echo", "mcp__files__fail"]
    assert seen(stage, "redact")[0]["result"]["content"] == [{"type": "text", "text": "echo: silver"}]
    assert [params["arguments"] for params in stage.heard("tools/call")] == [{"text": "silver"}]


def test_subagents_have_them_too_from_the_same_server(stage: McpStage) -> None:
    stage.plays(
        uses("agent", task="dig"),
        {"text": "Done."},
        routes=[{"match": "dig", "turns": [uses("mcp__files__echo", text="gold"), {"text": "Dug."}]}],
    )

    ran = stage.run("run", "go", "--approve", "always", "--output", "jsonl")

    assert [content for content, *_ in results(ran)] == ["echo: gold", "Dug."]
    assert len(stage.heard("initialize")) == 1


def test_a_dead_server_disturbs_nobody(stage: McpStage) -> None:
    dead = json.dumps([sys.executable, "-c", "raise SystemExit('the hold is flooded')"])
    stage.settings(f'[mcp.wreck]\ncommand = {dead}\n[mcp.ghost]\ncommand = ["/nowhere/at/all"]\n')
    stage.plays(uses("mcp__files__echo", text="gold"), uses("mcp__wreck__echo"), {"text": "Done."})

    ran = stage.run("run", "go", "--approve", "always", "--output", "jsonl")

    assert ran.status == 0, ran
    lines = [line for line in ran.err.splitlines() if "mcp." in line]
    assert len(lines) == 2
    assert any("mcp.wreck" in line and "the hold is flooded" in line for line in lines)
    assert any("mcp.ghost" in line for line in lines)
    assert [did_run for *_, did_run in results(ran)] == [True, False]


def test_a_server_that_dies_during_a_call_is_an_error_and_then_it_is_back(stage: McpStage) -> None:
    dies = stage.folder / "dies.py"
    # It dies at its first call, and is well behaved when it is started again.
    dies.write_text(
        "import os, sys\n"
        f"mark = {str(stage.folder / 'died')!r}\n"
        "if os.path.exists(mark):\n"
        "    os.execv(sys.executable, [sys.executable, sys.argv[1]])\n"
        "import json\n"
        "for line in sys.stdin:\n"
        "    m = json.loads(line)\n"
        "    if m.get('method') == 'tools/call':\n"
        "        open(mark, 'w').close()\n"
        "        os._exit(3)\n"
        "    results = {'initialize': {'protocolVersion': '2025-06-18', 'capabilities': {'tools': {}}, "
        "'serverInfo': {'name': 'n', 'version': '1'}}, "
        "'tools/list': {'tools': [{'name': 'echo', 'inputSchema': {'type': 'object'}}]}}\n"
        "    if 'id' in m:\n"
        "        print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'result': results.get(m['method'], {})}), flush=True)\n"
    )
    command = json.dumps([sys.executable, str(dies), TINY[1]])
    stage.home.settings(f"[mcp.ship]\ncommand = {command}\n")
    stage.plays(uses("mcp__ship__echo", text="one"), uses("mcp__ship__echo", text="two"), {"text": "Done."})

    ran = stage.run("run", "go", "--approve", "always", "--output", "jsonl")

    (first, failed, _), (second, worked, _) = results(ran)
    assert (failed, worked) == (True, False), ran
    assert "went away during the call" in first
    assert second == "echo: two"
    assert only(ran.records, "end")["status"] == "finished"


async def test_a_pattern_chooses_them_by_their_names(nest: Nest, rows: Rows) -> None:
    nest.settings(f"[mcp.files]\ncommand = {json.dumps(TINY)}\n")
    nest.plays({"tools": [*uses("mcp__files__echo", text="gold")["tools"], *uses("mcp__files__fail")["tools"], *uses("glob")["tools"]]})
    asked: dict[str, list[str]] = {}
    for pattern in ("mcp__files__*", "mcp__*__echo", "{mcp__files__fail,glob}", "files"):
        rows.on(PreToolCall, lambda event, pattern=pattern: asked.setdefault(pattern, []).append(event.call.name), pattern=pattern)
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("go")

    assert asked == {
        "mcp__files__*": ["mcp__files__echo", "mcp__files__fail"],
        "mcp__*__echo": ["mcp__files__echo"],
        "{mcp__files__fail,glob}": ["mcp__files__fail", "glob"],
    }
    gates = {event.call.name: event.input_json for event in rows.of(ToolGate)}
    assert gates["mcp__files__echo"] == '{"text":"gold"}'


async def test_sessions_that_open_at_once_share_the_servers(nest: Nest) -> None:
    log = nest.place / "mcp.log"
    nest.settings(f"[mcp.files]\ncommand = {json.dumps(TINY)}\nenv = {{ TINY_MCP_LOG = {json.dumps(str(log))} }}\n")
    gives_up = asyncio.ensure_future(nest.open())
    await asyncio.sleep(0)
    gives_up.cancel()

    sessions = await asyncio.gather(nest.open(), nest.open(), gives_up, return_exceptions=True)

    assert [isinstance(session, Session) for session in sessions] == [True, True, False]
    assert sum(json.loads(line).get("method") == "initialize" for line in log.read_text().splitlines()) == 1
