"""What the scripted model says in each scenario, with every agent's own tool names and inputs, and the agents that can play it."""

from collections.abc import Callable
from pathlib import Path

Call = dict[str, object]
Script = list[dict[str, object]]

LAST_WORDS = "That was all."
MARK = "mark"
LEAVE_MARK = f"echo treas''ure > {MARK}; cat {MARK}"
"""A command whose output, `treasure`, is not in its text: who has read it has seen the command run."""
TREASURE = "treasure"

COMMAND_HOOKS = ("claude-code", "codex", "gemini", "qwen", "copilot")
"""Those that start a program for a hook; the others load code."""
REWRITES = ("claude-code", "codex", "gemini", "copilot", "opencode", "pi")
"""Those that let a hook change what a tool is called with."""
STOPS = COMMAND_HOOKS
"""Those that let a hook send the agent on when it wants to end."""


def _shell(tool: str, **more: object) -> Callable[[str], Call]:
    return lambda command: {"name": tool, "args": {"command": command, **more}}


def _patch(path: Path, text: str) -> Call:
    added = "".join(f"+{line}\n" for line in text.splitlines())
    return {"name": "apply_patch", "input": f"*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n"}


def _write(tool: str, where: str, what: str = "content") -> Callable[[Path, str], Call]:
    return lambda path, text: {"name": tool, "args": {where: str(path), what: text}}


SHELL: dict[str, Callable[[str], Call]] = {
    "claude-code": _shell("Bash", description="One step"),
    "codex": lambda command: {"name": "exec_command", "args": {"cmd": command}},
    "gemini": _shell("run_shell_command", description="One step"),
    "qwen": _shell("run_shell_command", description="One step", is_background=False),
    "copilot": _shell("bash", description="One step"),
    "opencode": _shell("bash"),
    "pi": _shell("bash"),
}
"""The call that runs a command in the workspace."""

WRITE: dict[str, Callable[[Path, str], Call]] = {
    "claude-code": _write("Write", "file_path"),
    "codex": _patch,
    "gemini": _write("write_file", "file_path"),
    "qwen": _write("write_file", "file_path"),
    "copilot": _write("create", "path", "file_text"),
    "opencode": _write("write", "filePath"),
    "pi": _write("write", "path"),
}
"""The call that makes a file of lines, at an absolute path."""


def calls(*each: Call) -> Script:
    """The model makes the calls, one a turn, and ends."""
    turns: Script = [{"tools": [call]} for call in each]
    return [*turns, {"text": LAST_WORDS}]


def leaves_mark(agent: str) -> Script:
    """One call of the shell: for a call that is denied, let pass, rewritten, given context, or made while the gateway is dead."""
    return calls(SHELL[agent](LEAVE_MARK))


def ends_twice() -> Script:
    """The model wants to end; sent on, it ends with other words."""
    return [{"text": "I am done."}, {"text": LAST_WORDS}]
