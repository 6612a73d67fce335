"""How each event is called, by the policy of the hooks there; and the key that an HTTP entry holds."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.gateway.install.user import KEY, OWN, User, gateway, mode
from treblehook.gateway.agents import AGENTS, codec_of
from treblehook.gateway.install.places import DIALECTS
from treblehook.lifecycle import Event, PreToolCall, SessionStart


def forms(user: User, agent: str, *closed: type[Event], **more: Any) -> dict[str, str]:
    """How each event is called after an installation."""
    user.gateway = gateway(user.home, *closed, **more)
    user.install(agent)
    found = {}
    for event, one in user.handlers(agent).items():
        command = one.get("command", one.get("bash"))
        if command is None:
            found[event] = "http"
        else:
            found[event] = ("curl " if "/curl " in command else "") + ("closed" if f" {event} closed " in command else "open")
    return found


def test_http_is_used_where_no_hook_is_closed_except_for_the_start_which_starts_the_daemon(user: User) -> None:
    for agent in ("claude-code", "qwen"):
        spoken = {hooked.name for hooked in codec_of(agent).hooked if hooked.http and hooked.name != "SessionStart"}
        assert forms(user, agent) == {hooked.name: "http" if hooked.name in spoken else "curl open" for hooked in codec_of(agent).hooked}
        assert {"UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"} < spoken


@pytest.mark.parametrize("curl", ["/usr/bin/curl", None])
def test_where_a_hook_is_closed_a_command_denies_without_an_answer(user: User, curl: str | None) -> None:
    found = forms(user, "claude-code", PreToolCall, curl=curl)
    assert found["PreToolUse"] == ("curl closed" if curl else "closed")
    assert found["PostToolUse"] == found["Stop"] == "http"


def test_a_closed_start_is_closed_at_the_first_call_too(user: User) -> None:
    found = forms(user, "claude-code", SessionStart)
    assert (found["SessionStart"], found["PreToolUse"]) == ("curl closed", "curl closed")


@pytest.mark.parametrize("agent", ["codex", "gemini", "copilot"])
def test_an_agent_that_only_runs_commands_has_no_http(user: User, agent: str) -> None:
    closed = {hooked.name for hooked in codec_of(agent).hooked if PreToolCall in hooked.events}
    found = forms(user, agent, PreToolCall)
    assert found == {event: "curl closed" if event in closed else "curl open" for event in found}
    assert closed


@pytest.mark.parametrize("agent", [name for name in AGENTS if name in DIALECTS])
def test_the_timeout_of_an_entry_is_longer_than_that_of_the_client(user: User, agent: str) -> None:
    user.install(agent)
    unit = 1000 if agent == "gemini" else 1
    found = {event: one[DIALECTS[agent].timeout_key] for event, one in user.handlers(agent).items()}
    # Codex ends a hook of this event after three seconds, and complains of more.
    assert found == {event: 3 if (agent, event) == ("codex", "SessionEnd") else 120 * unit for event in found}


def test_policy_that_has_changed_is_installed_anew_in_place(user: User) -> None:
    user.has("claude-code", OWN["claude-code"])
    before = user.state()
    assert forms(user, "claude-code")["PreToolUse"] == "http"
    assert forms(user, "claude-code", PreToolCall)["PreToolUse"] == "curl closed"
    assert forms(user, "claude-code")["PreToolUse"] == "http"
    user.uninstall("claude-code")
    assert user.state() == before


def test_a_file_that_holds_the_key_is_for_its_owner_only(user: User) -> None:
    file = user.has("claude-code", "{}", 0o664)
    change = user.install("claude-code")
    assert user.handlers("claude-code")["Stop"]["headers"] == {"Authorization": f"Bearer {KEY}"}
    assert mode(file) == 0o600
    assert change.notes == (f"{file} gets mode 0600: it holds the key of the gateway, which others may not read",)
    user.uninstall("claude-code")
    assert (file.read_text(), mode(file)) == ("{}", 0o664)


def test_a_mode_that_the_user_has_changed_since_stays(user: User) -> None:
    file = user.has("claude-code", "{}", 0o664)
    user.install("claude-code")
    file.chmod(0o640)
    assert not user.plan("claude-code").is_none
    user.uninstall("claude-code")
    assert mode(file) == 0o640


def test_without_a_key_everybody_may_read_on(user: User) -> None:
    file = user.has("claude-code", "{}", 0o664)
    assert forms(user, "claude-code", key="")["Stop"] == "http"
    assert "headers" not in user.handlers("claude-code")["Stop"]
    assert mode(file) == 0o664


def test_the_mode_comes_back_when_the_key_goes(user: User) -> None:
    file = user.has("claude-code", "{}", 0o664)
    forms(user, "claude-code")
    user.gateway = replace(gateway(user.home), http=None)
    user.install("claude-code")
    assert mode(file) == 0o664


@pytest.mark.parametrize("where", ["a link", "a repository", "a repository behind a linked folder", "an allow list"])
def test_the_key_goes_nowhere_where_it_could_be_shared(user: User, where: str) -> None:
    file = user.file("claude-code")
    dotfiles = user.folder / "dotfiles"
    dotfiles.mkdir()
    if where == "a link":
        file.parent.mkdir()
        (dotfiles / "settings.json").write_text("{}")
        file.symlink_to(dotfiles / "settings.json")
    elif where == "a repository":
        (user.folder / ".git").mkdir()
    elif where == "a repository behind a linked folder":
        (dotfiles / ".git").mkdir()
        (dotfiles / "claude").mkdir()
        file.parent.symlink_to(dotfiles / "claude")
    else:
        user.has("claude-code", '{"allowedHttpHookUrls": ["https://hooks.example/*"]}')
    change = user.plan("claude-code")
    assert "http" not in forms(user, "claude-code").values()
    assert KEY not in file.read_text()
    assert [note.startswith("commands are installed where HTTP would do: ") for note in change.notes] == [True]
