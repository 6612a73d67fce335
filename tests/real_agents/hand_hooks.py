"""Hooks put into an agent's configuration by hand, in the form that each agent reads; they show that the rig works."""

import json
import shlex
from pathlib import Path

from tests.real_agents.launch import Client

CODEX_TRUST = "--dangerously-bypass-hook-trust"
"""Codex skips a hook that nobody trusted, in silence; this trusts all of one run."""

_SETTINGS = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "qwen": ".qwen/settings.json",
    "copilot": ".copilot/hooks/by-hand.json",
}
_CODE = {
    "opencode": (
        ".config/opencode/plugin/by-hand.js",
        "export const ByHand = async () => ({ EVENT: async (input, output) => { note({ input, output }); ANSWER } })\n",
    ),
    "pi": (
        ".pi/agent/extensions/by-hand.ts",
        "export default function (pi) { pi.on(EVENT, async (event) => { note(event); ANSWER }) }\n",
    ),
}


def put_in(client: Client, event: str, answer: object, *, once: bool = False) -> Path:
    """Bind a hook; gives back the file to which it adds what it is called with.

    `answer` is an object, given at each call or only `once`; where hooks are code (OpenCode, pi) it is a statement.
    """
    calls = client.home / "hook-calls"
    if client.name in _CODE:
        path, source = _CODE[client.name]
        note = f"const note = (call) => fs.appendFileSync({json.dumps(str(calls))}, JSON.stringify(call) + '\\n')\n"
        content = "import fs from 'node:fs'\n" + note + source.replace("EVENT", json.dumps(event)).replace("ANSWER", str(answer))
    else:
        path = _SETTINGS[client.name]
        now = f"mkdir {calls}.once 2>/dev/null && " if once else ""
        command = f"cat >> {calls}; {now}echo {shlex.quote(json.dumps(answer))}; exit 0"
        content = json.dumps(_with_hook(client, client.home / path, event, command))
    file = client.home / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    return calls


def _with_hook(client: Client, settings: Path, event: str, command: str) -> dict[str, object]:
    if client.name == "copilot":
        return {"version": 1, "hooks": {event: [{"type": "command", "bash": command}]}}
    there = json.loads(settings.read_text()) if settings.exists() else {}
    return {**there, "hooks": {event: [{"hooks": [{"type": "command", "command": command}]}]}}
