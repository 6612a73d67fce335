"""From a project to a package, and what is said of a project that cannot be built."""

import re
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.support.hook_projects import AUTHORING, project
from tests.support.murmur_rig import SHELL_GATE
from treblehook.contracts.murmur.artifact import read_artifact
from treblehook.contracts.murmur.authoring import tools
from treblehook.contracts.murmur.authoring.building import build
from treblehook.contracts.murmur.authoring.errors import BuildFailed
from treblehook.contracts.murmur.authoring.firing import fire_component
from treblehook.runtimes.wasm import WasmRuntime

C = """
#include "lifecycle.h"
hook_answer on_shell(const shell_event *event) { return event->argv.count > 1 ? hook_deny(event->argv.items[1]) : hook_pass(); }
"""


def failure(folder: Path) -> str:
    """What is said of a project, without the folder's place."""
    with pytest.raises(BuildFailed) as caught:
        build(folder)
    assert not list(folder.glob("*.wasm"))
    assert not list(folder.glob("*.zip"))
    return str(caught.value).replace(f"{folder}/", "").replace(str(folder), "DIR")


async def test_a_hook_in_c_is_built_and_answers(tmp_path: Path, runtime: WasmRuntime) -> None:
    pytest.importorskip("ziglang")
    folder = project(tmp_path, C, file="hook.c", binding="on-shell", commit_policy="deny", requires_files="[lookout.wasm, words.txt]")
    (folder / "words.txt").write_text("x")

    made = build(folder)

    assert (made.component, made.package) == (folder / "lookout.wasm", folder / "lookout-1.0.0.mur.zip")
    with zipfile.ZipFile(made.package) as archive:
        assert archive.namelist() == ["murmur.yaml", "lookout.wasm", "words.txt"]
    assert read_artifact(made.package, "lookout", "1.0.0").payload == made.component.read_bytes()
    for path in (made.package, made.component, folder):
        answer = await fire_component(path, SHELL_GATE, runtime)
        assert (answer.hook, answer.arm, answer.value, answer.refuses) == ("lookout", "deny", "rm x", True)


def test_the_same_project_makes_the_same_package(tmp_path: Path) -> None:
    pytest.importorskip("ziglang")
    packages = [build(project(tmp_path / name, C, file="hook.c")).package.read_bytes() for name in ("one", "two")]

    assert packages[0] == packages[1]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("hook_answer on_shell(int x);", r"hook.c: it does not compile:\n.*unknown type name 'hook_answer'.*mend it and build again"),
        ('#include "lifecycle.h"\nvoid missing(void);\n'
         "hook_answer on_shell(const shell_event *e) { missing(); return hook_pass(); }",
         r"hook.c: it does not compile:\n.*undefined symbol: missing.*"),
        ('#include "lifecycle.h"\nIMPORT("wasi:sockets/tcp@0.2.0", "x") void x(void);\n'
         "hook_answer on_shell(const shell_event *e) { x(); return hook_pass(); }",
         r"hook.c: no component can be made of it: it imports wasi:sockets/tcp@0.2.0, which is not served; use what lifecycle.h declares"),
    ],
)  # fmt: skip
def test_c_that_is_wrong_is_told(tmp_path: Path, source: str, said: str) -> None:
    pytest.importorskip("ziglang")

    assert re.fullmatch(said, failure(project(tmp_path, source, file="hook.c")), re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("x = 1\nx = (", "hook.py: line 2: it does not import: SyntaxError: '(' was never closed; mend it and build again"),
        ("import words", "words.py: line 2: it does not import: ModuleNotFoundError: No module named 'a_module_that_nobody_has'; mend it"),
        ("def on_shel(event): pass", "hook.py: on_shel: the contract has no such function; it has on_stage, "),
    ],
)
def test_python_that_is_wrong_is_told(tmp_path: Path, source: str, said: str) -> None:
    pytest.importorskip("componentize_py")
    (tmp_path / "words.py").write_text("\nimport a_module_that_nobody_has\n")

    assert failure(project(tmp_path, source, binding="on-shell")).startswith(said)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def on_shel(event): pass", "on_shel: the contract has no such function; it has on_stage, "),
        ("x = 1", "it has none of the functions on_stage, "),
        (
            "def on_stage(event): pass",
            "on_shell: there is no such function, and the manifest binds the hook to it; write def on_shell(event)",
        ),
        ("on_shell = 3", "on_shell: found int, which is no function; write def on_shell(event)"),
        ("async def on_shell(event): pass", "on_shell: found an async function; write def on_shell(event)"),
        ("def on_shell(): pass", "on_shell: it cannot be called with an event alone: too many positional arguments; write def"),
        (
            "def on_shell(event, more): pass",
            "on_shell: it cannot be called with an event alone: missing a required argument: 'more'; write def",
        ),
    ],
)
def test_functions_of_a_wrong_shape_are_told(source: str, said: str) -> None:
    checks = module("murmur_checks", (AUTHORING / "python" / "murmur_checks.py.txt").read_text())

    with pytest.raises(checks.HookInvalid) as caught:
        checks.checked(module("hook", source), "on_shell")
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    "source", ["def on_shell(event): pass", "def on_shell(event, more=1): pass", "on_shell = print", "def on_shell(*all): pass"]
)
def test_functions_of_a_right_shape_are_taken(source: str) -> None:
    checks = module("murmur_checks", (AUTHORING / "python" / "murmur_checks.py.txt").read_text())

    assert list(checks.checked(module("hook", source), "on_shell")) == ["on_shell"]


def module(name: str, source: str) -> Any:
    made = ModuleType(name)
    exec(source, made.__dict__)
    return made


@pytest.mark.parametrize(("file", "package"), [("hook.py", "componentize-py"), ("hook.c", "ziglang")])
def test_a_compiler_that_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, package: str) -> None:
    monkeypatch.setattr(tools, "find_spec", lambda name: None)

    said = failure(project(tmp_path, "", file=file))

    assert said == f"{file}: {package}, which makes a component of it, is not installed; pip install 'treblehook[wasm-build]'"


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ({"name": "Look_out"}, "murmur.yaml: name: found 'Look_out'; allowed: 1 to 100 lower-case letters, digits and -"),
        ({"version": "1.0"}, "murmur.yaml: version: found 1.0, which YAML reads as a number; write it in quotes"),
        ({"version": "latest"}, "murmur.yaml: version: found 'latest', which is reserved"),
        ({"version": "../x"}, "murmur.yaml: version: found '../x'; allowed: letters"),
        ({"binding": "on-foo"}, "murmur.yaml: binding: binding: found 'on-foo'; allowed: on-stage, "),
        ({"binding": "on-inference", "commit_policy": "deny"}, "murmur.yaml: commit_policy: commit_policy: deny cannot be honoured"),
        ({"requires_files": "[nothing.txt]"}, "murmur.yaml: requires_files[0]: there is no file 'nothing.txt'"),
        ({"requires_files": "[../x]"}, "murmur.yaml: requires_files[0]: '../x' leads out of the project"),
        ({"requires_files": "x"}, "murmur.yaml: requires_files: found 'x'; allowed: a list of file names"),
    ],
)
def test_a_manifest_that_is_wrong_is_told(tmp_path: Path, manifest: dict[str, str], said: str) -> None:
    assert failure(project(tmp_path, "", **manifest)).startswith(said)


def test_a_folder_without_a_project_is_told(tmp_path: Path) -> None:
    assert failure(tmp_path).startswith("murmur.yaml: it cannot be read: No such file or directory; make a project with")
    project(tmp_path, "")
    (tmp_path / "hook.py").unlink()
    assert failure(tmp_path) == "DIR: there is no hook.py or hook.c; have one of them"
    for name in ("hook.py", "hook.c"):
        (tmp_path / name).write_text("")
    assert failure(tmp_path) == "DIR: there is hook.py and hook.c; have one of them"
