"""Before anything runs a user is told which hooks an agent cannot honour, what happens instead, and what goes past them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_home import CommandHome
from treblehook.contracts.python import Hooks
from treblehook.engine import Mode, Registry
from treblehook.gateway.agents import AGENTS, codec_of
from treblehook.gateway.checks import unhonoured
from treblehook.home.listing import Bound
from treblehook.host.problems import Problem
from treblehook.lifecycle import (
    CompactionStarting,
    Event,
    ModelRequest,
    PermissionRequest,
    PreToolCall,
    PromptSubmitted,
    ShellGate,
    ToolFinished,
    TurnEnding,
)

STDIN = "write_stdin"


async def passes(event: Any) -> None:
    return None


def bound(*events: type[Event], **how: Any) -> list[Bound]:
    hooks, registry = Hooks(), Registry()
    for event in events:
        hooks.on(event, name=f"on-{event.__name__}", **how)(passes)
    hooks.bind(registry)
    return [Bound(handler) for handler in registry.handlers()]


def told(agent: str, each: Iterable[Bound]) -> list[Problem]:
    return list(unhonoured(each, codec_of(agent)))


def messages(agent: str, *events: type[Event], **how: Any) -> list[str]:
    return [problem.message for problem in told(agent, bound(*events, **how))]


def test_what_is_typed_into_a_running_command_of_codex_goes_past_every_guard() -> None:
    gaps = [one for one in messages("codex", PreToolCall, ToolFinished) if STDIN in one]
    assert len(gaps) == 1
    assert gaps[0].startswith("on-PreToolCall: in codex, ")
    assert not any(STDIN in one for one in messages("codex", TurnEnding))


def test_hooks_that_miss_the_same_are_told_of_in_one_line() -> None:
    lines = [one for one in messages("pi", ToolFinished, PreToolCall) if "!" in one and one.startswith("on-ToolFinished: in pi, ")]
    assert len(lines) == 1
    handlers = [Bound(one.handler) for _ in range(3) for one in bound(PreToolCall)]
    assert len([one for one in told("codex", handlers) if STDIN in one.message]) == 1


@pytest.mark.parametrize("agent", sorted(set(AGENTS) - {"pi"}))
def test_what_the_user_types_behind_an_exclamation_mark_goes_past_every_guard(agent: str) -> None:
    """Seen on the real ones; pi alone tells of it."""
    for event in (PreToolCall, ShellGate):
        assert any("types" in one and "behind a !" in one for one in messages(agent, event)), event


@pytest.mark.parametrize("agent", sorted(set(AGENTS) - {"qwen"}))
def test_what_another_hook_makes_of_a_call_goes_past_every_guard(agent: str) -> None:
    for event in (PreToolCall, ShellGate):
        assert any("another hook of the agent's" in one for one in messages(agent, event)), event


@pytest.mark.parametrize("agent", ["claude-code", "qwen"])
def test_a_prompt_that_looks_like_the_end_of_a_task_goes_past_every_prompt_hook(agent: str) -> None:
    assert any("<task-notification>" in one for one in messages(agent, PromptSubmitted))


@pytest.mark.parametrize("agent", AGENTS)
def test_hooks_that_are_never_asked_are_told(agent: str) -> None:
    assert any("on-ModelRequest is never asked" in one for one in messages(agent, ModelRequest))


@pytest.mark.parametrize(
    ("agent", "event", "words"),
    [
        ("gemini", PreToolCall, "a hook takes a key away"),
        ("gemini", PermissionRequest, "calls no hook"),
        ("gemini", CompactionStarting, "only a compaction that the user asks for"),
        ("opencode", TurnEnding, "a run is over"),
        ("opencode", PromptSubmitted, "ends a run"),
        ("opencode", ToolFinished, "a call that failed"),
        ("pi", TurnEnding, "Continue (`pi -p` is over by then"),
        ("codex", PreToolCall, "only the command of a shell call can be changed"),
    ],
)
def test_what_happens_instead_is_told(agent: str, event: type[Event], words: str) -> None:
    assert any(words in one for one in messages(agent, event))


def test_what_is_switched_off_or_held_back_is_not_told() -> None:
    off = [Bound(one.handler, held_back="not trusted") for one in bound(PreToolCall)]
    for one in off:
        assert one.handler.mode is Mode.ON
    assert told("codex", off) == []


def test_a_user_reads_it_in_hooks_check(tmp_path: Path) -> None:
    home = CommandHome(tmp_path / "home")
    home.hook("pre_tool_use", "lookout", "exit 0")

    run = home.run("hooks", "check", "--agent", "codex")

    assert run.status == 0
    assert STDIN in run.out
    assert "lookout" in run.out


@pytest.mark.parametrize(("how", "level"), [("closed", "error"), ("open", "warning")])
def test_a_guard_that_is_never_asked_is_an_error(how: str, level: str) -> None:
    for agent in AGENTS:
        assert [problem.level for problem in told(agent, bound(ModelRequest, on_error=how))] == [level]
