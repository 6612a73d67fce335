"""Stand-ins for what a plugin calls, and the record of its calls."""

import pytest

from tests.contracts.crucible.testing.conftest import TestedPlugin


@pytest.mark.parametrize(
    "call",
    [
        'cru.http.get("http://127.0.0.1:1/")',
        'cru.shell.exec("rm-everything", {})',
        'cru.shell.which("ls")',
        'cru.fs.read("/etc/passwd")',
        'cru.kiln.read("a.md")',
        "cru.sessions.list()",
        'cru.tools.call("bash", {})',
    ],
)
def test_nothing_reaches_outside(plugin: TestedPlugin, call: str) -> None:
    result = plugin.only("plugin.load()\ntry() ", init=f"function try()\n {call}\nend")

    name = call.partition("(")[0]
    assert result.message == f'{plugin.folder}/init.lua:2: {name} was called, and nothing stands in for it: mock.on("{name}", answer)'


def test_an_answer_and_the_recorded_calls(plugin: TestedPlugin) -> None:
    plugin.passes(
        'mock.on("cru.tools.call", { content = "ok" })\n'
        'assert.same({ content = "ok" }, cru.tools.call("bash", { command = "ls" }))\n'
        'assert.same({ { "bash", { command = "ls" } } }, mock.calls("cru.tools.call"))\n'
        'assert.same({}, mock.calls("cru.tools.list"))'
    )


def test_a_function_as_an_answer(plugin: TestedPlugin) -> None:
    plugin.passes(
        'mock.on("cru.sessions.get", function(id) return { id = id } end) assert.same({ id = "s1" }, cru.sessions.get("s1"))\n'
        'mock.on("cru.sessions.get", function() error("gone") end) assert.error(function() cru.sessions.get("s1") end, "gone")'
    )


def test_an_answer_is_a_copy(plugin: TestedPlugin) -> None:
    plugin.passes(
        'mock.on("cru.tools.list", { 1 }) cru.tools.list()[1] = 5 assert.same({ 1 }, cru.tools.list())\n'
        'local given = { a = 1 } mock.on("cru.tools.call", true) cru.tools.call("x", given) given.a = 2\n'
        'assert.same({ "x", { a = 1 } }, mock.calls("cru.tools.call")[1])'
    )


def test_what_asks_the_host_is_recorded_and_does_nothing(plugin: TestedPlugin) -> None:
    plugin.passes(
        'plugin.load() assert.same({ { { tools = { "bash" }, reason = "r" } } }, mock.calls("cru.require_isolation"))\n'
        'assert.same({ { "hello" } }, mock.calls("cru.notify"))',
        init='cru.require_isolation({ tools = { "bash" }, reason = "r" }) cru.notify("hello")',
    )


def test_what_is_real_is_recorded_too(plugin: TestedPlugin) -> None:
    plugin.passes('cru.log("info", "x") assert.same({ { "info", "x" } }, mock.calls("cru.log"))')


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ('mock.on("cru.http.gt", 1)', "there is no cru.http.gt that can be mocked"),
        ('mock.calls("nothing")', "there is no nothing that can be mocked"),
        ('mock.on("cru.http.get")', "mock.on takes a path and an answer"),
        ('mock.http.on("GET", "u")', "mock.http.on takes a method, a url and an answer"),
    ],
)
def test_misuse(plugin: TestedPlugin, call: str, message: str) -> None:
    result = plugin.only(f"\n{call}")

    assert (result.line, result.message) == (3, message)


def test_http(plugin: TestedPlugin) -> None:
    plugin.passes(
        'mock.http.on("GET", "https://a/*", "body") mock.http.on("POST", "https://a/x", { status = 404, headers = { h = "1" } })\n'
        'mock.http.on("*", "https://b", function(request) return request.method .. " " .. tostring(request.body) end)\n'
        'assert.same({ status = 200, ok = true, headers = {}, body = "body" }, cru.http.get("https://a/1"))\n'
        'assert.same({ status = 404, ok = false, headers = { h = "1" }, body = "" }, cru.http.post("https://a/x", { body = "b" }))\n'
        'assert.equal("PUT b", cru.http.put("https://b", { body = "b" }).body)\n'
        'assert.equal("DELETE nil", cru.http.request({ method = "delete", url = "https://b" }).body)\n'
        'assert.same({ "https://a/1" }, mock.calls("cru.http.get")[1])\n'
        'assert.error(function() cru.http.get("https://c") end, "a_test.lua:%d+: nothing answers GET https://c")'
    )


def test_the_last_rule_for_a_url_wins(plugin: TestedPlugin) -> None:
    plugin.passes(
        'mock.http.on("GET", "u", "old") mock.http.on("GET", "u", "new") assert.equal("new", cru.http.get("u").body)\n'
        'mock.http.on("GET", "u", { status = 0, error = "refused" }) assert.same({ status = 0, ok = false, headers = {}, body = "", '
        'error = "refused" }, cru.http.get("u"))'
    )


def test_shell(plugin: TestedPlugin) -> None:
    plugin.passes(
        'mock.shell.on("docker", { exit_code = 1, stderr = "no" }) mock.shell.on("docker run", "id\\n")\n'
        'assert.same({ success = true, exit_code = 0, stdout = "id\\n", stderr = "" }, cru.shell.exec("docker", { "run", "x" }))\n'
        'assert.same({ success = false, exit_code = 1, stdout = "", stderr = "no" }, cru.shell.exec("docker", { "rm" }))\n'
        'mock.shell.on("slow", function() error("cannot be started", 0) end)\n'
        'assert.error(function() cru.shell.exec("slow", {}) end, "cannot be started")\n'
        'assert.error(function() cru.shell.exec("ls", {}) end, "a_test.lua:%d+: nothing answers the command ls")\n'
        'assert.equal(4, #mock.calls("cru.shell.exec"))'
    )


def test_files(plugin: TestedPlugin) -> None:
    plugin.passes(
        'mock.fs.file("/w/a.txt", "one") mock.fs.folder("/w/empty")\n'
        'assert.equal("one", cru.fs.read("/w/a.txt")) cru.fs.append("/w/a.txt", " two") assert.equal("one two", mock.fs.file("/w/a.txt"))\n'
        'cru.fs.write("/w/deep/b.txt", "b") assert.same({ "a.txt", "deep", "empty" }, cru.fs.list("/w"))\n'
        'assert.same({ true, false, true }, { cru.fs.is_file("/w/a.txt"), cru.fs.is_file("/w"), cru.fs.is_dir("/w/deep") })\n'
        'cru.fs.copy("/w/a.txt", "/w/c.txt") cru.fs.rename("/w/c.txt", "/w/d.txt") cru.fs.remove("/w/a.txt")\n'
        'assert.same({ "d.txt", "deep", "empty" }, cru.fs.list("/w")) assert.is_false(cru.fs.exists("/w/a.txt"))\n'
        'cru.fs.remove("/w") assert.is_false(cru.fs.exists("/w/deep/b.txt")) cru.fs.mkdir("/x/y") assert.is_true(cru.fs.is_dir("/x"))\n'
        'assert.error(function() cru.fs.read("/nothing") end, "cru.fs.read: /nothing: No such file")\n'
        'assert.error(function() cru.fs.list("/nothing") end) assert.error(function() cru.fs.remove("/nothing") end)\n'
        'assert.error(function() cru.fs.copy("/nothing", "/z") end) assert.error(function() cru.fs.rename("/nothing", "/z") end)'
    )


def test_notes(plugin: TestedPlugin) -> None:
    plugin.passes(
        'mock.kiln.note("Daily/a.md", "Tide at noon") mock.kiln.note("b.md", "x", { title = "B", kiln = "k", tags = { "t" } })\n'
        'assert.equal("Tide at noon", cru.kiln.read("Daily/a.md"))\n'
        'assert.same({ path = "b.md", kiln = "k", title = "B", tags = { "t" } }, cru.kiln.info("b.md"))\n'
        'assert.is_nil(cru.kiln.info("c.md"))\n'
        'assert.equal(2, #cru.kiln.list()) assert.equal("Daily/a.md", cru.kiln.list({ folder = "Daily" })[1].path)\n'
        'local found = cru.kiln.search("TIDE") assert.equal(1, #found) assert.equal("Tide at noon", found[1].snippet)\n'
        "local write = cru.kiln.write\n"
        'assert.same({ "created", "unchanged", "modified" }, { write("n.md", "1"), write("n.md", "1"), write("n.md", "2") })\n'
        'assert.equal("2", mock.kiln.note("n.md")) assert.is_true(cru.kiln.delete("n.md")) assert.is_false(cru.kiln.delete("n.md"))\n'
        'assert.error(function() cru.kiln.read("n.md") end, "there is no note n.md")\n'
        'assert.error(function() cru.kiln.rename("a", "b") end, "nothing stands in for it")'
    )
