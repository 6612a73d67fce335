"""`require`: every plugin has its own modules, whatever they are called."""

from collections.abc import Callable

import pytest

from tests.contracts.crucible.plugins.conftest import PluginHome
from treblehook.contracts.crucible.plugins.modules import in_memory, on_disk


async def test_modules_are_found_in_lua_and_in_the_root(home: PluginHome) -> None:
    home.write("a/lua/one.lua", 'return "lua/one"')
    home.write("a/one.lua", 'return "one"')
    home.write("a/two.lua", 'return "two"')
    home.write("a/lua/deep/three.lua", 'return "deep/three"')
    home.write("a/lua/four/init.lua", 'return "four/init"')
    home.load(a='say(require("one"), require("two"), require("deep.three"), require("deep/three"), require("four"))')

    assert home.said == [["lua/one", "two", "deep/three", "deep/three", "four/init"]]


async def test_two_plugins_with_equal_module_names_get_their_own(home: PluginHome) -> None:
    for name in "ab":
        home.write(f"{name}/lua/words.lua", f'return {{ of = "{name}" }}')
    text = (
        'local words = require("words") '
        'cru.on("pre_tool_call", function() say(words.of, require("words").of, words == require("words")) end)'
    )
    home.load(a=text, b=text)

    await home.call()

    assert home.said == [["a", "a", True], ["b", "b", True]]


async def test_a_module_that_asks_later_gets_its_own_plugins_modules(home: PluginHome) -> None:
    home.write("a/lua/words.lua", 'return { ask = function() return (require("other")) end }')
    home.write("a/lua/other.lua", 'return "other of a"')
    home.write("b/lua/other.lua", 'return "other of b"')
    home.load(a='shared = require("words")', b='cru.on("pre_tool_call", function() say(shared.ask()) end)')

    await home.call()

    assert home.said == ["other of a"]


@pytest.mark.parametrize(
    "how",
    [
        'return require("words")',
        'local ok, words = pcall(require, "words") return words',
        'local co = coroutine.wrap(function() return require("words") end) return co()',
    ],
)
async def test_however_it_is_called(home: PluginHome, how: str) -> None:
    for name in "ab":
        home.write(f"{name}/lua/words.lua", f'return "{name}"')
        home.write(f"{name}/lua/first.lua", how)
    home.load(a='say(require("first"))', b='say(require("first"))')

    assert home.said == ["a", "b"]


async def test_a_module_runs_once_and_knows_its_name(home: PluginHome) -> None:
    file = home.write("a/lua/words.lua", "say({ ... })")
    home.load(a='require("words") say(require("words"))')

    assert home.said == [["words", str(file)], True]


async def test_what_a_module_registers_belongs_to_the_plugin(home: PluginHome) -> None:
    home.write("a/lua/hooks.lua", 'cru.on("pre_tool_call", function() say(1) end)')
    home.load(a='require("hooks")')
    await home.plugins.reload("a")

    await home.call()

    assert home.said == [1]


async def test_the_standard_library_can_be_required(home: PluginHome) -> None:
    home.load(a='say(require("string") == string, require("math") == math)')

    assert home.said == [[True, True]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('require("../b/init")', "a module's name is letters, digits"),
        ('require("/etc/passwd")', "a module's name is letters, digits"),
        ('require("")', "a module's name is letters, digits"),
        ("require(nil)", "require takes the name of a module, found a nil"),
        ('require("broken")', "lua/broken.lua:2: <name> expected near"),
        ('require("raises")', "lua/raises.lua:2: no"),
        ('require("round")', "module round is being loaded"),
        ('require("bytes")', "lua/bytes.lua: line 1: byte 0xff is not UTF-8"),
        ('require("dangling")', "lua/dangling.lua: cannot be read: No such file"),
        ('require("x' + "y" * 300 + '")', "there is no module xyyy"),
    ],
)
async def test_modules_that_do_not_load(home: PluginHome, text: str, message: str) -> None:
    home.write("a/lua/broken.lua", "\nlocal = 1")
    home.write("a/lua/raises.lua", "\nerror('no')")
    home.write("a/lua/round.lua", 'require("other")')
    home.write("a/lua/other.lua", 'require("round")')
    home.write("a/lua/bytes.lua", b"return '\xff'")
    (home.folder / "plugins" / "a" / "lua" / "dangling.lua").symlink_to("nothing")
    home.load(a=text)

    cause = home.state("a").cause
    assert cause is not None
    assert message in cause


async def test_a_failed_module_can_be_required_again(home: PluginHome) -> None:
    home.write("a/lua/x.lua", "tries = (tries or 0) + 1 if tries == 1 then error('first') end return tries")
    home.load(a='say(pcall(require, "x")) say(require("x"))')

    assert home.said[0][0] is False
    assert home.said[1] == 2


async def test_a_single_file_has_no_modules(home: PluginHome) -> None:
    home.write("other.lua", "")
    home.write("a.lua", 'require("other")')
    home.load()

    cause = home.state("a").cause
    assert cause is not None
    assert cause.endswith("a.lua:1: require: there is no module other; a plugin that is a single file has no modules")


async def test_a_module_may_be_required_in_a_handler_that_waits(home: PluginHome, waits: Callable[[], None]) -> None:
    home.write("a/lua/slow.lua", 'wait() return "slow"')
    home.load(a='cru.on("pre_tool_call", function() say(require("slow")) end)')

    import asyncio

    call = asyncio.ensure_future(home.call())
    while home.said != ["waiting"]:
        await asyncio.sleep(0)
    waits()
    assert (await call).decision is None

    assert home.said == ["waiting", "slow"]


async def test_the_user_s_init_gets_a_second_unowned_copy_of_a_plugin_s_module(home: PluginHome) -> None:
    home.write("a/lua/hooks.lua", 'cru.on("pre_tool_call", function() say("hook") end) return {}')
    plugins = home.load(a='theirs = require("hooks")')
    plugins.modules.place("init.lua", lambda: (on_disk(home.folder), *plugins.places()))
    home.user_file('say(require("hooks") == theirs)')

    await home.call()
    assert home.said == [False, "hook", "hook"]

    home.said.clear()
    await plugins.reload("a")
    await home.call()
    assert home.said == ["hook", "hook"]


async def test_modules_from_memory_are_not_read_from_disk(home: PluginHome) -> None:
    home.load()
    home.write("w/words.lua", 'return "disk"')
    folder = home.folder / "plugins" / "w"
    contents = {"init.lua": b'say(require("words"))', "words.lua": b'return "memory"'}
    home.plugins.modules.place("workspace init.lua", lambda: (in_memory(folder, contents),))

    with home.vm.owned_by(None, "workspace init.lua") as caller:
        chunk = home.plugins.modules.load("workspace init.lua", contents["init.lua"], folder / "init.lua")
        home.lua.run_now(chunk, about=caller)

    assert home.said == ["memory"]
