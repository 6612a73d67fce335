"""Mistakes in a call: function, argument, what was found and what is allowed, at the caller's line."""

import pytest

from tests.contracts.crucible.library.conftest import Rig

CASES = {
    "cru.fs.read()": "cru.fs.read: argument 1 (`path`) is nil; allowed: a path, without NUL",
    "cru.fs.read({})": "cru.fs.read: argument 1 (`path`) is a table; allowed: a path, without NUL",
    "cru.fs.read('a\\0b')": "cru.fs.read: argument 1 (`path`) is the string",
    "cru.fs.read('')": "cru.fs.read: argument 1 (`path`) is the string ''",
    "cru.shell.exec('ls')": "cru.shell.exec: argument 2 (`args`) is nil; allowed: a list, each value a string without NUL",
    "cru.shell.exec('ls', {'-a', {}})": "cru.shell.exec: argument 2 (`args`)[2] is a table; allowed: a string without NUL",
    "cru.shell.exec('ls', {}, {timout = 1})": "cru.shell.exec: the option `timout` is unknown, did you mean `timeout`?",
    "cru.shell.exec('ls', {}, {x = 1})": "the option `x` is unknown; allowed: cwd, env, timeout, stdin",
    "cru.shell.exec('ls', {}, {1, 2})": "cru.shell.exec: argument 3 (`options`) is a table; allowed: a table with cwd, env, timeout, stdin",
    "cru.shell.exec('ls', {}, 'fast')": "cru.shell.exec: argument 3 (`options`) is the string 'fast'",
    "cru.shell.exec('ls', {}, {timeout = -1})": "the option `timeout` is the number -1; allowed: a number of seconds above 0",
    "cru.shell.exec('ls', {}, {timeout = 'soon'})": "the option `timeout` is the string 'soon'",
    "cru.shell.exec('ls', {}, {timeout = 1/0})": "the option `timeout` is the number inf",
    "cru.shell.exec('ls', {}, {env = {A = {}}})": "the option `env`.A is a table; allowed: a string without NUL",
    "cru.shell.exec('ls', {}, {env = {'A'}})": "the option `env` is a table; allowed: a table from names to values",
    "cru.timer.sleep(-1)": "cru.timer.sleep: argument 1 (`seconds`) is the number -1; allowed: a number of seconds from 0 up",
    "cru.timer.sleep(0/0)": "cru.timer.sleep: argument 1 (`seconds`) is the number",
    "cru.timer.sleep(1/0)": "cru.timer.sleep: argument 1 (`seconds`) is the number inf",
    "cru.timer.sleep(true)": "cru.timer.sleep: argument 1 (`seconds`) is true",
    "cru.timer.spawn(1)": "cru.timer.spawn: argument 1 (`function`) is the number 1; allowed: a function",
    "cru.http.get()": "cru.http.get: argument 1 (`url`) is nil; allowed: a string that is not empty",
    "cru.http.get('x')": "cru.http.get: the URL is 'x'",
    "cru.http.get('ftp://x/')": "allowed: http://… and https://…",
    "cru.http.request({method = 'GET'})": "cru.http.request: the option `url` is missing",
    "cru.http.request()": "cru.http.request: argument 1 (`options`) is nil; allowed: a table with url, method",
    "cru.http.post('http://x', {json = {}, body = ''})": "exclude each other",
    "cru.http.get('http://x', {headers = {a = 'b\\nc'}})": "no line end",
    "cru.schedule({every = 0}, print)": "the option `every` is the number 0; allowed: a number of seconds above 0",
    "cru.schedule({}, print)": "the option `every` is missing",
    "cru.schedule({every = 1})": "cru.schedule: argument 2 (`function`) is nil",
    "cru.storage.set('k')": "cru.storage.set: argument 2 (`value`) is nil; allowed: any value but nil",
    "cru.storage.set('k', {a = {print}})": "[a][1] is a function",
    "cru.storage.find('[a')": "'[a' is no glob",
    "cru.notify('x', 'loud')": "the option `level` is the string 'loud'; allowed: 'info' or 'warn' or 'error'",
    "cru.require_isolation{}": "the option `tools` names no tool",
    "cru.sessions.send('s')": "cru.sessions.send: argument 2 (`text`) is nil",
    "cru.fmt.truncate('x', 1.5)": "cru.fmt.truncate: argument 2 (`characters`) is the number 1.5; allowed: a whole number from 0 up",
    "cru.fmt.table({1})": "cru.fmt.table: argument 1 (`rows`)[1] is the number 1; allowed: a list, each value a string",
    "cru.retry(1)": "cru.retry: argument 1 (`function`) is the number 1",
    "cru.retry(print, {tries = 1})": "cru.retry: the option `tries` is unknown",
    "cru.ratelimit.new{capacity = 'x'}": "cru.ratelimit.new: the option `capacity` is the string 'x'",
    "cru.emitter.new():on('x')": "emitter:on: argument 2 (`function`) is nil",
}


@pytest.mark.parametrize(("call", "said"), CASES.items(), ids=CASES)
async def test_a_mistake_is_told_at_the_callers_line(rig: Rig, call: str, said: str) -> None:
    message = await rig.refused(f"\n\nlocal result = {call}\nreturn result")
    assert message.startswith("demo.lua:3: ")
    assert said in message


async def test_more_arguments_than_there_are_do_no_harm(rig: Rig) -> None:
    assert await rig.run("return cru.fmt.trim((' a '):gsub('a', 'b'))") == "b"


async def test_a_number_is_as_good_as_its_text(rig: Rig) -> None:
    assert await rig.run("return cru.paths.join('a', 5)") == "a/5"


async def test_an_empty_table_is_an_empty_list_and_no_options(rig: Rig) -> None:
    assert (await rig.run("return cru.shell.exec('true', {}, {})"))["success"]
