"""What turns our entries off, in the settings of the user and in those that come over them."""

import json
from pathlib import Path
from typing import Any

import pytest

from treblehook.gateway.install.switches import Source, allowed_urls, sources, switched_off

URL = "http://127.0.0.1:8777/hooks/claude-code?event=Stop"
COMMAND = "sh -c 'ask'"
HANDLERS = {"Stop": [{"type": "http", "url": URL}], "PreToolUse": [{"type": "command", "command": COMMAND}]}
USER = Path("/home/me/settings.json")


def found(agent: str, *values: dict[str, Any]) -> list[str]:
    settings = [Source(Path(f"/{at}"), each) for at, each in enumerate(values)]
    return [f"{switch.file}: {switch.place}" for switch in switched_off(agent, settings, HANDLERS)]


@pytest.mark.parametrize(
    ("agent", "values", "place"),
    [
        ("claude-code", {"disableAllHooks": True}, "disableAllHooks"),
        ("claude-code", {"allowManagedHooksOnly": True}, "allowManagedHooksOnly"),
        ("claude-code", {"allowedHttpHookUrls": []}, "allowedHttpHookUrls"),
        ("claude-code", {"allowedHttpHookUrls": ["https://*"]}, "allowedHttpHookUrls"),
        ("qwen", {"disableAllHooks": True}, "disableAllHooks"),
        ("qwen", {"security": {"allowedHttpHookUrls": ["http://127.0.0.1:1/*"]}}, "allowedHttpHookUrls"),
        ("gemini", {"hooksConfig": {"enabled": False}}, "hooksConfig.enabled"),
        ("gemini", {"hooksConfig": {"disabled": ["other", COMMAND]}}, "hooksConfig.disabled[1]"),
        ("copilot", {"disableAllHooks": True}, "disableAllHooks"),
    ],
)
def test_a_switch_is_found_where_it_stands(agent: str, values: dict[str, Any], place: str) -> None:
    assert found(agent, {}, values) == [f"/1: {place}"]


@pytest.mark.parametrize(
    ("agent", "values"),
    [
        ("claude-code", {"disableAllHooks": False}),
        ("claude-code", {"disableAllHooks": "true"}),
        ("claude-code", {"hooksConfig": {"enabled": False}}),
        ("claude-code", {"allowedHttpHookUrls": ["http://127.0.0.1:8777/*"]}),
        ("claude-code", {"allowedHttpHookUrls": "none"}),
        ("gemini", {"disableAllHooks": True}),
        ("gemini", {"hooksConfig": []}),
        ("gemini", {"hooksConfig": {"enabled": True, "disabled": [None, {}]}}),
        ("qwen", {"hooksConfig": {"enabled": False}}),
        ("codex", {"disableAllHooks": True}),
    ],
)
def test_what_the_agent_does_not_heed_is_no_switch(agent: str, values: dict[str, Any]) -> None:
    assert found(agent, values) == []


def test_what_one_file_allows_is_allowed() -> None:
    limited, wide = {"allowedHttpHookUrls": ["https://*"]}, {"allowedHttpHookUrls": ["http://127.0.0.1:*"]}
    assert found("claude-code", limited, wide) == []
    assert found("claude-code", {}, limited, limited) == ["/1: allowedHttpHookUrls"]
    assert allowed_urls(limited) == ["https://*"]
    assert allowed_urls({}) is None


def test_the_settings_of_the_workspace_count_too(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text('{"disableAllHooks": true}')
    (tmp_path / ".claude" / "settings.local.json").write_text(json.dumps({"model": "opus"}) + "// nobody can read this")
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / "settings.json").write_text('{"hooksConfig": {"enabled": false}} // why not')

    read = sources("claude-code", USER, {"a": 1}, tmp_path)
    assert read[0] == Source(USER, {"a": 1})
    assert read[1] == Source(tmp_path / ".claude" / "settings.json", {"disableAllHooks": True})
    assert [source.file.name for source in read].count("settings.local.json") == 0
    assert [switch.file for switch in switched_off("gemini", sources("gemini", USER, {}, tmp_path), HANDLERS)] == [
        tmp_path / ".gemini" / "settings.json"
    ]
    assert sources("codex", USER, {}, tmp_path) == [Source(USER, {})]


@pytest.mark.parametrize(
    ("agent", "file"),
    [
        ("claude-code", ".claude/settings.local.json"),
        ("copilot", ".claude/settings.json"),
        ("copilot", ".claude/settings.local.json"),
        ("copilot", ".github/copilot/settings.json"),
        ("copilot", ".github/copilot/settings.local.json"),
    ],
)
def test_what_stands_at_the_top_of_the_repository_counts_below_it_too(tmp_path: Path, agent: str, file: str) -> None:
    (tmp_path / ".git").mkdir()
    deep = tmp_path / "packages" / "one"
    for folder in (tmp_path, deep.parent):
        (folder / file).parent.mkdir(parents=True)
        (folder / file).write_text('{"disableAllHooks": true}')
    deep.mkdir()
    assert [switch.file for switch in switched_off(agent, sources(agent, USER, {}, deep), HANDLERS)] == [tmp_path / file]
    assert [switch.file for switch in switched_off(agent, sources(agent, USER, {}, tmp_path), HANDLERS)] == [tmp_path / file]


def test_without_a_repository_the_folder_itself_counts(tmp_path: Path) -> None:
    (tmp_path / ".github" / "copilot").mkdir(parents=True)
    (tmp_path / ".github" / "copilot" / "settings.json").write_text('{"disableAllHooks": true}')
    (tmp_path / "below").mkdir()
    assert len(sources("copilot", USER, {}, tmp_path)) == 2
    assert len(sources("copilot", USER, {}, tmp_path / "below")) == 1
