"""A plugin with test files, and what a run of them comes to."""

from pathlib import Path

import pytest

from treblehook.contracts.crucible.plugins.discovery import FoundPlugin, find_plugin
from treblehook.contracts.crucible.testing.results import TestResult
from treblehook.contracts.crucible.testing.runner import run_tests


class TestedPlugin:
    """`folder` is the plugin's."""

    __test__ = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write("init.lua", "")

    def write(self, path: str, text: str) -> Path:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def run(self, text: str = "", *, init: str | None = None, only: str = "", real_seconds: float = 30.0) -> list[TestResult]:
        """Write one test file, and run all."""
        if text:
            self.write("tests/a_test.lua", text)
        if init is not None:
            self.write("init.lua", init)
        found = find_plugin(self.folder)
        assert isinstance(found, FoundPlugin)
        results: list[TestResult] = []
        run_tests(found, self.folder, lambda name: only in name, results.append, real_seconds)
        return results

    def only(self, body: str, *, init: str | None = None) -> TestResult:
        """The result of a single test with this body."""
        [result] = self.run(f'it("t", function()\n{body}\nend)', init=init)
        return result

    def passes(self, body: str, *, init: str | None = None) -> None:
        """A test with this body passes."""
        result = self.only(body, init=init)
        assert (result.status, result.message, result.expected, result.actual) == ("passed", "", None, None)


@pytest.fixture
def plugin(tmp_path: Path) -> TestedPlugin:
    return TestedPlugin(tmp_path / "digger")
