"""CI runs every test: tests/support/needs.py and tests/support/nothing_skipped.py."""

from pathlib import Path

import pytest

from tests.support.needs import require, require_node
from tests.support.nothing_skipped import NothingSkipped

MISSING = "a-program-that-nobody-has"
# A session that ends takes the signal handlers back that faulthandler found, and those of wasmtime with them.
BARE = ("-p", "no:asyncio", "-p", "no:faulthandler")


@pytest.mark.parametrize(
    "body",
    [
        "@pytest.mark.skip\ndef test_one(): pass",
        "def test_one(): pytest.skip('no reason')",
        "@pytest.mark.xfail\ndef test_one(): assert False",
        "@pytest.mark.xfail\ndef test_one(): pass",
        "pytest.importorskip('a_module_that_nobody_has')",
    ],
)
def test_a_skipped_test_fails_the_session_and_is_named(pytester: pytest.Pytester, body: str) -> None:
    path = pytester.makepyfile(f"import pytest\n{body}\ndef test_two(): pass")

    result = pytester.runpytest_inprocess(path, *BARE, plugins=[NothingSkipped()])

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.re_match_lines([".*these tests must run and pass.*", rf"{path.name}.*"])


def test_a_session_without_skips_passes(pytester: pytest.Pytester) -> None:
    path = pytester.makepyfile("def test_one(): pass")

    assert pytester.runpytest_inprocess(path, *BARE, plugins=[NothingSkipped()]).ret == pytest.ExitCode.OK


def test_a_missing_program_skips_the_test_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)

    with pytest.raises(pytest.skip.Exception, match=MISSING):
        require("sh", MISSING)


def test_a_missing_program_fails_the_test_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")

    with pytest.raises(pytest.fail.Exception, match=MISSING):
        require("sh", MISSING)


def test_a_program_on_the_path_is_no_reason_to_skip() -> None:
    require("sh")


@pytest.mark.parametrize(("version", "least"), [("v18.20.4", 20), ("v9.0.0", 18)])
def test_a_node_that_is_too_old_skips_the_test_and_is_named(
    version: str, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    node(tmp_path, version)

    with pytest.raises(pytest.skip.Exception, match=f"{version}, and {least}"):
        require_node(least, str(tmp_path))


def test_a_node_that_is_too_old_fails_the_test_in_ci(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    node(tmp_path, "v18.20.4")

    with pytest.raises(pytest.fail.Exception, match=r"v18\.20\.4"):
        require_node(20, str(tmp_path))


def test_a_missing_node_fails_the_test_in_ci(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")

    with pytest.raises(pytest.fail.Exception, match="not on PATH: node"):
        require_node(20, str(tmp_path))


def test_a_node_that_is_new_enough_is_no_reason_to_skip(tmp_path: Path) -> None:
    node(tmp_path, "v20.0.0")

    require_node(20, str(tmp_path))


def node(folder: Path, version: str) -> None:
    """A Node that can say its version."""
    program = folder / "node"
    program.write_text(f"#!/bin/sh\necho {version}\n")
    program.chmod(0o755)
