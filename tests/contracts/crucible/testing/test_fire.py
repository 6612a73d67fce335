"""Firing events at a plugin, and seeing what came back of it."""

import pytest

from tests.contracts.crucible.testing.conftest import TestedPlugin


def test_nothing_that_is_registered_lets_everything_pass(plugin: TestedPlugin) -> None:
    plugin.passes(
        'local outcome = fire("pre_tool_call", { tool = "bash", args = { command = "ls" } })\n'
        'assert.same({ status = "passed", event = "pre_tool_call", tool = "bash", args = { command = "ls" }, handlers = {} }, outcome)'
    )


@pytest.mark.parametrize(
    ("returns", "status", "rest", "kind"),
    [
        ("", "passed", "args = { command = 'ls' }", "pass"),
        ("nil", "passed", "args = { command = 'ls' }", "pass"),
        ("{ args = { command = 'pwd' } }", "rewritten", "args = { command = 'pwd' }", "transform"),
        ("{ cancel = true, reason = 'no' }", "cancelled", "args = { command = 'ls' }", "cancel"),
        ("{ handled = true, result = 'out' }", "handled", "args = { command = 'ls' }, result = 'out', is_error = false", "handled"),
        ("{ inject = { content = 'x' } }", "passed", "args = { command = 'ls' }", "ignored"),
        ("true", "passed", "args = { command = 'ls' }", "ignored"),
        ("{ other = 1 }", "passed", "args = { command = 'ls' }", "ignored"),
    ],
)
def test_every_class_of_return(plugin: TestedPlugin, returns: str, status: str, rest: str, kind: str) -> None:
    plugin.passes(
        'local outcome = fire("pre_tool_call", { tool = "bash", args = { command = "ls" } })\n'
        f"for key, value in pairs({{ status = '{status}', {rest} }}) do assert.same(value, outcome[key], key) end\n"
        f"assert.equal('{kind}', outcome.handlers[1].class)\n"
        f"assert.same({returns or 'nil'}, outcome.handlers[1].returned)",
        init=f'cru.on("pre_tool_call", function() return {returns} end)',
    )


def test_a_cancelled_call_has_its_reason(plugin: TestedPlugin) -> None:
    plugin.passes(
        'assert.matches("no treasure today$", fire("pre_tool_call", { tool = "bash" }).reason)',
        init='cru.on("pre_tool_call", function() return { cancel = true, reason = "no treasure today" } end)',
    )


def test_each_handler_is_listed_with_its_place(plugin: TestedPlugin) -> None:
    plugin.passes(
        'local handlers = fire("pre_tool_call", { tool = "bash" }).handlers\n'
        "assert.equal(2, #handlers)\n"
        "local first = handlers[1]\n"
        'assert.same({ "digger", "pre_tool_call", 2, "transform" }, { first.hook, first.event, first.line, first.class })\n'
        'assert.contains("digger/init.lua", handlers[1].file)\n'
        'assert.same({ 1, "cancel" }, { handlers[2].line, handlers[2].class })',
        init='cru.on("pre_tool_call", function() return { cancel = true } end)\n'
        'cru.on("pre_tool_call", { priority = 5 }, function() return { args = { x = 1 } } end)\n'
        'cru.on("pre_tool_call", { pattern = "read", priority = 1 }, function() error("never") end)',
    )


def test_a_handler_that_raises_denies_and_says_where(plugin: TestedPlugin) -> None:
    plugin.passes(
        'local outcome = fire("pre_tool_call", { tool = "bash" })\n'
        'assert.equal("denied", outcome.status)\n'
        'assert.matches("init.lua:2: broken", outcome.error)\n'
        'assert.matches("broken", outcome.reason)\n'
        'assert.equal("error", outcome.handlers[1].class) assert.matches("init.lua:2: broken", outcome.handlers[1].error)\n'
        "assert.equal(1, #outcome.handlers)",
        init='cru.on("pre_tool_call", function()\n error("broken") end) cru.on("pre_tool_call", function() end)',
    )


def test_a_handler_that_waits_too_long_is_timed_out_at_once(plugin: TestedPlugin) -> None:
    plugin.passes(
        'local before = clock.now() local outcome = fire("pre_tool_call", { tool = "bash" })\n'
        'assert.equal("denied", outcome.status) assert.equal("timed_out", outcome.handlers[1].class)\n'
        "assert.equal(30, clock.now() - before)",
        init='cru.on("pre_tool_call", function() cru.timer.sleep(3600) end)',
    )


def test_the_session_of_an_event(plugin: TestedPlugin) -> None:
    plugin.passes(
        'fire("pre_tool_call", { tool = "bash" }, { session_id = "s7", workspace = "/w" }) assert.equal("s7", seen)\n'
        'fire("pre_tool_call", { tool = "bash" }) assert.equal("test-session", seen)\n'
        'fire("note:created", { path = "a.md" }) assert.is_nil(seen)',
        init='for _, name in ipairs({ "pre_tool_call", "note:created" }) do cru.on(name, function(ctx) seen = ctx.session_id end) end',
    )


@pytest.mark.parametrize(
    ("name", "given", "seen"),
    [
        ("tool_result", '{ tool = "bash", args = { a = 1 }, result = "r" }', '{ tool = "bash", args = { a = 1 }, result = "r" }'),
        ("tool_result", '{ tool = "bash", error = "e" }', '{ tool = "bash", args = {}, result = "", error = "e" }'),
        ("pre_llm_call", '{ prompt = "p", model = "m" }', '{ prompt = "p", model = "m" }'),
        (
            "post_llm_call",
            '{ response_summary = "s", duration_ms = 9 }',
            '{ response_summary = "s", model = "script:test", duration_ms = 9 }',
        ),
        ("tool:before_execute", '{ tool = "bash", args = { a = 1 } }', '{ tool = "bash", name = "bash", args = { a = 1 }, env = {} }'),
        ("tool:display_start", '{ name = "read", args = { a = 1 } }', '{ tool = "read", name = "read", args = \'{"a":1}\' }'),
        ("FileChanged", '{ path = "/a", kind = "modified" }', '{ path = "/a", kind = "modified" }'),
        ("FileDeleted", '{ path = "/a" }', '{ path = "/a" }'),
        ("FileMoved", '{ from = "/a", to = "/b" }', '{ from = "/a", to = "/b" }'),
        ("note:created", '{ path = "a.md", title = "A" }', '{ path = "a.md", title = "A" }'),
        ("note:modified", '{ path = "a.md", change_type = "tags", kiln = "k" }', '{ path = "a.md", change_type = "tags", kiln = "k" }'),
        ("note:deleted", '{ path = "a.md", existed = false }', '{ path = "a.md", existed = false }'),
        ("note:renamed", '{ from = "a.md", to = "b.md" }', '{ from = "a.md", to = "b.md" }'),
        (
            "webhook:received",
            '{ name = "ci", headers = { ["x-a"] = "1" }, body = "{}" }',
            '{ name = "ci", headers = { ["x-a"] = "1" }, body = "{}" }',
        ),
        (
            "precognition_format",
            '{ user_message = "q", results = { { title = "T", score = 0.5, snippet = "s" } } }',
            '{ user_message = "q", note_count = 1, results = { { title = "T", score = 0.5, snippet = "s" } } }',
        ),
    ],
)
def test_what_the_plugin_is_given(plugin: TestedPlugin, name: str, given: str, seen: str) -> None:
    plugin.passes(
        f'fire("{name}", {given}) seen.type = nil assert.same({seen}, seen)',
        init=f'cru.on("{name}", function(_, event) seen = event end)',
    )


@pytest.mark.parametrize(
    ("name", "returns", "check"),
    [
        ("tool_result", '{ result = "x" }', 'assert.equal("rewritten", o.status) assert.equal("x", o.result) assert.is_nil(o.error)'),
        ("tool_result", '{ error = "bad" }', 'assert.equal("bad", o.error) assert.equal("", o.result)'),
        ("pre_llm_call", '{ prompt = "new" }', 'assert.equal("new", o.prompt)'),
        ("pre_llm_call", '{ cancel = true, reason = "r" }', 'assert.equal("cancelled", o.status) assert.equal("r", o.reason)'),
        ("transform_context", '{ messages = { { role = "system", content = "s" } } }', 'assert.equal("s", o.messages[1].content)'),
        ("turn:complete", '{ inject = { content = "c" } }', 'assert.equal("injected", o.status) assert.equal("user_prefix", o.position)'),
        ("tool:before_execute", '{ env = { A = "1" } }', 'assert.same({ A = "1" }, o.env)'),
        ("tool:display_start", '{ label = "L" }', 'assert.equal("displayed", o.status) assert.equal("L", o.label)'),
        ("precognition_format", '"text"', 'assert.equal("rendered", o.status) assert.equal("text", o.text)'),
        ("note:created", "{ cancel = true }", 'assert.equal("stopped", o.status)'),
    ],
)
def test_what_comes_back(plugin: TestedPlugin, name: str, returns: str, check: str) -> None:
    plugin.passes(f'local o = fire("{name}") {check}', init=f'cru.on("{name}", function() return {returns} end)')


def test_a_selection_of_notes(plugin: TestedPlugin) -> None:
    plugin.passes(
        'local o = fire("precognition_select", { results = { { title = "A", score = 0.9 }, { title = "B", score = 0.1 } } })\n'
        'assert.equal("chosen", o.status) assert.equal(1, #o.notes) assert.equal(1, o.notes[1].index)',
        init='cru.on("precognition_select", function(_, event) local picked = {} for _, note in ipairs(event.results) do '
        "if note.score > 0.7 then picked[#picked + 1] = { index = note.index } end end return picked end)",
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ('fire("pre_toolcall")', "fire: unknown event `pre_toolcall`, did you mean `pre_tool_call`?"),
        ("fire(5)", "fire takes the name of an event, found a number"),
        ('fire("pre_tool_call", "x")', "an event is a table, found a string"),
        ('fire("pre_tool_call", { arg = {} })', "fire: pre_tool_call has no field `arg`; did you mean `args`?"),
        ('fire("pre_tool_call", { tool = 5 })', "fire: pre_tool_call: `tool` is the number 5; a string is needed"),
        ('fire("pre_tool_call", { args = { 1 } })', "fire: pre_tool_call: `args` is a table; a table with names is needed"),
        ('fire("FileChanged", { kind = "new" })', "fire: FileChanged: `kind` is the string 'new'; allowed: created, modified"),
        ('fire("transform_context", { messages = { { role = "boss" } } })', "`messages[1].role` is the string 'boss'"),
        ('fire("pre_tool_call", {}, { sesion = "x" })', "a session has `session_id` and `workspace`, found `sesion`"),
        ('fire("precognition_select", { results = { 5 } })', "results[1] is the number 5"),
        ("session_start({ id = 5 })", "`id` and `workspace` of a session are strings"),
        ("clock.advance(-1)", "clock.advance takes seconds, at least 0; found -1"),
    ],
)
def test_misuse_is_told_in_its_line(plugin: TestedPlugin, call: str, message: str) -> None:
    result = plugin.only(f"\n{call}")

    assert (result.status, result.line) == ("failed", 3)
    assert message in result.message


def test_sessions_start_and_end(plugin: TestedPlugin) -> None:
    plugin.passes(
        'assert.equal("passed", session_start({ id = "s1", workspace = "/w" }).status)\n'
        'assert.same({ "s1 /w" }, log)\n'
        'session_end({ id = "s1" }) assert.same({ "s1 /w", "end s1 /w" }, log)',
        init="log = {} cru.on_session_start(function(s) log[#log + 1] = s.id .. ' ' .. tostring(s.workspace) end)\n"
        "cru.on_session_end(function(s) log[#log + 1] = 'end ' .. s.id .. ' ' .. tostring(s.workspace) end)",
    )


def test_a_refused_session(plugin: TestedPlugin) -> None:
    plugin.passes(
        'local o = session_start({ id = "s1" }) assert.matches("no container", o.reason) assert.equal("error", o.handlers[1].class)\n'
        'assert.contains(o.status, { "cancelled", "denied" })',
        init='cru.on_session_start(function() error("no container") end, { required = true })',
    )


def test_an_optional_start_hook_that_raises_refuses_nothing(plugin: TestedPlugin) -> None:
    plugin.passes(
        'local o = session_start() assert.equal("passed", o.status) assert.equal("error", o.handlers[1].class)',
        init='cru.on_session_start(function() error("no") end)',
    )
