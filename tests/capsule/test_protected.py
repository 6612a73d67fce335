"""In a capsule nobody can be asked about a protected path, so it is denied; the workdir of a launch is its own, wherever it lies."""

from pathlib import Path

import pytest

from tests.support.capsule_rig import CapsuleRig, call, calls


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))


async def test_what_is_protected_is_denied(rig: CapsuleRig) -> None:
    config = rig.home.folder / "config.toml"
    config.write_text("")
    rig.plays(
        calls(
            call("bash", command=f"echo > {config}"),
            call("write", path=".claude/settings.json", content="{}"),
            call("bash", command="echo > ~/.codex-is-no-place"),
            call("bash", command=f"cat {config}"),
            call("echo", command=f"see {config}"),
            call("write", path="map", content="x"),
        ),
        {"text": "Done."},
    )

    await rig.launch()

    results = rig.results()
    assert [result["is_error"] for result in results] == [True, True, False, False, False, False]
    assert all("protected" in result["content"] and "nobody can be" in result["content"] for result in results[:2])


async def test_what_the_home_allows_by_name_is_not(rig: CapsuleRig) -> None:
    (rig.home.folder / "config.toml").write_text('[permissions]\nallow = ["bash", "write(.claude/*)"]\n')
    rig.plays(
        calls(call("write", path=".claude/settings.json", content="{}"), call("bash", command="echo > .claude/settings.json")),
        {"text": "Done."},
    )

    await rig.launch()

    assert [result["is_error"] for result in rig.results()] == [False, True]


async def test_a_workdir_in_the_home_is_the_capsules_own(rig: CapsuleRig) -> None:
    rig.given_workdir = rig.home.folder / "work" / "digger"
    rig.given_workdir.mkdir(parents=True)
    rig.plays(
        calls(
            call("write", path="map", content="x"),
            call("bash", command="echo gold > treasure"),
            call("bash", command="echo gold > ../treasure"),
        ),
        {"text": "Done."},
    )

    await rig.launch()

    assert [result["is_error"] for result in rig.results()] == [False, False, True]
