"""What `import treblehook` offers, and what it loads."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import treblehook
from treblehook import lifecycle

HEAVY = ("treblehook.engine", "treblehook.agent", "treblehook.home", "treblehook.runtimes", "msgspec", "asyncio")


def loaded_after(code: str) -> set[str]:
    run = subprocess.run([sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_importing_it_loads_nothing_else() -> None:
    assert not {"treblehook.lifecycle", *HEAVY} & loaded_after("import treblehook")


def test_binding_hooks_loads_no_agent() -> None:
    loaded = loaded_after("from treblehook import Hooks, PreToolCall, Block")

    assert "treblehook.engine" in loaded
    assert not {module for module in loaded if module.startswith(("treblehook.agent", "treblehook.home", "treblehook.api"))}


def test_a_program_loads_no_model_library_and_no_screen() -> None:
    loaded = loaded_after("from treblehook import Home, run\nfrom treblehook.workflow import workflow")

    assert not {"rich", "click", "pydantic", "pydantic_ai", "mcp", "httpx"} & loaded


@pytest.mark.parametrize("name", treblehook.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(treblehook, name) is not None
    assert name in dir(treblehook)


def test_type_checkers_see_the_same_names() -> None:
    source = ast.parse(Path(treblehook.__file__).read_text())
    [block] = [node for node in source.body if isinstance(node, ast.If)]
    seen = {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}

    assert seen == set(treblehook.__all__) - {"__version__"}


def test_every_event_decision_and_value_is_public() -> None:
    inner = {"ROWS", "Accepts", "Fold", "Keep"}

    assert set(lifecycle.__all__) - inner <= set(treblehook.__all__)


def test_a_name_that_there_is_not() -> None:
    with pytest.raises(AttributeError, match="'treblehook' has no attribute 'Hook'"):
        treblehook.Hook  # noqa: B018


def test_the_rooms_can_still_be_imported_by_name() -> None:
    loaded_after("import treblehook.lifecycle\ntreblehook.lifecycle.ROWS\nimport treblehook\nfrom treblehook import engine")
