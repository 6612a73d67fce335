"""`treblehook hooks check --agent NAME`: before anything runs, what an agent cannot honour, and what happens instead."""

import pytest

from tests.support.command_home import CommandHome, says

OBSERVE = says({"power": "observe"})


def lua(home: CommandHome, *events: str) -> None:
    lines = [f'cru.on("{event}", {{}}, function(ctx, event) return nil end)' for event in events]
    (home.folder / "init.lua").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("agent", ["claude-code", "pi"])
def test_a_hook_that_the_agent_never_asks_is_told_with_its_place_and_the_reason(home: CommandHome, agent: str) -> None:
    lua(home, "pre_tool_call", "pre_llm_call")

    problems = home.run("hooks", "check", "--agent", agent, "--output", "jsonl").records

    assert [problem for problem in problems if "never asked" in problem["message"]] == [
        {
            "file": str(home.folder / "init.lua"),
            "place": "line 2",
            "level": "warning",
            "message": f"init.lua is never asked by {agent} at pre_llm_call: its requests to a model do not pass us",
            "remedy": "",
        }
    ]


def test_what_cannot_be_said_is_told_with_what_is_said_instead(home: CommandHome) -> None:
    home.hook("turn_ending", "lookout", OBSERVE, timeout_ms=1000)

    run = home.run("hooks", "check", "--agent", "opencode")

    assert run.status == 0
    [line, summary] = run.out.splitlines()
    assert line.startswith(f"warning: {home.hooks / 'lookout'}: turn_ending: lookout at turn_ending: opencode cannot honour Continue (")
    assert summary == "1 hook: no errors, 1 warning"
    assert home.run("hooks", "check", "--agent", "claude-code").out == "1 hook: no errors, no warnings\n"


def test_an_agent_is_asked_of_only_where_it_is_named(home: CommandHome) -> None:
    lua(home, "pre_llm_call")

    run = home.run("hooks", "check")

    assert (run.status, run.err) == (0, "")
    assert "never asked" not in run.out


def test_what_nobody_obeys_or_runs_is_not_told(home: CommandHome) -> None:
    home.hook("turn_ending", "lookout", OBSERVE, timeout_ms=1000)
    for mode in ("report", "off"):
        home.settings(f'[hooks."lookout"]\nmode = "{mode}"\n')
        assert home.run("hooks", "check", "--agent", "opencode").out == "1 hook: no errors, no warnings\n"


def test_a_home_that_does_not_load_is_told_once(home: CommandHome) -> None:
    home.entry("pre_tool_use", "missing", timeout_ms=1000)
    home.settings("[web]\nport = 99999999\n")

    plain, asked = (home.run("hooks", "check", *more, "--output", "jsonl") for more in ((), ("--agent", "codex")))

    assert plain.status == asked.status == 2
    assert plain.records == asked.records[: len(plain.records)]
    assert len({str(record) for record in asked.records}) == len(asked.records)


def test_an_agent_that_nobody_knows(home: CommandHome) -> None:
    run = home.run("hooks", "check", "--agent", "cursor")
    assert run.status == 2
    assert "'cursor' is not one of 'claude-code', 'codex', 'gemini', 'qwen', 'copilot', 'opencode', 'pi'" in run.err
