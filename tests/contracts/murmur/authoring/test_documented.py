"""docs/wasm.md: what stands there can be copied and works."""

import re
from pathlib import Path

import pytest

from tests.support.guests import ROOT
from tests.support.hook_projects import built, project
from tests.support.murmur_rig import RAN, SHELL_GATE
from treblehook.contracts.murmur.authoring.building import build
from treblehook.contracts.murmur.authoring.firing import fire_component
from treblehook.contracts.murmur.bindings import HONOURED, Binding, CommitPolicy
from treblehook.contracts.murmur.shipped import shipped_hooks
from treblehook.lifecycle import PreparedCall, ShellGate, ToolCall
from treblehook.runtimes.wasm import WasmRuntime

DOCUMENT = (ROOT / "docs" / "wasm.md").read_text()
TEMPLATE = ROOT / "src" / "treblehook" / "cli" / "hooks" / "templates" / "wasm"
POLICY = {"binding": "on-shell", "commit_policy": "deny"}


def block(language: str, having: str) -> str:
    """The one block of the document in this language that has this text."""
    (found,) = [text for text in re.findall(rf"```{language}\n(.*?)```", DOCUMENT, re.DOTALL) if having in text]
    return str(found)


def command(script: str) -> ShellGate:
    prepared = PreparedCall("bash", script, "/usr/bin/bash", ("-c", script), script=script)
    return ShellGate(call=ToolCall("c1", "bash", {}), prepared=prepared)


def test_the_hook_in_python_is_the_one_that_a_new_project_has() -> None:
    assert block("python", "def on_shell") == (TEMPLATE / "hook.py.txt").read_text()


@pytest.mark.slow
async def test_the_hook_in_python_answers(tmp_path: Path, runtime: WasmRuntime) -> None:
    pytest.importorskip("componentize_py")
    hook = built(project(tmp_path / "lookout", block("python", "def on_shell"), **POLICY))

    assert (await fire_component(hook, command("rm -r treasure"), runtime)).value == "Leave the treasure where it is."
    assert (await fire_component(hook, command("ls treasure"), runtime)).arm == "none"
    assert (await fire_component(hook, RAN, runtime)).arm == "none"


async def test_the_hook_in_c_answers(tmp_path: Path, runtime: WasmRuntime) -> None:
    pytest.importorskip("ziglang")
    folder = project(tmp_path, block("c", "lifecycle.h"), file="hook.c", **POLICY)
    build(folder)

    refused = ShellGate(call=ToolCall("c1", "rm", {}), prepared=PreparedCall("env", "rm x", "/usr/bin/env", ("rm", "x")))
    assert (await fire_component(folder, refused, runtime)).value == "leave the treasure where it is"
    assert (await fire_component(folder, SHELL_GATE, runtime)).arm == "none"


def test_the_table_of_bindings_is_the_contracts() -> None:
    rows = re.findall(r"^\| `(on-[a-z-]+)` \|[^|]*\|([^|]*)\|$", DOCUMENT, re.MULTILINE)
    honoured = {binding.value: policy for binding, policy in HONOURED.items()}

    assert [name for name, _ in rows] == [binding.value for binding in Binding]
    for name, policy in rows:
        assert policy.strip(" `") == ("" if honoured[name] is CommitPolicy.NONE else honoured[name].value)


def test_every_shipped_hook_is_told_of() -> None:
    assert sorted(re.findall(r"^\| `([a-z-]+)` \| (?:all|`on-)", DOCUMENT, re.MULTILINE)) == list(shipped_hooks())
