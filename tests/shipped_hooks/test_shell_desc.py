"""shell-desc: manifests for the binaries that it knows."""

import yaml

from tests.shipped_hooks.conftest import ShippedRig
from treblehook.lifecycle import Stage, WriteManifests


async def test_allowed_binaries_that_are_known_are_described(rig: ShippedRig) -> None:
    rig.ship("shell-desc")
    await rig.stage()
    outcome = await rig.fire(Stage(shell_allow=("rg", "a-program-that-nobody-has", "git")))

    decision = outcome.contributions[0].decision
    assert isinstance(decision, WriteManifests)
    manifests = {one.binary: yaml.safe_load(one.content) for one in decision.manifests}
    assert list(manifests) == ["rg", "git"]
    assert all(manifest["name"] == binary and manifest["runtime"] == "tool" for binary, manifest in manifests.items())
    assert "pattern" in manifests["rg"]["description"]


async def test_where_none_is_known_nothing_is_written(rig: ShippedRig) -> None:
    rig.ship("shell-desc")
    await rig.stage()

    assert (await rig.fire(Stage(shell_allow=("a-program-that-nobody-has",)))).contributions == ()
