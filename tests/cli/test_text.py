"""`--output text`: what a pipe gets, and what a terminal shows."""

import pytest

from tests.support.command_home import says
from tests.support.command_run import Stage, calls, said
from tests.support.terminal import Terminal


def test_a_pipe_gets_rows_calls_results_and_replies(stage: Stage) -> None:
    stage.home.claude("UserPromptSubmit", "remember", "cat >/dev/null; echo third palm")
    stage.home.hook(
        "pre_tool_use", "guard", 'grep -q \'"rm \' && echo \'{"power":"block","reason":"leave it"}\' || echo \'{"power":"observe"}\''
    )
    stage.plays(
        calls("rm chest", text="I make room."),
        calls("printf 'one\\ntwo\\n'", "echo three", "echo broken; exit 3", "printf 'a\\nb'\ntrue"),
        {"text": "Done.\n\n  palm\n"},
    )

    ran = stage.run("run", "dig", "--approve", "always")

    assert ran.out == (
        "· remember added context\n"
        "I make room.\n"
        "> bash: rm chest\n"
        "  not run: leave it\n"
        "> bash: printf 'one\\ntwo\\n'\n"
        "  2 lines\n"
        "> bash: echo three\n"
        "  three\n"
        "> bash: echo broken; exit 3\n"
        "  failed: [exit status 3]\n"
        "> bash: printf 'a\\nb' (+1 lines)\n"
        "  2 lines\n"
        "Done.\n"
        "\n"
        "  palm\n"
    )
    assert (ran.status, said(ran.err)) == (0, [])


def test_a_pipe_gets_no_colour_even_where_it_is_wished_for(stage: Stage) -> None:
    ran = stage.run("run", "dig", FORCE_COLOR="1", TERM="xterm-256color")

    assert "\x1b" not in ran.out + ran.err


def test_a_failure_is_said_on_stderr(stage: Stage) -> None:
    stage.plays({"status": 400, "error": "storm"})

    ran = stage.run("run", "dig")

    assert (ran.status, ran.out) == (1, "")
    assert said(ran.err) == [f"failed: script:{stage.model}: HTTP 400: storm"]


def test_a_block_is_a_row_and_said_on_stderr(stage: Stage) -> None:
    stage.home.hook("pre_turn", "silence", says({"power": "block", "reason": "not on a Sunday"}))

    ran = stage.run("run", "dig")

    assert ran.status == 3
    assert ran.out == "· pre_turn blocked this turn: not on a Sunday\n"
    assert said(ran.err) == ["blocked: not on a Sunday"]


def test_a_failed_hook_is_said_on_stderr(stage: Stage) -> None:
    stage.home.entry("session_end", "missing")
    stage.plays({"text": "Done."})

    ran = stage.run("run", "dig")

    assert (ran.status, ran.out) == (0, "Done.\n")
    (line,) = said(ran.err)
    assert line.startswith("hook missing (session_end) not started: ")


def test_what_takes_long_is_said_on_stderr(stage: Stage) -> None:
    stage.home.hook("pre_turn", "slow", 'cat >/dev/null; sleep 1; echo \'{"power":"observe"}\'')
    stage.plays(calls("sleep 1"), {"text": "Done.", "delay": 1})

    ran = stage.run("run", "dig", "--approve", "always")

    lines = ran.err.splitlines()
    assert said(ran.err) == []
    for waited in ("waiting for the hook slow (pre_turn)", "waiting for the tool bash", f"waiting for script:{stage.model}"):
        assert waited in lines


def test_a_retry_is_said_and_takes_back_what_was_said(stage: Stage) -> None:
    stage.plays({"status": 529, "error": "too much"})

    ran = stage.run("run", "dig")

    assert ran.status == 1
    assert ran.err.count("too much; asking again in") == 3
    assert ran.err.splitlines()[-1].startswith("failed: ")


def test_nothing_obeys_what_a_model_or_tool_says(stage: Stage) -> None:
    stage.plays(calls("printf '\\033]0;owned\\007'"), {"text": "a\x1b[2Jb\u202ec"})

    ran = stage.run("run", "dig", "--approve", "always")

    assert ran.out == "> bash: printf '\\033]0;owned\\007'\n  \\x1b]0;owned\\x07\na\\x1b[2Jb\\u202ec\n"


def test_only_a_terminal_needs_rich(stage: Stage) -> None:
    for output in ("text", "jsonl"):
        ran = stage.run("run", "dig", "--output", output, PYTHONPROFILEIMPORTTIME="1")
        assert "treblehook.cli.foreground" in ran.err
        assert "rich" not in ran.err


def test_text_outside_the_encoding_is_no_failure(stage: Stage) -> None:
    stage.plays({"text": "Übermut ✓"})

    ran = stage.run("run", "dig", PYTHONIOENCODING="ascii")

    assert (ran.status, ran.out) == (0, "\\xdcbermut \\u2713\n")


def test_of_a_subagent_rows_and_calls_are_shown(stage: Stage) -> None:
    stage.plays(
        {"tools": [{"name": "agent", "args": {"task": "dig here"}}]},
        {"text": "Done."},
        routes=[{"match": "dig here", "turns": [calls("echo found", text="I dig."), {"text": "found it"}]}],
    )

    lines = stage.run("run", "dig", "--approve", "always").out.splitlines()

    assert lines[0] == "> agent: dig here"
    assert [line[8:] for line in lines[1:3]] == [" > bash: echo found", "   found"]
    assert lines[3:] == ["  found it", "Done."]


# A terminal


@pytest.fixture
def argv(stage: Stage) -> list[str]:
    return stage.arguments("run", "dig", "--approve", "always")


def test_a_terminal_shows_cards_and_what_is_waited_for(stage: Stage, argv: list[str]) -> None:
    stage.plays(
        calls(f"seq 1 20; until [ -e {stage.folder}/go ]; do sleep 0.01; done", text="I count."), calls("exit 3"), {"text": "Done."}
    )
    person = Terminal(argv, stage.workspace, stage.environment())
    person.shows("I count.")
    person.shows("● bash  seq 1 20; until")
    person.shows("waiting for the tool bash, ")
    person.shows(" s  20")

    (stage.folder / "go").touch()

    person.shows("  │ 8\n  │ … 12 more lines\n  ✓ 20 lines  ")
    person.shows("● bash  exit 3\n")
    person.shows("  ✗ failed: [exit status 3]")
    person.shows("Done.\n")
    assert person.ended() == 0
    person.close()


def test_a_terminal_streams_the_reply(stage: Stage, argv: list[str]) -> None:
    stage.home.hook("turn_ending", "slow", f'until [ -e {stage.folder}/go ]; do sleep 0.01; done; echo \'{{"power":"observe"}}\'')
    stage.plays({"text": "Under the third palm."})
    person = Terminal(argv, stage.workspace, stage.environment())

    person.shows("Under the third palm.")
    person.shows("waiting for the hook slow (turn_ending)")

    (stage.folder / "go").touch()
    assert person.ended() == 0
    person.close()


def test_a_terminal_can_be_the_standard_input(stage: Stage) -> None:
    stage.plays({"text": "Under the third palm."})
    person = Terminal(stage.arguments("run"), stage.workspace, stage.environment())
    person.shows("Type the prompt, then Ctrl-D.")

    person.types("where?\n\x04")

    person.shows("Under the third palm.")
    assert person.ended() == 0
    person.close()


def test_ctrl_c_at_the_prompt_is_an_interruption(stage: Stage) -> None:
    person = Terminal(stage.arguments("run"), stage.workspace, stage.environment())
    person.shows("Type the prompt, then Ctrl-D.")

    person.types("\x03")

    assert person.ended() == 130
    assert "Traceback" not in person.text
    person.close()


def test_a_terminal_without_a_cursor_is_written_to_as_a_pipe_is(stage: Stage) -> None:
    argv = ["/usr/bin/env", "TERM=dumb", *stage.arguments("run", "dig")]
    stage.plays({"text": "Done."})
    person = Terminal(argv, stage.workspace, stage.environment())

    assert person.ended() == 0
    assert said(person.text) == ["Done."]
    person.close()
