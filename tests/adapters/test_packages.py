"""The SDKs of the adapters: which versions, where that is written, and what is said where one is missing."""

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from treblehook.adapters import missing
from treblehook.adapters.missing import PACKAGES, check_version

ROOT = Path(__file__).parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SDK_MODULES = {
    "pydantic_ai": "pydantic_ai",
    "langchain": "langchain",
    "openai_agents": "agents",
    "strands": "strands",
    "google_adk": "google.adk",
    "claude_agent_sdk": "claude_agent_sdk",
}


def name_of(requirement: str) -> str:
    return re.split(r"[\[<>=]", requirement, maxsplit=1)[0]


def test_the_tests_install_the_versions_that_the_adapters_name() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    assert set(PACKAGES.values()) <= set(extras["adapters-dev"])


def test_tools_of_both_virtual_environments_have_the_same_versions() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    names = {name_of(requirement) for requirement in extras["dev"]}
    shared = {requirement for requirement in extras["adapters-dev"] if name_of(requirement) in names}
    assert {name_of(requirement) for requirement in shared} >= {"pytest", "mypy"}
    assert shared <= set(extras["dev"])


def test_models_and_adapters_want_the_same_pydantic_ai() -> None:
    [models] = [one for one in PROJECT["project"]["optional-dependencies"]["models"] if one.startswith("pydantic-ai")]
    assert re.sub(r"\[.*\]", "", models) == PACKAGES["pydantic_ai"]


@pytest.mark.parametrize("adapter", sorted(PACKAGES))
def test_a_missing_sdk_is_named_with_what_to_install(adapter: str) -> None:
    code = f"import sys; sys.modules[{SDK_MODULES[adapter]!r}] = None; import treblehook.adapters.{adapter}"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = ran.stderr.strip().splitlines()[-1]
    assert last.startswith("treblehook.adapters.missing.SdkMissing: ")
    assert last.endswith(f"pip install '{PACKAGES[adapter]}'")


@pytest.mark.parametrize(
    ("found", "good"), [("1.2.17", False), ("1.2.18", True), ("1.10", True), ("2.0.0rc1", False), ("1.2.18.post1", True), ("0.9", False)]
)
def test_an_untested_version_is_an_error_that_names_it(found: str, good: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(missing, "version", lambda name: found)
    if good:
        check_version("langchain")
    else:
        with pytest.raises(ImportError, match=f"langchain {found} is installed"):
            check_version("langchain")


def test_every_adapter_has_tests_with_its_sdk() -> None:
    found = {path.stem.removeprefix("test_") for path in (Path(__file__).parent / "sdks").glob("test_*.py")}
    assert found >= set(PACKAGES)


def test_one_module_an_adapter() -> None:
    for adapter in PACKAGES:
        assert importlib.util.find_spec(f"treblehook.adapters.{adapter}") is not None
