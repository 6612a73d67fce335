"""What is protected is what `install` changes, wherever an agent's folder is; one table says where that is."""

from pathlib import Path

import pytest

from tests.host.protected.conftest import Land
from treblehook.gateway.agents import AGENTS
from treblehook.gateway.install.places import settings_file
from treblehook.host.agents import KNOWN_AGENTS
from treblehook.host.protected import Protection
from treblehook.lifecycle import ToolCall


def test_the_agents_are_those_of_the_gateway() -> None:
    assert set(KNOWN_AGENTS) == set(AGENTS)


@pytest.mark.parametrize("agent", KNOWN_AGENTS)
@pytest.mark.parametrize("moved", [False, True])
def test_the_file_that_install_changes_is_protected(tmp_path: Path, agent: str, moved: bool) -> None:
    environ = {KNOWN_AGENTS[agent].variable: str(tmp_path.resolve() / "moved")} if moved else {}
    land = Land(tmp_path.resolve(), environ)
    changed = settings_file(agent, {"HOME": str(land.user), **environ})
    usual = settings_file(agent, {"HOME": str(land.user)})

    assert str(changed).startswith(str(tmp_path / "moved" if moved else land.user))
    for file in (changed, usual):
        assert land.call("write", path=str(file)) is not None
        assert land.bash(f"echo > {file}") is not None
        assert land.bash(f"cat {file}") is None


@pytest.mark.parametrize("agent", KNOWN_AGENTS)
def test_a_folder_that_the_environment_moves_goes_by_its_variable_too(tmp_path: Path, agent: str) -> None:
    known, moved = KNOWN_AGENTS[agent], tmp_path.resolve() / "moved"
    land = Land(tmp_path.resolve(), {known.variable: str(moved)})
    below = f"{known.below}/{known.settings}".removeprefix("/")

    assert land.bash(f"echo > ${known.variable}/{below}") is not None
    unmoved = Protection(land.user / "h", {"HOME": str(land.user)})
    assert unmoved.touched(ToolCall("c1", "write", {"path": f"{moved}/{below}"}), land.work) is None


@pytest.mark.parametrize(
    ("variable", "file"),
    [
        ("CLAUDE_CONFIG_DIR", "settings.json"),
        ("CODEX_HOME", "hooks.json"),
        ("GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("QWEN_HOME", "settings.json"),
        ("COPILOT_HOME", "hooks/any.json"),
        ("XDG_CONFIG_HOME", "opencode/plugin/any.js"),
        ("PI_CODING_AGENT_DIR", "extensions/any.ts"),
    ],
)
def test_the_variables_are_those_of_the_agents(tmp_path: Path, variable: str, file: str) -> None:
    land = Land(tmp_path.resolve(), {variable: "/moved"})

    assert land.call("write", path=f"/moved/{file}") is not None
    assert land.call("write", path=f"/elsewhere/{file}") is None


@pytest.mark.parametrize("value", ["~/moved", "", "/moved/"])
def test_a_folder_is_found_as_the_agent_finds_it(tmp_path: Path, value: str) -> None:
    land = Land(tmp_path.resolve(), {"CODEX_HOME": value})
    file = settings_file("codex", {"HOME": str(land.user), "CODEX_HOME": value})

    assert land.call("write", path=str(file)) is not None
    assert str(file) == {"~/moved": f"{land.user}/moved", "": f"{land.user}/.codex", "/moved/": "/moved"}[value] + "/hooks.json"


@pytest.mark.parametrize(("environ", "file"), [({}, "~/.claude.json"), ({"CLAUDE_CONFIG_DIR": "~/moved"}, "~/moved/.claude.json")])
def test_the_file_that_claude_code_keeps_beside_its_folder(tmp_path: Path, environ: dict[str, str], file: str) -> None:
    land = Land(tmp_path.resolve(), environ)

    assert land.call("write", path=file) is not None
    assert land.call("write", path="~/.claude.json") is not None
    assert land.call("write", path="~/.codex.json") is None


@pytest.mark.parametrize("agent", KNOWN_AGENTS)
def test_the_orders_that_change_a_configuration_are_asked_about_and_can_be_allowed_by_name(tmp_path: Path, agent: str) -> None:
    land, known = Land(tmp_path.resolve(), {}), KNOWN_AGENTS[agent]

    for order in known.changing:
        told = land.bash(f"{known.program} {order} x")
        assert told is not None
        assert known.title in told
        assert land.protection.named_in(f"{known.program} {order} *", "command", land.work)
    assert land.bash(f"{known.program} x") is None
    assert not land.protection.named_in(f"{known.program} *", "command", land.work)


@pytest.mark.parametrize("repository", [True, False])
def test_agents_read_the_folders_around_the_workspace_as_far_as_the_repositorys(tmp_path: Path, repository: bool) -> None:
    land = Land(tmp_path.resolve(), {})
    deep = land.work / "packages" / "one"
    deep.mkdir(parents=True)
    if repository:
        # That of a worktree is a file.
        (land.work / ".git").write_text("gitdir: /elsewhere")

    def written(path: str) -> bool:
        return land.protection.touched(ToolCall("c1", "write", {"path": path}), deep) is not None

    for place in (".claude/settings.local.json", ".codex/config.toml", ".github/hooks/x.json", ".opencode/plugin/x.js", "opencode.json"):
        assert all(written(f"{folder}{place}") for folder in ("", "../", "../../")), place
        assert land.protection.touched(ToolCall("c1", "bash", {"command": f"cd ../..; echo > {place}"}), deep) is not None
    assert written("../../../opencode.json") is not repository
    assert not written("../../src/settings.json")
