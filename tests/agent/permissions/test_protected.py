"""Protected paths among the rules: deny, then protected, then ask and allow."""

from pathlib import Path

import pytest

from treblehook.agent.permissions import Never, Permissions, Rules
from treblehook.host.permission import Verdict
from treblehook.host.protected import Protection
from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import ToolCall

WRITE = ToolSpec("write", "", {}, main_argument="path", asks=True)
BASH = ToolSpec("bash", "", {}, main_argument="command", asks=True)


def verdict(
    workspace: Path, spec: ToolSpec, argument: str, *, allow: tuple[str, ...] = (), ask: tuple[str, ...] = (), deny: tuple[str, ...] = ()
) -> Verdict:
    rules = Rules.parse(allow, ask, deny, "c")
    permission = Permissions(rules, Never(), workspace, Protection(workspace / "home", {"HOME": str(workspace.parent)}))
    return permission.verdict(ToolCall("c1", spec.name, {spec.main_argument: argument}), spec)


TOUCHING = [(WRITE, "home/config.toml"), (BASH, "rm home/config.toml"), (BASH, "rm -rf ~/.codex")]


@pytest.mark.parametrize(("spec", "argument"), TOUCHING)
def test_no_broad_allowance_reaches_a_protected_path(tmp_path: Path, spec: ToolSpec, argument: str) -> None:
    broad = (
        "*",
        spec.name,
        "write(*)",
        "write(*.toml)",
        "write(/*)",
        "write(~/*)",
        "bash(rm *)",
        "bash(rm *.toml)",
        "bash(*)",
        "bash(rm -rf ~*)",
    )
    found = verdict(tmp_path, spec, argument, allow=broad)

    assert (found.kind, found.rule) == ("ask", None)
    assert "protected" in found.reason
    assert verdict(tmp_path, spec, "elsewhere", allow=("*",)) == Verdict("allow", "*")


@pytest.mark.parametrize(
    ("spec", "argument", "rule"),
    [
        (WRITE, "home/config.toml", "write(home/config.toml)"),
        (WRITE, "home/config.toml", "write(*/home/*)"),
        (WRITE, "home/config.toml", "write(home/*)"),
        (WRITE, "~/.codex/config.toml", "write(~/.codex/*)"),
        (WRITE, ".claude/settings.json", "write(.claude/*)"),
        (BASH, "rm home/config.toml", "bash(rm home/*)"),
        (BASH, "rm -rf ~/.codex", "bash(rm -rf ~/.codex)"),
        (BASH, "codex-setup --file ~/.codex/config.toml", "bash(codex-setup*~/.codex*)"),
    ],
)
def test_an_allowance_that_names_the_place_does(tmp_path: Path, spec: ToolSpec, argument: str, rule: str) -> None:
    assert verdict(tmp_path, spec, argument, allow=("*", rule)) == Verdict("allow", rule)
    assert verdict(tmp_path, spec, argument, allow=(rule,), deny=(spec.name,)).kind == "deny"
    assert verdict(tmp_path, spec, argument, allow=(rule,), ask=(spec.name,)).kind == "ask"


@pytest.mark.parametrize(
    ("spec", "argument", "rule"),
    [
        (WRITE, "home/config.toml", "write(~/.codex/*)"),
        (WRITE, "link/config.toml", "write(link/*)"),
        (WRITE, "~/.codex/../.claude/settings.json", "write(~/.codex/*)"),
        (BASH, "rm ~/.codex/config.toml && rm home/config.toml", "bash(rm ~/.codex/*)"),
        (BASH, "ls ~/.codex; rm -rf home", "bash(ls ~/.codex*)"),
        (BASH, "echo > home/config.toml", "bash(echo*home/config.toml)"),
    ],
)
def test_one_that_names_another_does_not(tmp_path: Path, spec: ToolSpec, argument: str, rule: str) -> None:
    (tmp_path / "link").symlink_to("home")

    assert verdict(tmp_path, spec, argument, allow=("*", rule)).kind == "ask"


def test_a_denial_does(tmp_path: Path) -> None:
    assert verdict(tmp_path, WRITE, "home/config.toml", deny=("write",)) == Verdict("deny", "write")


def test_reading_is_as_the_rules_have_it(tmp_path: Path) -> None:
    assert verdict(tmp_path, BASH, "cat home/config.toml", allow=("bash(cat *)",)).kind == "allow"
