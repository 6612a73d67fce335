"""The error of an adapter whose SDK is not installed, or not in a version that it is tested with."""

import re
from importlib.metadata import PackageNotFoundError, version
from typing import Final

PACKAGES: Final = {
    "pydantic_ai": "pydantic-ai-slim>=2.68,<3",
    "langchain": "langchain>=1.2.18,<2",
    "openai_agents": "openai-agents>=0.24,<1",
    "strands": "strands-agents>=1.62,<2",
    "google_adk": "google-adk>=2.13,<3",
    "claude_agent_sdk": "claude-agent-sdk>=0.2.189,<1",
}
"""Which versions of its SDK each adapter is tested with."""


class SdkMissing(ImportError):
    """The SDK of `adapter`, or something that it needs, is not installed in a version for it; `package` is what to install."""

    def __init__(self, adapter: str, error: ImportError) -> None:
        self.adapter = adapter
        self.package = PACKAGES[adapter]
        super().__init__(f"treblehook.adapters.{adapter} needs its SDK ({error}): pip install '{self.package}'")


def check_version(adapter: str) -> None:
    """Raises ImportError where another version of the SDK is installed than the adapter is tested with: hooks might not hold there."""
    name, least, below = re.split(r">=|,<", PACKAGES[adapter])
    try:
        found = version(name)
    except PackageNotFoundError:
        # A bundle may have left the metadata out.
        return
    if not _numbers(least) <= _numbers(found) < _numbers(below):
        raise ImportError(f"{name} {found} is installed")


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", release)))
