"""What hooks of the home say beside yes and no reaches a real agent as its capability table has it."""

from pathlib import Path

from tests.real_agents.expected import support
from tests.real_agents.guarded import Guarded
from tests.real_agents.home_hooks import answers, appends_to_results, rewriter
from tests.real_agents.launch import PROMPT, Client
from tests.real_agents.scenarios import LAST_WORDS, LEAVE_MARK, MARK, REWRITES, TREASURE, WRITE, calls, ends_twice, leaves_mark
from treblehook.gateway.agents import codec_of
from treblehook.gateway.install.places import settings_file
from treblehook.lifecycle import (
    AddContext,
    Block,
    Continue,
    PreToolCall,
    PromptSubmitted,
    Refuse,
    Rewrite,
    SessionStart,
    TurnEnding,
)

START, GIVEN, APPENDED = "the crow buried it", "under the third palm", "three steps to the north"
REASON = "one more look at the map"


def test_a_rewritten_call_runs_rewritten_or_not_at_all(agent: str, client: Client, guarded: Guarded) -> None:
    command = f"echo re''written > {MARK}; cat {MARK}"
    rewriter(guarded, "bash", command=command)
    guarded.install()

    ran = client.run(leaves_mark(agent))

    how = support(agent, PreToolCall, Rewrite).how
    mark = client.workspace / MARK
    if agent in REWRITES:
        assert mark.read_text() == "rewritten\n", ran
        assert ran.told("rewritten")
    else:
        assert how == "stricter"
        assert not mark.exists()
        assert ran.told(command), "the model is told which call to make"


def test_a_rewritten_file_is_written_rewritten_or_not_at_all(agent: str, client: Client, guarded: Guarded) -> None:
    file: Path = client.workspace / MARK
    rewriter(guarded, "write", content="a parrot\n")
    guarded.install()

    ran = client.run(calls(WRITE[agent](file, f"{TREASURE}\n")))

    if file.exists():
        assert file.read_text() == "a parrot\n", ran
    else:
        assert support(agent, PreToolCall, Rewrite).how == "stricter"
        assert ran.told("a parrot"), ran


def test_added_context_reaches_the_model(agent: str, client: Client, guarded: Guarded) -> None:
    answers(guarded, "session_start", {"power": "mutate", "context": START})
    answers(guarded, "pre_turn", {"power": "mutate", "context": GIVEN})
    appends_to_results(guarded, APPENDED)
    guarded.install()

    ran = client.run(leaves_mark(agent))

    assert support(agent, SessionStart, AddContext).how == support(agent, PromptSubmitted, AddContext).how == "honoured"
    assert (client.workspace / MARK).exists(), ran
    first, second = ran.requests
    assert START in first.text, ran
    assert GIVEN in first.text, ran
    assert APPENDED not in first.text
    assert APPENDED in second.text, ran


def test_a_prompt_that_is_blocked_does_not_reach_the_model(agent: str, client: Client, guarded: Guarded) -> None:
    answers(guarded, "pre_turn", {"power": "block", "reason": REASON})
    guarded.install()

    ran = client.run(leaves_mark(agent))

    assert support(agent, PromptSubmitted, Block).how in ("honoured", "stricter")
    assert ran.requests == ()
    assert not (client.workspace / MARK).exists()


def test_a_session_that_is_refused_runs_no_call(agent: str, client: Client, guarded: Guarded) -> None:
    script = f'cru.on_session_start(function(session) error("{REASON}") end, {{ required = true }})\n'
    guarded.write("plugins/refusing/init.lua", script)
    guarded.install()

    ran = client.run(leaves_mark(agent))

    assert support(agent, SessionStart, Refuse).how in ("honoured", "stricter")
    assert not (client.workspace / MARK).exists(), ran


def test_a_stop_hook_sends_the_agent_back_once(agent: str, client: Client, guarded: Guarded) -> None:
    answers(guarded, "turn_ending", {"power": "continue", "context": REASON})
    guarded.install()

    ran = client.run([*ends_twice(), {"text": "Sent on once too often."}])

    if support(agent, TurnEnding, Continue).how == "honoured":
        assert [REASON in request.text for request in ran.requests] == [False, True], ran
        assert LAST_WORDS in ran.stdout
    else:
        assert len(ran.requests) == 1, ran
    assert ran.status == 0


def test_a_run_is_on_record_from_its_start_to_its_end(agent: str, client: Client, guarded: Guarded) -> None:
    """There is no hook that is closed, so it is told over HTTP where the agent speaks that."""
    guarded.install()
    configured = settings_file(agent, client.environ()).read_text()
    assert ('"type": "http"' in configured) == any(hooked.http for hooked in codec_of(agent).hooked)

    ran = client.run(leaves_mark(agent))
    guarded.close()

    assert (client.workspace / MARK).exists(), ran
    records = guarded.records()
    assert [record["type"] for record in records] == ["session", "prompt", "tool_call", "tool_result", "end"]
    _, prompt, call, result, _ = records
    # OpenCode quotes a prompt that has blanks.
    assert prompt["text"].strip('"') == PROMPT
    assert (call["name"], call["input"]["command"]) == ("bash", LEAVE_MARK)
    assert result["is_error"] is False
