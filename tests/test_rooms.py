"""The rooms of the project: their order, what each says of itself, and what starting the command line loads."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "treblehook"
CONTRACTS = ("crucible", "murmur", "vera", "claude")
# The core's three dependencies, what rich needs, and what msgspec uses where it happens to be installed.
CORE_LIBRARIES = {"click", "msgspec", "rich", "markdown_it", "mdurl", "pygments", "typing_extensions"}


def contract_words(text: str) -> list[str]:
    """The words of a text that begin with a contract's name; ``some_VeraHook`` has one, ``several`` has none."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)
    return [word for word in words if word.lower().startswith(CONTRACTS)]


def loaded_by(statement: str) -> set[str]:
    """The top-level modules that a fresh interpreter loads for a statement, beyond those of an empty one."""

    def loaded(code: str) -> set[str]:
        run = subprocess.run(
            [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"], capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
        return {module.partition(".")[0] for module in run.stdout.split()}

    return loaded(statement) - loaded("pass")


def test_rooms_import_downwards_only() -> None:
    linter = Path(sys.executable).with_name("lint-imports")

    run = subprocess.run([linter, "--no-logo", "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stdout + run.stderr


def test_every_room_says_what_lives_there() -> None:
    # A folder between the package and a module counts too: without an __init__.py the linter would not see what is below it.
    rooms = {folder for path in PACKAGE.rglob("*.py") for folder in path.parents if folder.is_relative_to(PACKAGE)}
    silent = []
    for room in rooms:
        init = room / "__init__.py"
        docstring = ast.get_docstring(ast.parse(init.read_text())) if init.exists() else None
        if not re.match(r"\S+ \S.*?\.(\s|$)", docstring or "", re.DOTALL):
            silent.append(str(init.relative_to(ROOT)))

    assert sorted(silent) == []


def test_the_command_line_loads_no_library_but_the_core_ones() -> None:
    loaded = loaded_by("import treblehook.cli.main")

    assert "treblehook" in loaded
    assert loaded - {"treblehook"} - CORE_LIBRARIES - sys.stdlib_module_names == set()


@pytest.mark.parametrize("text", ["vera", "on_vera_answer", "VeraHook", "CLAUDE_CODE", "claude-x-1", "Crucible's", "murmurs"])
def test_a_contract_name_is_found(text: str) -> None:
    assert contract_words(text) != []


@pytest.mark.parametrize("text", ["several", "coverage", "anthropic", "overall", "VERSION"])
def test_another_word_is_no_contract_name(text: str) -> None:
    assert contract_words(text) == []


def test_the_agent_names_no_contract() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in (PACKAGE / "agent").rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if contract_words(line) or contract_words(path.stem)
    }

    assert found == set()
