"""A test that runs a system program says so, and is skipped where the program is missing or too old; CI skips nothing."""

import os
import shutil
import subprocess
from typing import NoReturn

import pytest


def needs(*tools: str) -> pytest.MarkDecorator:
    """Mark a test, a class or, as ``pytestmark``, a module whose tests run these programs from PATH."""
    return pytest.mark.needs(*tools)


def require(*tools: str) -> None:
    """Skip the running test, from its body or a fixture, when a program is missing; fail it when CI=true."""
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        _lacking(f"not on PATH: {', '.join(missing)}")


def require_node(least: int, path: str) -> None:
    """Skip the running test where the first Node on `path` is older than the major version `least`; fail it when CI=true."""
    node = shutil.which("node", path=path)
    if node is None:
        _lacking("not on PATH: node")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if int(version.removeprefix("v").partition(".")[0]) < least:
        _lacking(f"{node} is {version}, and {least} or newer is needed")


def _lacking(reason: str) -> NoReturn:
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
