"""Running the tests of a plugin: what is a test, what passes, what fails where, and what ends by force."""

import pytest

from tests.contracts.crucible.testing.conftest import TestedPlugin


def test_names_order_and_lines(plugin: TestedPlugin) -> None:
    results = plugin.run(
        'describe("outer", function()\n it("one", function() end)\n'
        'describe("inner", function()\n  it("two", function() end)\n end)\nend)\n'
        'it("three", function()\n assert.equal(1, 2)\nend)'
    )

    assert [(r.file, r.name, r.status, r.line) for r in results] == [
        ("tests/a_test.lua", "outer > one", "passed", 2),
        ("tests/a_test.lua", "outer > inner > two", "passed", 4),
        ("tests/a_test.lua", "three", "failed", 8),
    ]
    assert (results[2].message, results[2].expected, results[2].actual) == ("the values are not equal", "1", "2")


def test_what_runs_before_and_after_each(plugin: TestedPlugin) -> None:
    [result] = plugin.run(
        'before_each(function() print("b1") end) after_each(function() print("a1") end)\n'
        'describe("d", function() before_each(function() print("b2") end) after_each(function() print("a2") end)\n'
        'it("t", function() print("t") end) end)\n'
        'describe("other", function() before_each(function() print("never") end) end)'
    )

    assert result.output == ("b1", "b2", "t", "a2", "a1")


def test_after_each_runs_where_the_test_fails_and_is_skipped_by_nothing(plugin: TestedPlugin) -> None:
    result = plugin.run('after_each(function() print("a") error("late") end)\nit("t", function() error("first") end)')[0]

    assert (result.status, result.message, result.output) == ("failed", "first", ("a",))


def test_a_failing_before_each_fails_the_test_and_skips_it(plugin: TestedPlugin) -> None:
    [result] = plugin.run('before_each(function()\n error("no") end)\nit("t", function() print("never") end)')

    assert (result.status, result.line, result.message, result.output) == ("failed", 2, "no", ())


def test_a_failing_after_each_fails_the_test(plugin: TestedPlugin) -> None:
    [result] = plugin.run('after_each(function() error("late") end)\nit("t", function() end)')

    assert (result.status, result.message) == ("failed", "late")


def test_no_test_sees_what_another_one_left(plugin: TestedPlugin) -> None:
    results = plugin.run(
        'local count = 0\nit("one", function() count = count + 1 left = 5 cru.storage.set("k", 1) plugin.load() end)\n'
        'it("two", function() assert.equal(0, count) assert.is_nil(left) assert.is_nil(cru.storage.get("k")) '
        'assert.equal("not loaded", plugin.state().state) end)'
    )

    assert [(r.status, r.message) for r in results] == [("passed", ""), ("passed", "")]


def test_files_run_by_name_and_one_that_does_not_load_stops_no_other(plugin: TestedPlugin) -> None:
    plugin.write("tests/b_test.lua", "local = 1")
    plugin.write("tests/c_test.lua", '\nerror("top")')
    plugin.write("tests/d_test.lua", 'it("d", function() end)')
    plugin.write("tests/helper.lua", 'error("not a test")')
    plugin.write("tests/e_test.lua", 'describe("x", 5)')
    (plugin.folder / "tests" / "f_test.lua").write_bytes(b"x = '\xff'")

    results = plugin.run('it("a", function() end)')

    assert [(r.file, r.name, r.status, r.line) for r in results] == [
        ("tests/a_test.lua", "a", "passed", 1),
        ("tests/b_test.lua", "", "failed", 1),
        ("tests/c_test.lua", "", "failed", 2),
        ("tests/d_test.lua", "d", "passed", 1),
        ("tests/e_test.lua", "", "failed", 1),
        ("tests/f_test.lua", "", "failed", 0),
    ]
    assert results[1].message == "<name> expected near '='"
    assert results[2].message == "top"
    assert "describe takes a name and a function" in results[4].message
    assert "byte 0xff is not UTF-8" in results[5].message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('it("", function() end)', "it takes a name and a function; the name must be a text"),
        ('it("\\xff", function() end)', "it takes a name and a function; the name must be a text"),
        ('it("x")', 'it takes a name and a function; "x" has no function'),
        ("before_each(5)", "before_each takes a function"),
    ],
)
def test_misuse_is_told_with_its_line(plugin: TestedPlugin, text: str, message: str) -> None:
    [result] = plugin.run(f"\n{text}")

    assert (result.name, result.line, result.message) == ("", 2, message)


def test_only_what_is_wanted_runs(plugin: TestedPlugin) -> None:
    text = 'describe("d", function() it("one", function() end) it("two", function() error("x") end) end)'

    assert [r.name for r in plugin.run(text, only="one")] == ["d > one"]
    assert [r.name for r in plugin.run(text, only="a_test.lua: d")] == ["d > one", "d > two"]
    assert plugin.run(text, only="zzz") == []


def test_a_test_that_computes_for_ever_is_ended(plugin: TestedPlugin) -> None:
    results = plugin.run('it("a", function() while true do end end) it("b", function() end)')

    assert [(r.name, r.status) for r in results] == [("a", "failed"), ("b", "passed")]
    assert "computed longer than it may" in results[0].message


def test_a_test_that_waits_for_ever_is_ended(plugin: TestedPlugin) -> None:
    results = plugin.run('it("a", function() while true do cru.timer.sleep(0) end end) it("b", function() end)', real_seconds=0.2)

    assert [(r.name, r.status, r.message) for r in results] == [
        ("a", "failed", "the test did not end within 0.2 s"),
        ("b", "passed", ""),
    ]


def test_a_test_that_takes_all_memory_is_ended(plugin: TestedPlugin) -> None:
    results = plugin.run(
        'it("a", function() local t = {} while true do t[#t + 1] = ("x"):rep(100000) .. #t end end) it("b", function() end)'
    )

    assert [(r.name, r.status) for r in results] == [("a", "failed"), ("b", "passed")]
    assert "memory" in results[0].message


def test_a_file_that_loads_only_once(plugin: TestedPlugin) -> None:
    marker = plugin.folder / "marker"

    [result] = plugin.run(f'if io.open("{marker}") then error("again") end io.open("{marker}", "w"):close() it("t", function() end)')

    assert result.message.startswith("the file does not load again: ")


def test_text_that_is_no_utf8(plugin: TestedPlugin) -> None:
    result = plugin.only('print("\\xff") assert.equal("a", "\\xff")')

    assert (result.actual, result.output) == ('"\\xff"', ("\ufffd",))


def test_output_without_end_is_cut(plugin: TestedPlugin) -> None:
    result = plugin.only("for i = 1, 5000 do print(i) end")

    assert (result.status, len(result.output), result.output[-1]) == ("passed", 1001, "...")


def test_output_is_kept(plugin: TestedPlugin) -> None:
    result = plugin.only('print("a", 1) cru.log("warn", "careful")')

    assert result.output[0] == "a\t1"
    assert result.output[1].startswith("[warn] digger: careful")


def test_modules_of_the_plugin_can_be_required_and_are_its_own(plugin: TestedPlugin) -> None:
    plugin.write("lua/words.lua", "return { count = 0 }")

    plugin.passes(
        'plugin.load() assert.equal(1, require("words").count)',
        init='local words = require("words") words.count = words.count + 1',
    )


def test_a_plugin_that_does_not_load_fails_with_its_place(plugin: TestedPlugin) -> None:
    result = plugin.only('\nfire("pre_tool_call")', init='\nerror("broken")')

    assert (result.status, result.line) == ("failed", 3)
    assert result.message == f"the plugin did not load: {plugin.folder}/init.lua:2: broken"


def test_a_plugin_that_must_not_load_can_be_tested(plugin: TestedPlugin) -> None:
    plugin.passes(
        'assert.error(function() plugin.load({ folder = 5 }) end, "folder must be a text") assert.equal("error", plugin.state().state)',
        init='return { setup = function(cfg) if type(cfg.folder) ~= "string" then error("folder must be a text") end end }',
    )


def test_settings_are_given_with_load(plugin: TestedPlugin) -> None:
    plugin.passes(
        'plugin.load({ folder = "Daily" }) assert.equal("Daily", seen.folder) plugin.load({}) assert.is_nil(seen.folder)',
        init="return { setup = function(cfg) seen = cfg end }",
    )


def test_a_failure_inside_the_plugin_names_its_file(plugin: TestedPlugin) -> None:
    result = plugin.only("plugin.load() broken()", init="function broken()\n error('inside')\nend")

    assert result.message == f"{plugin.folder}/init.lua:2: inside"


def test_a_file_that_describes_other_tests_each_time(plugin: TestedPlugin) -> None:
    [result, *_] = plugin.run("it(tostring({}), function() end)")

    assert result.message == "the file describes other tests each time that it is run"


def test_reload_in_a_test(plugin: TestedPlugin) -> None:
    plugin.passes(
        "plugin.load() plugin.reload() assert.equal(1, plugin.state().handlers.pre_tool_call) assert.equal(2, loads)",
        init='loads = (loads or 0) + 1 cru.on("pre_tool_call", function() end)',
    )


def test_tools_can_be_called(plugin: TestedPlugin) -> None:
    plugin.passes(
        'assert.same({ content = "dug x for s9", is_error = false }, call_tool("dig", { place = "x" }, { session_id = "s9" }))\n'
        'assert.same({ content = "`place` is missing.", is_error = true }, call_tool("dig", {}))\n'
        'assert.error(function() call_tool("bury") end, "no tool \'bury\'; it has: dig")',
        init='return { tools = { dig = { params = { { name = "place" } }, run = function(args, ctx) '
        'return "dug " .. args.place .. " for " .. ctx.session_id end } } }',
    )
