"""The error of an adapter whose SDK is not installed."""

from typing import Final

PACKAGES: Final = {
    "pydantic_ai": "pydantic-ai-slim>=2.68,<3",
    "langchain": "langchain>=1.2,<2",
    "openai_agents": "openai-agents>=0.24,<1",
    "strands": "strands-agents>=1.62,<2",
    "google_adk": "google-adk>=2.13,<3",
    "claude_agent_sdk": "claude-agent-sdk>=0.2.189,<1",
}
"""Which versions of its SDK each adapter is tested with."""


class SdkMissing(ImportError):
    """The SDK of `adapter`, or something that it needs, is not installed; `package` is what to install."""

    def __init__(self, adapter: str, error: ImportError) -> None:
        self.adapter = adapter
        self.package = PACKAGES[adapter]
        super().__init__(f"treblehook.adapters.{adapter} needs its SDK ({error}): pip install '{self.package}'")
