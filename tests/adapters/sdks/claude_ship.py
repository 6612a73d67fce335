"""Claude Code as the SDK for it starts it, in a throw-away HOME, against a scripted model on loopback."""

import json
import os
from collections.abc import AsyncIterable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import AssistantMessage, ClaudeAgentOptions, ClaudeSDKClient, ResultMessage, SdkMcpTool, create_sdk_mcp_server, tool

from tests.support.fake_model import FakeModel, fake_model
from treblehook import Home, Hooks
from treblehook.adapters.claude_agent_sdk import TreblehookGuard

__all__ = ["REPLY", "Ship", "fake_model", "ship"]

QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
    "IS_SANDBOX": "1",
    "LANG": "C.UTF-8",
}
Prompt = str | AsyncIterable[dict[str, Any]]
REPLY = "Done."
"""What the model says once the script has run out."""


class Ship:
    """Claude Code with a guard, a folder to work in, and a model that makes `calls` first."""

    def __init__(self, folder: Path, model: FakeModel) -> None:
        self.folder = folder
        self.model = model
        self.reply = ""
        self.shouted: list[str] = []

    def play(self, *calls: tuple[str, dict[str, Any]]) -> None:
        """Make each call in a reply of its own."""
        self.model.play([{"tools": [{"name": name, "args": given}]} for name, given in calls])

    def options(self, guard: TreblehookGuard | None, **more: Any) -> ClaudeAgentOptions:
        server = create_sdk_mcp_server("ship", tools=[self._shout()])
        allowed = more.pop("allowed_tools", ["Bash", "Read", "Write", "mcp__ship__shout"])
        hooks = more.pop("hooks", None) or (guard.matchers() if guard is not None else None)
        return ClaudeAgentOptions(
            cwd=self.folder, hooks=hooks, allowed_tools=allowed, mcp_servers={"ship": server}, setting_sources=["project"], **more
        )

    def _shout(self) -> SdkMcpTool[Any]:
        @tool("shout", "Say it loudly", {"text": str})
        async def shout(given: dict[str, Any]) -> dict[str, Any]:
            self.shouted.append(given["text"])
            return {"content": [{"type": "text", "text": given["text"].upper()}]}

        return shout

    async def run(self, hooks: Hooks | Home, prompts: Sequence[Prompt] = ("hello",), **more: Any) -> None:
        """One conversation, and the guard closed at its end."""
        guard = TreblehookGuard(hooks, self.folder)
        await self.talk(self.options(guard, **more), prompts)
        await guard.close()

    async def talk(self, options: ClaudeAgentOptions, prompts: Sequence[Prompt] = ("hello",)) -> None:
        async with ClaudeSDKClient(options) as client:
            for prompt in prompts:
                await client.query(prompt)
                async for message in client.receive_response():
                    if isinstance(message, ResultMessage):
                        self.reply = message.result or ""
                    assert not isinstance(message, AssistantMessage) or message.error is None, message

    def requests(self) -> list[str]:
        """What the model was asked where tools were offered, request by request."""
        return [json.dumps(row["body"]["messages"]) for row in self.model.requests() if row.get("route", "aux") != "aux"]


@pytest.fixture
def ship(tmp_path: Path, fake_model: Callable[[object], FakeModel], monkeypatch: pytest.MonkeyPatch) -> Ship:
    model = fake_model([])
    for name in os.environ:
        if name != "PATH":
            monkeypatch.delenv(name)
    own = {"HOME": str(tmp_path / "nobody"), "ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "sk-ant-dummy"}
    for name, value in (QUIET | own).items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "folder"
    for path in (folder, tmp_path / "nobody"):
        path.mkdir()
    return Ship(folder, model)
