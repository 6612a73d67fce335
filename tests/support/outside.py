"""A gateway over a home on disk, and the hook calls of a Claude Code session as its captures have them."""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from treblehook.contracts.python import Hooks
from treblehook.gateway.lines import ANSWER_SECONDS
from treblehook.gateway.service import Gateway
from treblehook.home.home import Home

Payload = dict[str, Any]


class Outside:
    """An agent's side of a gateway: `said` are the lines for the operator."""

    def __init__(self, home: Home, gateway: Gateway, workspace: Path, said: list[str]) -> None:
        self.home = home
        self.gateway = gateway
        self.workspace = workspace
        self.said = said

    async def raw(self, event: str, body: bytes, agent: str = "claude-code") -> Payload:
        """The answer to whatever `body` is."""
        found: Payload = json.loads(await self.gateway.answer(agent, event, body))
        return found

    async def ask(self, event: str, *, session: str = "one", **more: Any) -> Payload:
        """The answer to an event of Claude Code."""
        facts = {"session_id": session, "cwd": str(self.workspace), "hook_event_name": event, "transcript_path": "/t", "prompt_id": "p"}
        return await self.raw(event, json.dumps({**facts, **more}).encode())

    async def start(self, **more: Any) -> Payload:
        """A session begins."""
        return await self.ask("SessionStart", **{"source": "startup", **more})

    async def prompt(self, text: str = "dig", **more: Any) -> Payload:
        """The user says something."""
        return await self.ask("UserPromptSubmit", prompt=text, **more)

    async def bash(self, command: str = "echo treasure", **more: Any) -> Payload:
        """A command is about to run."""
        given = {"command": command, "description": "step"}
        return await self.ask("PreToolUse", tool_name="Bash", tool_input=given, tool_use_id="t1", **more)

    async def ran(self, stdout: str, command: str = "echo treasure", **more: Any) -> Payload:
        """A command has run."""
        response = {"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False}
        given = {"command": command}
        return await self.ask("PostToolUse", tool_name="Bash", tool_input=given, tool_response=response, tool_use_id="t1", **more)

    async def stop(self, reply: str = "Found it.", *, again: bool = False, **more: Any) -> Payload:
        """The model has made its final reply."""
        return await self.ask("Stop", stop_hook_active=again, last_assistant_message=reply, **more)


@asynccontextmanager
async def outside(folder: Path, *bound: Hooks, seconds: float = ANSWER_SECONDS) -> AsyncIterator[Outside]:
    """Serve the home at `folder`/home, with hooks of this program over its own."""
    (folder / "home").mkdir(exist_ok=True)
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    said: list[str] = []
    async with Home(folder / "home", os.environ) as home:
        for hooks in bound:
            hooks.bind(home.registry)
        gateway = Gateway(home, said.append, seconds=seconds)
        try:
            yield Outside(home, gateway, workspace, said)
        finally:
            await gateway.close()


def refusal(answer: Payload) -> str | None:
    """Why a call may not run; None where it may."""
    own = answer.get("hookSpecificOutput", {})
    return own["permissionDecisionReason"] if own.get("permissionDecision") == "deny" else None
