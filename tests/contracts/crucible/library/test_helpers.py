"""`cru.fmt`, `cru.retry`, `cru.ratelimit`, `cru.emitter`, `cru.check`."""

import asyncio
from typing import Any

import pytest

from tests.contracts.crucible.library.conftest import Rig


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("cru.fmt('Hello {name}, {n} {missing}', {name = 'Ada', n = 2})", "Hello Ada, 2 {missing}"),
        ("cru.fmt('{a}{b}', {a = '\\xff', b = true})", b"\xfftrue"),
        ("cru.fmt('plain')", "plain"),
        ("cru.fmt.truncate('ééé', 2)", "é…"),
        ("cru.fmt.truncate('abc', 2, '')", "ab"),
        ("cru.fmt.trim('  a\\n')", "a"),
        ("cru.fmt.indent('a\\nb')", "  a\n  b"),
        ("cru.fmt.indent('a', 4)", "    a"),
        ("cru.fmt.indent('a', '> ')", "> a"),
        ("cru.fmt.plural(2, 'note')", "2 notes"),
        ("cru.fmt.plural(2, 'entry', 'entries')", "2 entries"),
        ("cru.fmt.size(1536)", "1.5 KiB"),
        ("cru.fmt.duration(65)", "1 min 5 s"),
        ("cru.fmt.table({{'a', 1}, {'bb', 22}}, {'name', 'n'})", "name  n\n----  --\na     1\nbb    22"),
    ],
)
async def test_fmt(rig: Rig, call: str, result: Any) -> None:
    assert rig.run_now(f"return {call}") == result


async def test_retry_until_it_works(rig: Rig) -> None:
    source = """
        local calls = 0
        local a, b = cru.retry(function()
            calls = calls + 1
            if calls < 3 then error('not yet') end
            return 'done', calls
        end, {base_delay = 0.001})
        return a, b
    """
    assert await rig.run(source) == ["done", 3]


async def test_retry_gives_up_with_the_last_error(rig: Rig) -> None:
    source = """
        local calls = 0
        local ok, problem = pcall(cru.retry, function() calls = calls + 1; error({n = calls}) end, {base_delay = 0, max_retries = 2})
        return ok, problem.n
    """
    assert await rig.run(source) == [False, 3]


async def test_retry_asks_whether_it_is_worth_it(rig: Rig) -> None:
    source = """
        local calls = 0
        pcall(cru.retry, function() calls = calls + 1; error({fatal = true}) end, {retryable = function(e) return not e.fatal end})
        return calls
    """
    assert await rig.run(source) == 1


async def test_retry_waits_longer_each_time_and_as_long_as_it_is_told(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    await rig.run("pcall(cru.retry, error, {max_retries = 5, base_delay = 1, max_delay = 6, jitter = false})")
    await rig.run("pcall(cru.retry, function() error({after = 30}) end, {max_retries = 1})")
    assert waits[:-1] == [1, 2, 4, 6, 6]
    assert waits[-1] == 30


async def test_a_limiter_lets_through_what_it_has(rig: Rig) -> None:
    assert rig.run_now("""
        local l = cru.ratelimit.new{capacity = 2, interval = 1000}
        return l:remaining(), l:try_acquire(), l:try_acquire(), l:try_acquire(), l:remaining()
    """) == [2, True, True, False, 0]


async def test_a_limiter_waits_for_a_token(rig: Rig) -> None:
    assert (
        await rig.run("""
        local l = cru.ratelimit.new{capacity = 1, interval = 0.01}
        l:acquire(); l:acquire(); l:acquire()
        return l:try_acquire()
    """)
        is False
    )


async def test_an_emitter_tells_everybody_in_order(rig: Rig) -> None:
    assert await rig.run("""
        local e, heard = cru.emitter.new(), {}
        local function say(word) return function(...) heard[#heard + 1] = word .. table.concat({...}, ',') end end
        local first = e:on('x', say('a'))
        e:once('x', say('b'))
        e:on('x', function() error('broken') end)
        e:on('x', say('c'))
        e:emit('x', 1, 2)
        local off, again = e:off('x', first), e:off('x', first)
        e:emit('x')
        e:emit('nobody')
        return heard, off, again
    """) == [["a1,2", "b1,2", "c1,2", "c"], True, False]
    assert [text.rpartition(": ")[2] for text in rig.heard("error")] == ["broken", "broken"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("cru.check.string(5, 'name')", "name is 5; allowed: a string"),
        ("cru.check.string(nil, 'name')", "name is nil; allowed: a string"),
        ("cru.check.number('x', 'count')", 'count is the string "x"; allowed: a number'),
        ("cru.check.number(101, 'count', {min = 1, max = 100})", "count is 101; allowed: a number from 1 to 100"),
        ("cru.check.boolean(1, 'on')", "on is 1; allowed: true or false"),
        ("cru.check.table(1)", "the value is 1; allowed: a table"),
        ("cru.check.func({}, 'f')", "f is a table; allowed: a function"),
        ("cru.check.one_of('xml', {'json', 'text'}, 'format')", 'format is the string "xml"; allowed: json, text'),
    ],
)
async def test_check_raises_at_the_caller_of_the_function_that_checks(rig: Rig, call: str, said: str) -> None:
    message = await rig.refused(f"local function mine()\n{call}\nend\n\nmine()")
    assert message == f"demo.lua:5: {said}"


async def test_check_returns_what_fits(rig: Rig) -> None:
    assert rig.run_now("""
        return cru.check.string('a'), cru.check.number(5, 'n', {min = 5}), cru.check.string(nil, 'x', {optional = true}) == nil,
            cru.check.one_of(2, {1, 2}), cru.check.boolean(false)
    """) == ["a", 5, True, 2, False]
