"""A test that runs a system program says so, and is skipped where the program is missing; CI skips nothing."""

import os
import shutil

import pytest


def needs(*tools: str) -> pytest.MarkDecorator:
    """Mark a test, a class or, as ``pytestmark``, a module whose tests run these programs from PATH."""
    return pytest.mark.needs(*tools)


def require(*tools: str) -> None:
    """Skip the running test, from its body or a fixture, when a program is missing; fail it when CI=true."""
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if not missing:
        return
    reason = f"not on PATH: {', '.join(missing)}"
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
