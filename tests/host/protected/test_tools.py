"""Which calls of which tools may change a protected place."""

from typing import Any

import pytest

from tests.host.protected.conftest import Land

HOOKS = "../.claude/hooks/x"
PATCH = "*** Begin Patch\n*** Add File: src/new\n+x\n{}\n*** End Patch"


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("write", {"path": HOOKS}),
        ("write", {"path": f"file://{{user}}/{HOOKS[3:]}"}),
        ("edit", {"path": "file"}),
        ("NotebookEdit", {"notebook_path": HOOKS}),
        ("mcp__files__write", {"path": HOOKS}),
        ("mcp__files__write", {"paths": ["a", HOOKS]}),
        ("mcp__files__write_many", {"files": [{"path": "a"}, {"path": HOOKS}]}),
        ("mcp__files__move", {"source": "a", "destination": HOOKS}),
        ("mcp__files__move_file", {"source": "~", "destination": "x"}),
        ("mcp__files__delete_directory", {"path": ".."}),
        ("mcp__files__unpack", {"file_path": "x.zip", "path": "~/.claude"}),
        ("str_replace_based_edit_tool", {"command": "create", "path": HOOKS}),
        ("apply_patch", {"command": PATCH.format(f"*** Add File: {HOOKS}\n+x")}),
        ("apply_patch", {"command": PATCH.format(f"*** Delete File: {HOOKS}")}),
        ("apply_patch", {"command": PATCH.format(f"*** Update File: {HOOKS}\n@@\n-a")}),
        ("apply_patch", {"input": PATCH.format(f"*** Update File: a\n*** Move to: {HOOKS}\n")}),
        ("mcp__files__list_and_delete", {"path": HOOKS}),
        ("mcp__files__get_or_create", {"path": HOOKS}),
        ("mcp__box__exec", {"cmd": "rm ~/.claude/settings.json"}),
        ("bash", {"command": "rm settings.json", "workdir": "~/.claude"}),
        ("bash", {"command": "rm ../.claude/settings.json", "workdir": "src"}),
        ("shell", {"command": ["bash", "-lc", "rm ~/.claude/settings.json"]}),
        ("shell", {"command": ["rm", "../.claude/settings.json"]}),
    ],
)
def test_changing(land: Land, tool: str, given: dict[str, Any]) -> None:
    filled = {key: value.replace("{user}", str(land.user)) if isinstance(value, str) else value for key, value in given.items()}

    assert land.call(tool, **filled) is not None


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("read", {"path": HOOKS}),
        ("Read", {"file_path": HOOKS}),
        ("grep", {"path": "~/.claude", "pattern": "x"}),
        ("mcp__files__read_text_file", {"path": HOOKS}),
        ("mcp__files__list-directory", {"path": "~/.claude"}),
        ("mcp__a__b__get_file_info", {"path": HOOKS}),
        ("write", {"path": "src/x", "content": HOOKS}),
        ("write", {"path": 5}),
        ("write", {"content": PATCH.format(f"*** Add File: {HOOKS}\n+x")}),
        ("note_write", {"path": ".claude/settings.json"}),
        ("agent", {"task": f"Look into {HOOKS}"}),
        ("mcp__files__unpack", {"path": ".."}),
        ("mcp__any__thing", {"deep": [[[[[[[{"path": HOOKS}]]]]]]]}),
        ("apply_patch", {"command": PATCH.format(f"+*** Add File: {HOOKS}")}),
        ("bash", {"command": "ls", "workdir": "~/.claude"}),
        ("bash", {"command": 5}),
        ("bash", {}),
        ("shell", {"command": ["bash", "-lc", "cat ~/.claude/settings.json"]}),
    ],
)
def test_not_changing(land: Land, tool: str, given: dict[str, Any]) -> None:
    assert land.call(tool, **given) is None


PLACES = [
    "~/.treblehook/config.toml",
    "~/.treblehook/sessions/x.jsonl",
    "~/.claude/settings.local.json",
    "~/.claude.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks/x",
    ".claude/skills/x/SKILL.md",
    ".claude/agents/x.md",
    ".claude/commands/x.md",
    "~/.claude/skills/x/hooks/hooks.json",
    "~/.codex/config.toml",
    ".codex/hooks/x",
    "~/.gemini/settings.json",
    ".gemini/settings.json",
    "~/.qwen/settings.json",
    ".qwen/settings.json",
    ".qwen/skills/x/SKILL.md",
    "~/.qwen/agents/x.md",
    "~/.copilot/hooks/x.json",
    "~/.copilot/config.json",
    "~/.copilot/agents/x.agent.md",
    ".github/hooks/x.json",
    ".github/copilot/settings.json",
    ".github/copilot/settings.local.json",
    ".github/agents/x.agent.md",
    "~/.config/opencode/plugin/x.js",
    "~/.config/opencode/plugins/x.js",
    "~/.config/opencode/opencode.json",
    "~/.config/opencode/tool/x.js",
    "~/.opencode/plugin/x.js",
    "~/.opencode/opencode.json",
    ".opencode/plugin/x.js",
    ".opencode/tools/x.ts",
    "opencode.json",
    "~/.pi/agent/extensions/x.ts",
    "~/.pi/agent/settings.json",
    ".pi/extensions/x.ts",
    ".crucible/plugins/x.lua",
]


@pytest.mark.parametrize("path", PLACES)
def test_each_place(land: Land, path: str) -> None:
    assert land.call("write", path=path) is not None
    assert land.bash(f"echo > {path}") is not None
    assert land.bash(f"cat {path}") is None
