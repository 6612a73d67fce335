"""What is shipped is what the sources say: every component is built again, and is the same byte for byte."""

from importlib.metadata import version

import pytest

from treblehook.contracts.murmur.authoring.building import build_component
from treblehook.contracts.murmur.authoring.project import read_project
from treblehook.contracts.murmur.shipped import shipped_hooks

COMPILER = "0.17.1"
"""The version of ziglang that made them; `make hooks` makes them anew."""
NAMES = ("compact", "debug", "eval", "memory", "otlp", "protect-shell", "protect-tool", "shell-desc")


def test_they_are_all_there() -> None:
    assert tuple(shipped_hooks()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_component_is_that_of_its_source(name: str) -> None:
    pytest.importorskip("ziglang")
    if version("ziglang") != COMPILER:
        pytest.skip(f"built with ziglang {COMPILER}, and this is {version('ziglang')}")
    project = read_project(shipped_hooks()[name])

    assert project.manifest.name == name
    assert build_component(project) == (project.folder / project.component).read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_a_component_is_small(name: str) -> None:
    folder = shipped_hooks()[name]

    assert (folder / f"{name}.wasm").stat().st_size < 96 * 1024
    assert not list(folder.glob("*.zip"))
