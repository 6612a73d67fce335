"""Staging: what keeps a launch from beginning, and what on-stage hooks write (murmur.md 2, 6.4, cases 16 to 34)."""

import zipfile
from pathlib import Path

import pytest

from tests.support.capsule_rig import CapsuleRig, call, calls
from tests.support.murmur_guests import Arm, Errs, counted, hook
from treblehook.contracts.murmur.errors import ArtifactInvalid, HookConfigInvalid, HookUnusable, StagingFailed
from treblehook.host.problems import ConfigInvalid


def manifests(*pairs: tuple[str, str]) -> bytes:
    return hook({"on-stage": Arm("write-manifests", list(pairs))})


async def not_staged(rig: CapsuleRig, *kinds: type[Exception]) -> str:
    """What a launch that could not be staged says; nothing is left of it and nothing ran."""
    with pytest.raises(kinds or (StagingFailed,)) as caught:
        await rig.launch()
    assert not (rig.place / "workdir").exists()
    assert rig.queries == []
    assert rig.ears.records == []
    return str(caught.value)


@pytest.mark.parametrize("runtime", ["tool", "driver", "skill"])
async def test_case_016_overflow_belongs_to_hooks(rig: CapsuleRig, runtime: str) -> None:
    rig.manifest["artifacts"] = [{"name": "spade", "version": "1.0.0", "runtime": runtime, "on_overflow": "block"}]

    told = await not_staged(rig, ConfigInvalid)

    assert all(word in told for word in ("artifacts[0].on_overflow", "E-MAN-003", "spade", runtime))


async def test_case_016_overflow_is_one_of_two_words(rig: CapsuleRig) -> None:
    rig.hook("guard", hook(), binding="on-shell", entry={"on_overflow": "spill"})

    told = await not_staged(rig, ConfigInvalid)

    assert all(word in told for word in ("artifacts[0].on_overflow", "spill", "drop", "block"))


async def test_case_016_overflow_on_a_blocking_hook_has_no_effect(rig: CapsuleRig) -> None:
    rig.hook("guard", hook(), binding="on-shell", entry={"on_overflow": "block"})

    assert (await rig.launch()).exit_status == "ok"


async def test_case_017_one_broken_hook_and_nothing_of_any_other_runs(rig: CapsuleRig) -> None:
    rig.hook("writes", manifests(("bash", "X")), binding="on-stage", policy="write-manifests")
    rig.hook("broken", hook(), binding="on-foo")

    told = await not_staged(rig, HookConfigInvalid)

    assert "hook broken@1.0.0 invalid config" in told
    assert rig.compiled == []


async def test_case_018_what_a_hook_grants_itself_counts_for_nothing(rig: CapsuleRig) -> None:
    own = "capabilities:\n  filesystem: {scope: .}\n  network: {allow: [example.org]}\n"
    rig.hook("greedy", hook(), binding="on-session-start", manifest=own)

    await rig.launch()

    assert rig.manifest["artifacts"][0].get("capabilities") is None
    assert sorted(path.name for path in rig.work.iterdir()) == ["MURMUR.md", "logs", "out", "task.md", "tools", "trace.jsonl"]


@pytest.mark.parametrize("binding", ["on-shell", "on-stage"])
async def test_case_020_a_function_that_every_hook_must_have(rig: CapsuleRig, binding: str) -> None:
    rig.hook("narrow", hook(without=["on-shell"]), binding=binding)

    assert "on-shell" in await not_staged(rig, HookUnusable)


async def test_case_021_the_functions_of_tasks_may_be_missing(rig: CapsuleRig) -> None:
    rig.hook("narrow", hook(without=["on-task-start", "on-task-end"]))

    assert (await rig.launch()).exit_status == "ok"
    assert rig.log("narrow") == []


async def test_case_022_several_components_in_a_package(rig: CapsuleRig) -> None:
    rig.hook("two", hook(), binding="on-shell")
    (rig.place / "hooks" / "two" / "another.wasm").write_bytes(hook())

    told = await not_staged(rig, ArtifactInvalid)

    assert "another.wasm, hook.wasm" in told


async def test_an_artifact_without_a_source_is_the_homes(rig: CapsuleRig) -> None:
    rig.manifest["artifacts"] = [{"name": "guard", "version": "1.0.0", "runtime": "hook"}]
    package = rig.home.folder / "artifacts" / "guard-1.0.0.mur.zip"
    assert str(package) in await not_staged(rig, ArtifactInvalid)
    package.parent.mkdir()
    with zipfile.ZipFile(package, "w") as archive:
        archive.writestr("murmur.yaml", "runtime: hook\nbinding: on-session-start\n")
        archive.writestr("capsule.wasm", hook({"on-session-start": Errs("hello")}))

    await rig.launch()

    assert rig.log("guard") == ["hello"]


async def test_a_packed_capsule_brings_its_artifacts_along(rig: CapsuleRig, tmp_path: Path) -> None:
    rig.hook("guard", hook({"on-session-start": Errs("hello")}), binding="on-session-start")
    rig.write()
    packed = tmp_path / "elsewhere" / "nest-0.1.0.mur.zip"
    packed.parent.mkdir()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in rig.place.rglob("*"):
            if path.is_file():
                archive.write(path, path.relative_to(rig.place))
    rig.packed = packed

    await rig.launch()

    assert rig.log("guard") == ["hello"]
    assert rig.session.parent == packed.parent / "workdir"


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x"])
async def test_a_packed_capsule_that_leads_out_of_itself(rig: CapsuleRig, tmp_path: Path, name: str) -> None:
    packed = rig.packed = tmp_path / "nest.mur.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("murmur.yaml", "name: nest\nversion: 0.1.0\n")
        archive.writestr(name, "x")

    assert "leads out of the package" in await not_staged(rig, ConfigInvalid)
    assert not (tmp_path / "x").exists()


async def test_compiled_code_is_kept_for_the_next_launch(rig: CapsuleRig) -> None:
    rig.hook("guard", hook(), binding="on-shell")

    await rig.launch()
    first, rig.compiled = rig.compiled, []
    await rig.launch()

    assert (first[-1][0], first[-1][1].done) == ("guard", True)
    assert rig.compiled == []
    assert list((rig.home.folder / "cache" / "wasm").glob("*.cwasm"))


# on-stage


async def test_case_024_a_hooks_manifest_takes_the_place_of_the_generic_one(rig: CapsuleRig) -> None:
    rig.sets(capabilities={"shell": {"allow": ["rg"]}})
    rig.hook("writes", manifests(("rg", "X")), binding="on-stage", policy="write-manifests")

    await rig.launch()

    assert (rig.session / "tools" / "rg" / "murmur.yaml").read_text() == "X"
    assert "### rg\n\n```yaml\nX\n```" in (rig.session / "MURMUR.md").read_text()
    assert next(tool for tool in rig.queries[0].tools if tool.name == "rg").description == "X"
    assert rig.log("writes") == []


async def test_case_024_the_model_reads_the_description_of_a_manifest(rig: CapsuleRig) -> None:
    rig.hook("writes", manifests(("bash", "name: bash\ndescription: Digs.\n")), binding="on-stage", policy="write-manifests")

    await rig.launch()

    assert next(tool for tool in rig.queries[0].tools if tool.name == "bash").description == "Digs."


async def test_case_025_the_later_entry_wins(rig: CapsuleRig) -> None:
    for name in ("first", "second"):
        rig.hook(name, manifests(("bash", name)), binding="on-stage", policy="write-manifests")

    await rig.launch()

    assert (rig.session / "tools" / "bash" / "murmur.yaml").read_text() == "second"


async def test_case_026_no_manifests_are_written_and_nothing_is_logged(rig: CapsuleRig) -> None:
    rig.hook("writes", manifests(), binding="on-stage", policy="write-manifests")

    await rig.launch()

    assert "Runs the program bash" in (rig.session / "tools" / "bash" / "murmur.yaml").read_text()
    assert rig.log("writes") == []


async def test_case_028_another_arm_is_logged_and_not_traced(rig: CapsuleRig) -> None:
    rig.hook("writes", hook({"on-stage": Arm("replace-context", [])}), binding="on-stage", policy="write-manifests")

    assert (await rig.launch()).exit_status == "ok"

    (line,) = rig.log("writes")
    assert all(word in line for word in ("writes", "on-stage", "replace-context"))
    assert rig.trace("hook_dispatch_error") == []


async def test_case_029_an_error_is_logged_and_the_launch_goes_on(rig: CapsuleRig) -> None:
    rig.hook("writes", hook({"on-stage": Errs("boom")}), binding="on-stage")

    assert (await rig.launch()).exit_status == "ok"
    assert rig.log("writes") == ["boom"]


async def test_case_030_an_unbound_hook_is_not_staged(rig: CapsuleRig) -> None:
    rig.hook("any", hook({"on-stage": Errs("asked")}))

    await rig.launch()

    assert rig.log("any") == []


async def test_case_032_without_the_policy_nothing_is_written(rig: CapsuleRig) -> None:
    rig.hook("writes", manifests(("bash", "X")), binding="on-stage", policy="none")

    await rig.launch()

    assert (rig.session / "tools" / "bash" / "murmur.yaml").read_text() != "X"
    assert rig.log("writes") == []


async def test_case_033_what_an_instance_keeps_at_staging_is_gone_afterwards(rig: CapsuleRig) -> None:
    # The first call of an instance answers none, the second traps.
    body = counted("unreachable") + " (i32.const 64)"
    rig.hook("counts", hook({"on-stage": body, "on-session-start": body, "on-session-end": body}), binding="on-session-start")
    rig.hook("stages", hook({"on-stage": body}), binding="on-stage")

    await rig.launch()
    await rig.launch()

    assert rig.log("counts") == rig.log("stages") == []


@pytest.mark.parametrize("name", ["../../x", "/tmp/treblehook-x", "a/b", "..", ".", "", "a\0b"])
async def test_case_034_a_name_that_is_no_plain_one_is_refused(rig: CapsuleRig, name: str) -> None:
    rig.hook("writes", manifests((name, "X"), ("bash", "Y")), binding="on-stage", policy="write-manifests")

    assert (await rig.launch()).exit_status == "ok"

    (line,) = rig.log("writes")
    assert repr(name) in line
    assert (rig.session / "tools" / "bash" / "murmur.yaml").read_text() == "Y"
    assert sorted(path.name for path in (rig.session / "tools").iterdir()) == ["bash", "echo", "writes"]
    assert not list(rig.folder.rglob("x"))


async def test_hooks_are_no_tools(rig: CapsuleRig) -> None:
    rig.hook("guard", hook(), binding="on-shell")
    rig.plays(calls(call("guard")), {"text": "Done."})

    await rig.launch()

    assert "guard" not in [tool.name for tool in rig.queries[0].tools]
    assert "guard" not in (rig.session / "MURMUR.md").read_text()
    assert "not declared" in rig.results()[0]["content"]
    assert (rig.session / "tools" / "guard" / "murmur.yaml").read_text().startswith("name: guard")


# What hooks are granted


async def test_case_137_a_scope_is_made_in_the_workdir_and_what_is_in_it_stays(rig: CapsuleRig, tmp_path: Path) -> None:
    rig.given_workdir = tmp_path / "given"
    (rig.given_workdir / "hook-state").mkdir(parents=True)
    (rig.given_workdir / "hook-state" / "old").write_text("kept")
    rig.hook("keeps", hook(), binding="on-session-start", entry={"capabilities": {"filesystem": {"scope": "hook-state"}}})
    rig.hook("new", hook(), binding="on-session-start", entry={"capabilities": {"filesystem": {"scope": "other/state"}}})

    await rig.launch()

    assert (rig.work / "hook-state" / "old").read_text() == "kept"
    assert (rig.work / "other" / "state").is_dir()


async def test_case_137_a_file_in_the_way_of_a_scope(rig: CapsuleRig, tmp_path: Path) -> None:
    rig.given_workdir = tmp_path / "given"
    rig.given_workdir.mkdir()
    (rig.given_workdir / "hook-state").write_text("in the way")
    rig.hook("keeps", hook(), binding="on-session-start", entry={"capabilities": {"filesystem": {"scope": "hook-state"}}})

    assert "filesystem.scope: hook-state" in await not_staged(rig, HookUnusable)
    assert not (rig.given_workdir / ".murmur").exists()


@pytest.mark.parametrize("scope", ["/abs", "../x", "a/../../x"])
async def test_case_138_a_scope_that_leads_out(rig: CapsuleRig, scope: str) -> None:
    rig.hook("writes", manifests(("bash", "X")), binding="on-stage", policy="write-manifests")
    rig.hook("greedy", hook(), binding="on-shell", entry={"capabilities": {"filesystem": {"scope": scope}}})

    told = await not_staged(rig, ConfigInvalid)

    assert all(word in told for word in ("artifacts[1].capabilities.filesystem.scope", "E-CAP-002", scope))
