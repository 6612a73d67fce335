"""`treblehook hooks fire --component`: one event at one component, without a home."""

import json
from pathlib import Path

from tests.support.command_home import CommandHome
from tests.support.murmur_guests import NONE, Arm, Errs, hook


def component(folder: Path, answer: Arm | Errs, **manifest: str) -> Path:
    folder.mkdir()
    lines = {"name": "guard", "version": '"1.0.0"', "runtime": "hook", "binding": "on-shell", **manifest}
    (folder / "murmur.yaml").write_text("".join(f"{key}: {value}\n" for key, value in lines.items()))
    (folder / "hook.wasm").write_bytes(hook({"on-shell": answer}))
    return folder


def test_a_policy_that_denies(home: CommandHome, tmp_path: Path) -> None:
    guard = component(tmp_path / "guard", Arm("deny", "no digging"), commit_policy="deny")

    fired = home.run("hooks", "fire", "on-shell", "--component", str(guard), "--input", '{"command": "rm x"}')

    assert fired.status == 3
    assert "guard (on-shell) answered deny: no digging" in fired.out
    assert "would be refused" in fired.out


def test_one_that_passes_and_one_that_fails(home: CommandHome, tmp_path: Path) -> None:
    passes = component(tmp_path / "passes", NONE, commit_policy="deny")
    fails = component(tmp_path / "fails", Errs("boom"))

    passed = home.run("hooks", "fire", "on-shell", "--component", str(passes))
    failed = home.run("hooks", "fire", "on-shell", "--component", str(fails), "--output", "jsonl")

    assert passed.status == 0
    assert "answered none" in passed.out
    assert failed.status == 0
    assert json.loads(failed.out)["error"] == "boom"


def test_what_cannot_be_asked_is_told(home: CommandHome, tmp_path: Path) -> None:
    (tmp_path / "text.wasm").write_text("no component")
    guard = component(tmp_path / "guard", NONE)

    assert home.run("hooks", "fire", "on-shell", "--component", str(tmp_path / "text.wasm")).status == 2
    unheard = home.run("hooks", "fire", "pre_turn", "--component", str(guard))
    assert unheard.status == 2
    assert "no function of a component is called" in unheard.err
