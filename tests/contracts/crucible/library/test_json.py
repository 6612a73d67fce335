"""`cru.json` in a real machine."""

import pytest

from tests.contracts.crucible.library.conftest import Rig


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("{a = 1, b = {1, 2.5, 'x'}}", '{"a":1,"b":[1,2.5,"x"]}'),
        ("{}", "{}"),
        ("cru.json.array({})", "[]"),
        ("{list = cru.json.array({})}", '{"list":[]}'),
        ("cru.json.null", "null"),
        ("nil", "null"),
        ("{1, cru.json.null}", "[1,null]"),
        ("{a = cru.json.null}", '{"a":null}'),
        ("'é'", '"é"'),
        ("9223372036854775807", "9223372036854775807"),
        ("3.0", "3.0"),
        ("{[3] = 'x'}", '{"3":"x"}'),
        ("true", "true"),
    ],
)
async def test_encode(rig: Rig, value: str, text: str) -> None:
    assert await rig.run(f"return cru.json.encode({value})") == text


async def test_decode(rig: Rig) -> None:
    assert await rig.run("""
        local t = cru.json.decode('{"a":null,"list":[1,null],"n":1,"f":1.0,"empty":[]}')
        return t.a == nil, t.list[2] == cru.json.null, math.type(t.n), math.type(t.f), cru.json.encode(t.empty),
            cru.json.decode('null') == cru.json.null
    """) == [True, True, "integer", "float", "[]", True]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("cru.json.encode(print)", "cru.json.encode: "),
        ("cru.json.encode({a = {print}})", "`a[1]`"),
        ("cru.json.encode({a = 0/0})", "`a`"),
        ("cru.json.encode('\\xff')", "not UTF-8"),
        ("cru.json.decode('{')", "cru.json.decode: "),
        ("cru.json.decode('18446744073709551616')", "does not fit"),
        ("cru.json.decode('\"\\xff\"')", "UTF-8"),
        ("cru.json.decode(nil)", "argument 1 (`text`) is nil"),
        ("cru.json.decode(('['):rep(150) .. (']'):rep(150))", "deeper"),
        ("cru.json.encode((function() local t = {}; for i = 1, 150 do t = {t} end; return t end)())", "deeper"),
    ],
)
async def test_what_has_no_counterpart_raises(rig: Rig, call: str, said: str) -> None:
    message = await rig.refused(f"local x = {call}")
    assert said in message


async def test_a_cycle_raises(rig: Rig) -> None:
    assert "contains itself" in await rig.refused("local t = {}; t.t = t; local x = cru.json.encode(t)")


async def test_as_deep_as_json_may_be_there_and_back(rig: Rig) -> None:
    assert await rig.run("local text = ('['):rep(98) .. (']'):rep(98); return cru.json.encode(cru.json.decode(text)) == text")


async def test_it_works_where_nothing_may_wait(rig: Rig) -> None:
    assert rig.run_now("return cru.json.encode(cru.json.decode('[1]'))") == "[1]"
