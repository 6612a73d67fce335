"""`cru.storage` in real machines."""

import pytest

from tests.contracts.crucible.library.conftest import Rig
from treblehook.contracts.crucible.caller import Caller
from treblehook.contracts.crucible.library import StorageFile


async def test_values_stay_as_they_were(rig: Rig) -> None:
    assert await rig.run("""
        cru.storage.set('k', {list = {1, 2.5, 'x'}, bytes = '\\xff', yes = true, nested = {a = {}}})
        local v = cru.storage.get('k')
        return v.list, v.bytes, v.yes, math.type(v.list[1]), math.type(v.list[2]), type(v.nested.a), cru.storage.get('no') == nil
    """) == [[1, 2.5, "x"], b"\xff", True, "integer", "float", "table", True]


async def test_another_machine_sees_what_was_stored(rig: Rig) -> None:
    await rig.run("cru.storage.set('k', 'kept')")
    again = rig.with_services(storage=StorageFile(rig.services.state / "storage.db"))  # type: ignore[operator]
    assert await again.run("return cru.storage.get('k')") == "kept"
    await again.close()


async def test_keys(rig: Rig) -> None:
    assert await rig.run("""
        for _, key in ipairs{'note/b', 'note/a', 'other', 'note/deep/x'} do cru.storage.set(key, key:upper()) end
        local gone, again = cru.storage.delete('other'), cru.storage.delete('other')
        return cru.storage.list(), cru.storage.list('note/d'), cru.storage.find('note/*'), gone, again, cru.storage.find('none')
    """) == [["note/a", "note/b", "note/deep/x"], ["note/deep/x"], {"note/a": "NOTE/A", "note/b": "NOTE/B"}, True, False, {}]


@pytest.mark.parametrize(
    "callers",
    [
        (Caller(owner="a", hook="a"), Caller(owner="b", hook="b")),
        (Caller(owner="a", hook="a"), Caller(hook="init.lua")),
        (Caller(session="s1", hook="workspace init.lua"), Caller(session="s2", hook="workspace init.lua")),
    ],
)
async def test_each_owner_has_its_own(rig: Rig, callers: tuple[Caller, Caller]) -> None:
    for caller in callers:
        await rig.run("cru.storage.set('k', ...)", str(caller), caller=caller)
    assert [await rig.run("return cru.storage.get('k')", caller=caller) for caller in callers] == [str(caller) for caller in callers]


async def test_it_works_while_a_plugin_is_loaded(rig: Rig) -> None:
    assert rig.run_now("cru.storage.set('k', 1); return cru.storage.get('k')") == 1


async def test_a_host_without_a_place_says_so(rig: Rig) -> None:
    nowhere = rig.with_services(storage=None)
    assert "this host has no place to store anything" in await nowhere.refused("cru.storage.set('k', 1)")
    await nowhere.close()
