"""What the model sees of a result (crucible.md 3.2 and 11 F)."""

import pytest

from tests.support.lua_nest import LuaNest, Place, last_result
from tests.support.nest import Record, bash
from treblehook.agent.session import Session


def on(body: str, options: str = "{}") -> str:
    return f"cru.on('tool_result', {options}, function(ctx, event) {body} end)\n"


async def _dig(nest: LuaNest, *turns: Record) -> Session:
    nest.plays(*(turns or (bash("echo token=abc dug"),)))
    session = await nest.open()
    await session.prompt("dig")
    return session


async def test_case_081_a_patch_of_the_result(nest: LuaNest, where: Place) -> None:
    nest.put(where, on("return {result = event.result:gsub('token=%S+', 'token=[REDACTED]')}"))
    session = await _dig(nest)
    assert (last_result(nest).text, last_result(nest).is_error) == ("token=[REDACTED] dug\n", False)
    (result,) = nest.results(session)
    assert result["content"] == "token=[REDACTED] dug\n"
    kept = b"".join(line for line in nest.on_disk().splitlines(True) if b'"type":"tool_result"' in line or b'"type":"hook"' in line)
    assert b"token=abc" not in kept


async def test_case_082_an_error_is_set_and_the_result_kept(nest: LuaNest, where: Place) -> None:
    nest.put(where, on("return {error = 'bad'}") + on("tell(event.result, event.error)"))
    await _dig(nest)
    assert (last_result(nest).text, last_result(nest).is_error) == ("bad", True)
    assert nest.told == [["token=abc dug\n", "bad"]]


async def test_case_083_patches_chain_from_the_session_to_the_plugins(nest: LuaNest) -> None:
    nest.of_workspace(on("return {result = event.result .. 's'}"))
    nest.plugin(on("return {result = event.result .. 'p'}", "{priority = -1000}"))
    await _dig(nest, bash("printf dug"))
    assert last_result(nest).text == "dugsp"


@pytest.mark.parametrize(
    "value",
    [
        "{cancel = true}",
        "{handled = true, result = 'z'}",
        "{inject = {content = 'z'}}",
        "{result = 5}",
        "{result = {}}",
        "'z', 1",
        "{}",
        "{error = 5}",
    ],
)
async def test_case_084_086_what_is_no_patch_is_ignored_and_later_handlers_run(nest: LuaNest, where: Place, value: str) -> None:
    nest.put(where, on(f"return {value}") + on("tell(event.result)"))
    await _dig(nest)
    assert (last_result(nest).text, last_result(nest).is_error) == ("token=abc dug\n", False)
    assert nest.told == ["token=abc dug\n"]


@pytest.mark.parametrize(
    "body", ["error('no')", "return event.x.y", "return {result = print}", "while true do end", r"return {result = '\xff'}"]
)
async def test_case_085_a_failing_handler_leaves_the_result_and_later_ones_run(nest: LuaNest, where: Place, body: str) -> None:
    nest.put(where, on("return {result = 'patched'}") + on(body) + on("tell(event.result)"))
    session = await _dig(nest)
    assert (last_result(nest).text, last_result(nest).is_error) == ("patched", False)
    assert nest.told == ["patched"]
    assert [record["ended"] for record in nest.hooks_of(session, "tool_result")][::2] == ["answered", "passed"]


async def test_case_087_088_a_handled_result_is_patched_too_with_the_arguments_that_were_rewritten(nest: LuaNest, where: Place) -> None:
    code = "cru.on('pre_tool_call', {priority = 1}, function() return {args = {command = 'echo gold'}} end)\n"
    code += "cru.on('pre_tool_call', {pattern = 'bash', priority = 2}, function(ctx, event) return {handled = true, result = 'out'} end)\n"
    nest.put(where, code + on("tell(event.result, event.args.command) return {result = 'patched'}"))
    await _dig(nest)
    assert nest.told == [["out", "echo gold"]]
    assert last_result(nest).text == "patched"


async def test_case_088_the_arguments_are_those_that_ran(nest: LuaNest, where: Place) -> None:
    nest.put(where, "cru.on('pre_tool_call', function() return {args = {command = 'echo gold'}} end)\n" + on("tell(event.args.command)"))
    await _dig(nest)
    assert nest.told == ["echo gold"]


async def test_case_089_a_handler_sees_the_whole_result(nest: LuaNest, where: Place) -> None:
    nest.put(where, on("tell(#event.result) if #event.result > 900000 then return {result = event.result .. '!'} end"))
    (nest.workspace / "big").write_text("x" * 1_000_000)
    session = await _dig(nest, bash("cat big"))
    assert nest.told[0] >= 1_000_000
    (spilled,) = (nest.folder / "sessions" / session.id / "results").iterdir()
    assert spilled.read_text().endswith("x!")
    assert len(last_result(nest).text) < 100_000


async def test_a_failed_tool_is_an_error_that_can_be_taken_away(nest: LuaNest, where: Place) -> None:
    nest.put(where, on("tell(event.result, event.error ~= nil) return {error = cru.json.null, result = 'never mind'}"))
    await _dig(nest, {"tools": [{"name": "read", "args": {"path": "nowhere"}}]})
    assert nest.told == [["", True]]
    assert (last_result(nest).text, last_result(nest).is_error) == ("never mind", False)


async def test_a_result_that_is_not_utf8_is_readable_text_for_a_handler(nest: LuaNest, where: Place) -> None:
    nest.put(where, on("tell(utf8.len(event.result) ~= nil) return {result = event.result .. '.'}"))
    await _dig(nest, bash(r"printf 'a\377b'"))
    assert nest.told == [True]
    assert last_result(nest).text.endswith("b.")
