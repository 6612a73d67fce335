"""`treblehook run` with Lua hooks: what the user sees, how it exits, and what a sudden end leaves."""

import json
import os
import re
import signal
import sqlite3
from pathlib import Path

import pytest

from tests.support.command_run import Stage, calls, only, types, wait_for
from tests.support.processes import alive


def plugin(stage: Stage, code: str, name: str = "digest") -> Path:
    file = stage.home.folder / "plugins" / name / "init.lua"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(code)
    return file


def test_a_required_start_hook_refuses_the_session(stage: Stage) -> None:
    plugin(
        stage,
        f"cru.on_session_start(function() error('no container today') end, {{required = true}})\n"
        f"cru.on_session_end(function(session) local f = io.open('{stage.folder}/ended', 'w') f:write(session.id) f:close() end)",
    )

    ran = stage.run("run", "dig")

    assert ran.status == 4
    assert "no container today" in ran.err
    assert "init.lua:1" in ran.err
    assert ran.out == ""
    (file,) = stage.sessions()
    assert (stage.folder / "ended").read_text() == file.stem
    records = stage.run("run", "dig", "--output", "jsonl").records
    assert (only(records, "end")["status"], "no container today" in only(records, "end")["reason"]) == ("refused", True)
    assert "prompt" not in types(records)


def test_a_cancelled_request_exits_with_3(stage: Stage) -> None:
    plugin(stage, "cru.on('pre_llm_call', function() return {cancel = true, reason = 'low tide'} end)")
    ran = stage.run("run", "dig")
    assert (ran.status, "low tide" in ran.err + ran.out) == (3, True)


def test_cards_are_shaped(stage: Stage) -> None:
    plugin(
        stage,
        "cru.on('tool:display_start', {pattern = 'bash'}, function(ctx, event)\n"
        "  return {label = 'Digging', detail = 'for ' .. cru.json.decode(event.args).command, max_lines = 1}\n"
        "end)\n"
        "cru.on('tool:display_complete', function(ctx, event) return {summary = 'found ' .. #event.result .. ' bytes'} end)\n",
    )
    stage.plays(calls("printf 'a\\nb\\nc\\n'"))

    ran = stage.run("run", "dig", "--approve", "always")

    assert ran.status == 0
    said = ran.out + ran.err
    assert "Digging" in said
    assert "for printf" in said
    assert "found 6 bytes" in said
    (result,) = [record for record in map(json.loads, stage.sessions()[0].read_text().splitlines()) if record["type"] == "tool_result"]
    assert result["content"] == "a\nb\nc\n", "the model has the whole"


@pytest.mark.parametrize(
    "body",
    [
        "error('no')",
        "return {label = 5}",
        "return {label = '\\27[2J' .. ('x'):rep(10000)}",
        "return {max_lines = -1}",
        "while true do end",
        "return {}",
    ],
)
def test_a_card_that_is_no_use_leaves_the_usual_one(stage: Stage, body: str) -> None:
    plugin(stage, f"cru.on('tool:display_start', function() {body} end)")
    stage.plays(calls("echo dug"))
    ran = stage.run("run", "dig", "--approve", "always")
    assert ran.status == 0
    assert "dug" in ran.out + ran.err
    assert "\x1b[2J" not in ran.out + ran.err


def test_ctrl_c_while_a_handler_waits_for_a_program(stage: Stage) -> None:
    pid = stage.folder / "pid"
    shell = f"echo $$ > {pid}.new; mv {pid}.new {pid}; exec sleep 600"
    plugin(stage, f"cru.on('pre_tool_call', function() cru.shell.exec('sh', {{'-c', [[{shell}]]}}) end)")
    stage.plays(calls("echo dug"))
    running = stage.start("run", "dig")
    wait_for(pid.exists)
    child = int(pid.read_text())

    running.signal(signal.SIGINT)

    status, records, errors = running.end()
    assert (status, records[-1]["type"], records[-1]["status"]) == (130, "end", "interrupted"), errors
    wait_for(lambda: not alive(child))


def test_a_session_that_talks_to_itself_without_end_is_stopped_by_ctrl_c(stage: Stage) -> None:
    plugin(stage, "cru.on('turn:complete', function(ctx) cru.sessions.send(ctx.session_id, 'again') end)")
    running = stage.start("run", "dig")
    for _ in range(5):
        running.until("reply")

    running.signal(signal.SIGINT)

    status, records, errors = running.end()
    assert (status, records[-1]["type"]) == (130, "end"), errors


def test_end_hooks_run_at_sigterm(stage: Stage) -> None:
    marks = stage.folder / "marks"
    plugin(
        stage,
        "cru.on('pre_llm_call', function() cru.timer.sleep(600) end)\n"
        f"cru.on_session_end(function(session) cru.timer.sleep(0.01) cru.fs.write('{marks}', session.end_reason) end)",
    )
    running = stage.start("run", "dig")
    running.until("prompt")
    running.signal(signal.SIGTERM)
    running.end()
    assert marks.read_text() == "shutdown"


def test_a_kill_while_lua_writes_its_storage_leaves_whole_values(stage: Stage) -> None:
    writes = "for i = 1, 1e9 do cru.storage.set('pair', {a = i, b = i, pad = ('x'):rep(20000)}) cru.storage.set('n' .. i % 7, i) end"
    plugin(stage, f"cru.on('pre_llm_call', function() {writes} end)")
    for _ in range(3):
        running = stage.start("run", "dig")
        running.until("prompt")
        os.killpg(running.process.pid, signal.SIGKILL)
        running.end()
    plugin(stage, "cru.on('pre_llm_call', function() local p = cru.storage.get('pair') cru.notify(tostring(p == nil or p.a == p.b)) end)")

    ran = stage.run("run", "dig", "--output", "jsonl")

    assert ran.status == 0, ran.err
    assert only(ran.records, "row")["text"] == "true"
    with sqlite3.connect(stage.home.folder / "runtime" / "storage.sqlite3") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_two_processes_share_what_a_plugin_stores(stage: Stage) -> None:
    code = "for i = 1, 200 do cru.storage.set(ctx.session_id .. i, i) end cru.notify('stored')"
    plugin(stage, f"cru.on('pre_llm_call', function(ctx) {code} end)")
    both = [stage.start("run", "dig"), stage.start("run", "dig")]
    for running in both:
        status, records, errors = running.end()
        assert (status, only(records, "row")["text"]) == (0, "stored"), errors
    plugin(stage, "cru.on('pre_llm_call', function() cru.notify(tostring(#cru.storage.list())) end)")
    assert only(stage.run("run", "dig", "--output", "jsonl").records, "row")["text"] == "400"


def test_a_trace_tells_what_lua_did(stage: Stage) -> None:
    file = plugin(
        stage, "cru.on('pre_tool_call', function() return {cancel = true, reason = 'no'} end)\ncru.on('tool_result', function() end)"
    )
    plugin(stage, "cru.on('turn:complete', function() error('overboard') end)", "broken")
    stage.plays(calls("echo dug"))
    stage.run("run", "dig")

    traced = stage.bare("trace", "last", "--home", str(stage.home.folder))

    assert traced.status == 0
    assert re.search(r"pre_tool_call asked digest about bash.*block", traced.out)
    assert re.search(r"turn:complete asked broken: failed: .*init.lua:1: overboard", traced.out)
    assert "tool_result" not in traced.out
    assert str(file.parent.parent / "broken" / "init.lua") in traced.out


def test_what_a_plugin_has_wrong_is_said_when_it_starts(stage: Stage) -> None:
    file = plugin(stage, "\ncru.on('pre_toolcall', function() end)")
    ran = stage.run("run", "dig")
    assert ran.status == 0
    assert f"{file}:2: cru.on" in ran.err
    assert "pre_tool_call" in ran.err
    assert ran.out.strip() == "Done."


def test_output_of_lua_code_does_not_mix_with_ours(stage: Stage) -> None:
    plugin(stage, "print('hello') io.write('raw') io.stderr:write('noise') cru.on('turn:complete', function() print('bye') end)")
    ran = stage.run("run", "dig", "--output", "jsonl")
    assert ran.status == 0
    assert [record["type"] for record in ran.records][-1] == "end"
    assert "hello" not in ran.out
