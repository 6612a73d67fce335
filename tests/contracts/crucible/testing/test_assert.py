"""The assert library: what is expected comes first, and a failure is in the line of the test."""

import pytest

from tests.contracts.crucible.testing.conftest import TestedPlugin


@pytest.mark.parametrize(
    "body",
    [
        "assert.equal(1, 1) assert.equal('a', 'a') assert.equal(nil, nil) assert.equal(1, 1.0)",
        "assert.not_equal(1, 2) assert.not_equal({}, {})",
        "assert.same({ 1, { a = 2 } }, { 1, { a = 2 } }) assert.same(1, 1)",
        "local a = { x = 1 } a.self = a local b = { x = 1 } b.self = b assert.same(a, b)",
        "assert.not_same({ 1 }, { 2 }) assert.not_same({}, { a = 1 })",
        "assert.truthy(0) assert.truthy('') assert.falsy(nil) assert.falsy(false)",
        "assert.is_true(true) assert.is_false(false) assert.is_nil(nil) assert.not_nil(false)",
        "assert.is_type('table', {})",
        "assert.matches('^a%d$', 'a5')",
        "assert.contains('b.c', 'ab.cd') assert.contains({ 1 }, { { 1 }, 2 })",
        "assert.not_contains('x', 'abc') assert.not_contains(3, { 1 })",
        "assert.error(function() error('boom') end) assert.error(function() error('boom') end, 'bo+m')",
        "local e = assert.error(function() error({ code = 5 }) end) assert.equal(5, e.code)",
        "assert.equal(5, assert.no_error(function() return 5 end))",
        "local a, b = assert(1, 2) assert.equal(2, b)",
        "assert.error(function() assert(false, 'told') end, '^told$') assert.error(function() assert(nil) end, 'assertion failed!')",
    ],
)
def test_what_holds(plugin: TestedPlugin, body: str) -> None:
    plugin.passes(body)


@pytest.mark.parametrize(
    ("body", "message", "expected", "actual"),
    [
        ("assert.equal('a', 5)", "the values are not equal", '"a"', "5"),
        ("assert.equal({}, {})", "the values are not equal", "{}", "{}"),
        ("assert.not_equal(1, 1)", "the value is 1, which it must not be", None, None),
        ("assert.same({ a = 1, 'x' }, { a = 2, 'x' })", "the values are not the same", '{\n  "x",\n  a = 1\n}', '{\n  "x",\n  a = 2\n}'),
        ("assert.same({ 1 }, { 1, 2 })", "the values are not the same", "{\n  1\n}", "{\n  1,\n  2\n}"),
        ("assert.not_same({}, {})", "the value is {}, which it must not be", None, None),
        ("assert.truthy(nil)", "the value is nil, which is not truthy", None, None),
        ("assert.falsy(0)", "the value is 0, which is not falsy", None, None),
        ("assert.is_true(1)", "the value is not true", "true", "1"),
        ("assert.is_nil(false)", "the value is not nil", "nil", "false"),
        ("assert.not_nil(nil)", "the value is nil", None, None),
        ("assert.is_type('table', 5)", "the value is 5, a number and no table", None, None),
        ("assert.matches('%d', 'abc')", "the text does not match the pattern", '"%d"', '"abc"'),
        ("assert.matches('%d', nil)", "the text does not match the pattern", '"%d"', "nil"),
        ("assert.contains('x', 'abc')", "it does not contain what is expected", '"x"', '"abc"'),
        ("assert.not_contains('a', 'abc')", 'it contains "a", which it must not: "abc"', None, None),
        ("assert.error(function() end)", "the function raised nothing", None, None),
        ("assert.error(5)", "assert.error takes a function, found 5", None, None),
        ("assert.no_error(function() error('x', 0) end)", "the function raised: x", None, None),
        ("assert.fail('no')", "no", None, None),
        ("assert.equal(1, 2, 'the count')", "the count: the values are not equal", "1", "2"),
        ("assert(false, 'told')", "told", None, None),
        ("assert.equals(1, 1)", "there is no assert.equals", None, None),
    ],
)
def test_what_does_not_hold(plugin: TestedPlugin, body: str, message: str, expected: str | None, actual: str | None) -> None:
    result = plugin.only(f"\n{body}")

    assert (result.status, result.message, result.expected, result.actual) == ("failed", message, expected, actual)
    assert result.line == 3


def test_what_something_else_was_raised_shows_both(plugin: TestedPlugin) -> None:
    result = plugin.only("assert.error(function() error('other', 0) end, 'boom')")

    assert (result.message, result.expected, result.actual) == ("the function raised something else", '"boom"', '"other"')


def test_a_comparison_that_was_caught_is_not_taken_for_the_failure(plugin: TestedPlugin) -> None:
    result = plugin.only("pcall(assert.equal, 1, 2) error('real')")

    assert (result.message, result.expected) == ("real", None)


def test_tables_that_hold_themselves_are_shown(plugin: TestedPlugin) -> None:
    result = plugin.only("local t = {} t.t = t assert.same(t, 5)")

    assert result.expected == "{\n  t = (this table again)\n}"


def test_the_plugin_s_own_asserts_work_as_ever(plugin: TestedPlugin) -> None:
    plugin.passes("plugin.load()", init="assert(true, 'fine') local ok, e = pcall(assert, false, 'no') assert(e == 'no')")
