"""Time passes when a test says so."""

from tests.contracts.crucible.testing.conftest import TestedPlugin


def test_a_schedule_fires_as_often_as_its_time_comes(plugin: TestedPlugin) -> None:
    plugin.passes(
        "plugin.load() clock.advance(4.9) assert.equal(0, count) clock.advance(0.1) assert.equal(1, count)\n"
        "clock.advance(5 * 3600) assert.equal(3601, count)",
        init="count = 0 cru.schedule({ every = 5 }, function() count = count + 1 end)",
    )


def test_timers_come_in_order(plugin: TestedPlugin) -> None:
    plugin.passes(
        'plugin.load() clock.advance(10) assert.same({ "1", "2", "3" }, log)',
        init="log = {} for _, n in ipairs({ 3, 1, 2 }) do "
        "cru.timer.spawn(function() cru.timer.sleep(n) log[#log + 1] = tostring(n) end) end",
    )


def test_the_plugin_s_clock_is_the_same(plugin: TestedPlugin) -> None:
    plugin.passes("local before = cru.timer.clock() clock.advance(90) assert.equal(90, cru.timer.clock() - before)")


def test_sleeping_in_the_test_itself_takes_no_time(plugin: TestedPlugin) -> None:
    result = plugin.only("cru.timer.sleep(86400)")

    assert result.status == "passed"
    assert result.ms < 20_000


def test_a_timeout(plugin: TestedPlugin) -> None:
    plugin.passes("local ok, why = cru.timer.timeout(2, function() cru.timer.sleep(5) end) assert.same({ false, 'timeout' }, { ok, why })")


def test_nothing_fires_after_a_reload(plugin: TestedPlugin) -> None:
    plugin.passes(
        "plugin.load() plugin.reload() clock.advance(5) assert.equal(1, count)",
        init="count = 0 cru.schedule({ every = 5 }, function() count = count + 1 end)",
    )


def test_work_in_threads_is_waited_for(plugin: TestedPlugin) -> None:
    plugin.passes(
        'cru.storage.set("k", { 1, 2 }) assert.same({ 1, 2 }, cru.storage.get("k"))\n'
        'local ok, value = cru.timer.timeout(0.001, function() return cru.storage.get("k") end) assert.equal(true, ok)'
    )
