"""The rig itself: an agent runs headless against the scripted model, and honours a hook that was put in by hand."""

from pathlib import Path

import pytest

from tests.real_agents.hand_answers import Bound, adds, denies, passes, rewrites, sends_on
from tests.real_agents.hand_hooks import CODEX_TRUST, put_in
from tests.real_agents.launch import AgentHung, Client, Ran
from tests.real_agents.scenarios import (
    LAST_WORDS,
    LEAVE_MARK,
    MARK,
    REWRITES,
    STOPS,
    TREASURE,
    WRITE,
    Script,
    calls,
    ends_twice,
    leaves_mark,
)

REASON = "the treasure stays where it is"


def run_with(client: Client, hook: Bound, script: Script, *, once: bool = False) -> tuple[Ran, str]:
    """Run with a hook; gives back the run, and what the hook was called with."""
    seen = put_in(client, *hook, once=once)
    ran = client.run(script, arguments=[CODEX_TRUST] if client.name == "codex" else [])
    assert seen.exists(), ran
    return ran, seen.read_text()


def test_a_denied_call_does_not_run_and_the_model_is_told_why(agent: str, client: Client) -> None:
    ran, seen = run_with(client, denies(REASON)[agent], leaves_mark(agent))

    assert LEAVE_MARK in seen
    assert not (client.workspace / MARK).exists()
    assert ran.told(REASON), ran
    assert (ran.status, len(ran.requests)) == (0, 2), ran
    assert LAST_WORDS in ran.stdout


def test_a_call_that_the_hook_lets_pass_runs(agent: str, client: Client) -> None:
    ran, seen = run_with(client, passes()[agent], leaves_mark(agent))

    assert LEAVE_MARK in seen
    assert (client.workspace / MARK).read_text() == f"{TREASURE}\n", ran
    # Qwen now and then reports the output of a command that ends at once as empty.
    assert agent == "qwen" or ran.told(TREASURE), ran
    assert (ran.status, len(ran.requests)) == (0, 2), ran


def test_a_file_is_written(agent: str, client: Client) -> None:
    file: Path = client.workspace / MARK

    ran, seen = run_with(client, passes()[agent], calls(WRITE[agent](file, f"{TREASURE}\n")))

    assert str(file) in seen
    assert file.read_text().strip() == TREASURE, ran


@pytest.mark.agents(*REWRITES)
def test_a_rewritten_call_runs_rewritten(agent: str, client: Client) -> None:
    ran, _ = run_with(client, rewrites(f"echo re''written > {MARK}; cat {MARK}")[agent], leaves_mark(agent))

    assert (client.workspace / MARK).read_text() == "rewritten\n", ran
    assert ran.told("rewritten")


def test_added_context_reaches_the_next_request(agent: str, client: Client) -> None:
    ran, _ = run_with(client, adds(REASON)[agent], leaves_mark(agent))

    assert (client.workspace / MARK).exists(), ran
    assert [REASON in request.text for request in ran.requests] == [False, True], ran


@pytest.mark.agents(*STOPS)
def test_a_stop_hook_sends_the_agent_on_once(agent: str, client: Client) -> None:
    ran, _ = run_with(client, sends_on(REASON)[agent], ends_twice(), once=True)

    assert [REASON in request.text for request in ran.requests] == [False, True], ran
    assert LAST_WORDS in ran.stdout


@pytest.mark.agents("claude-code", "codex")
def test_an_agent_that_does_not_end_is_stopped_and_named(agent: str, client: Client) -> None:
    with pytest.raises(AgentHung, match=f"{agent} did not end within 1 s"):
        client.run([{"text": LAST_WORDS, "delay": 100}], time_limit=1)
