"""In a capsule the home's own components come first (design, section 3)."""

from pathlib import Path

from tests.support.capsule_rig import CapsuleRig, call, calls
from tests.support.murmur_guests import NONE, Arm, hook


def install(home: Path, name: str, component: bytes, binding: str) -> None:
    """List a policy in the home."""
    folder = home / "artifacts" / name
    folder.mkdir(parents=True)
    (folder / "murmur.yaml").write_text(f'name: {name}\nversion: "1.0.0"\nruntime: hook\nbinding: {binding}\ncommit_policy: deny\n')
    (folder / "hook.wasm").write_bytes(component)
    (home / "config.toml").write_text(f'[[artifacts]]\nname = "{name}"\nruntime = "hook"\nsource = "artifacts/{name}"\n')


async def test_a_policy_of_the_home_guards_a_capsule(rig: CapsuleRig) -> None:
    install(rig.home.folder, "house-rules", hook({"on-shell": Arm("deny", "not in this house")}), "on-shell")
    rig.hook("guard", hook({"on-shell": Arm("deny", "by the capsule")}), binding="on-shell", policy="deny")
    rig.plays(calls(call("bash", command="touch x")), {"text": "Done."})

    await rig.launch()

    assert not (rig.work / "x").exists()
    assert rig.only("call_denied")["hook_name"] == "house-rules"


async def test_both_are_asked_where_the_first_passes(rig: CapsuleRig) -> None:
    install(rig.home.folder, "house-rules", hook({"on-shell": NONE}), "on-shell")
    rig.hook("guard", hook({"on-shell": Arm("deny", "by the capsule")}), binding="on-shell", policy="deny")
    rig.plays(calls(call("bash", command="touch x")), {"text": "Done."})

    await rig.launch()

    assert rig.only("call_denied")["hook_name"] == "guard"
