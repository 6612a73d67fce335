"""`--approve`: who answers the permission prompt that rules and hooks leave over."""

import os
import signal
from collections.abc import Callable, Iterator

import pytest

from tests.support.command_run import Stage, calls, only, said
from tests.support.terminal import Terminal

Open = Callable[..., Terminal]


@pytest.fixture
def stage(stage: Stage) -> Stage:
    stage.plays(calls("echo dug > hole"), {"text": "Done."})
    return stage


@pytest.fixture
def terminal(stage: Stage) -> Iterator[Open]:
    opened: list[Terminal] = []

    def start(*arguments: str) -> Terminal:
        opened.append(Terminal(stage.arguments(*arguments), stage.workspace, stage.environment()))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def dug(stage: Stage) -> bool:
    return (stage.workspace / "hole").exists()


def test_always_runs_the_tool(stage: Stage) -> None:
    result = only(stage.run("run", "dig", "--approve", "always", "--output", "jsonl").records, "tool_result")

    assert (result["ran"], dug(stage)) == (True, True)


def test_never_denies_it(stage: Stage) -> None:
    ran = stage.run("run", "dig", "--approve", "never", "--output", "jsonl")

    assert (ran.status, ran.err) == (0, "")
    assert (only(ran.records, "tool_result")["ran"], dug(stage)) == (False, False)


@pytest.mark.parametrize("flags", [[], ["--approve", "ask"]])
def test_ask_denies_without_a_terminal_and_says_so(stage: Stage, flags: list[str]) -> None:
    ran = stage.run("run", "dig", *flags, "--output", "jsonl")

    assert (only(ran.records, "tool_result")["ran"], dug(stage)) == (False, False)
    assert ran.err.startswith("bash: echo dug > hole: denied, since there is no terminal to ask at")


def test_a_rule_needs_no_word(stage: Stage) -> None:
    stage.home.settings('[permissions]\nallow = ["bash"]\n')

    ran = stage.run("run", "dig", "--approve", "never")

    assert (ran.status, said(ran.err), dug(stage)) == (0, [], True)


@pytest.mark.parametrize(("key", "runs"), [("y", True), ("n", False)])
def test_ask_asks_at_the_terminal(stage: Stage, terminal: Open, key: str, runs: bool) -> None:
    person = terminal("run", "dig")
    person.shows("bash: echo dug > hole")
    person.shows("no: ")
    assert not dug(stage)

    person.types(key)

    person.shows("Done.")
    assert person.ended() == 0
    assert dug(stage) is runs


def test_esc_at_the_question_stops_the_run(stage: Stage, terminal: Open) -> None:
    person = terminal("run", "dig")
    person.shows("no: ")

    person.types("\x1b")

    assert person.ended() == 130
    assert not dug(stage)


def test_ctrl_c_at_the_question_stops_the_run(stage: Stage, terminal: Open) -> None:
    person = terminal("run", "dig")
    person.shows("no: ")

    person.types("\x03")

    person.shows("interrupted")
    assert person.ended() == 130
    assert not dug(stage)


def test_a_chat_by_hand_asks_too_and_types_on_afterwards(stage: Stage, terminal: Open) -> None:
    person = terminal("chat")
    person.shows("leaves")
    person.types("dig\r")
    person.shows("no: ")

    person.types("y")

    person.shows("Done.")
    assert dug(stage)
    person.types("again\r")
    person.shows("> again")
    person.shows("Done.")
    person.types("\x04")
    assert person.ended() == 0


def test_esc_at_the_question_stops_a_turn_of_a_chat(stage: Stage, terminal: Open) -> None:
    person = terminal("chat")
    person.shows("leaves")
    person.types("dig\r")
    person.shows("no: ")

    person.types("\x1b")

    person.shows("interrupted")
    person.types("/quit\r")
    assert person.ended() == 0
    assert not dug(stage)


def test_the_terminal_is_given_back_though_a_subagent_still_asks(stage: Stage, terminal: Open) -> None:
    stage.home.settings('[permissions]\nallow = ["agent"]\n')
    stage.plays(
        {"tools": [{"name": "agent", "args": {"task": "dig here", "background": True}}]},
        {"text": "I wait."},
        routes=[{"match": "dig here", "turns": [calls("echo dug > hole")]}],
    )
    person = terminal("chat")
    person.shows("leaves")
    person.types("go\r")
    person.shows("bash: echo dug > hole")
    person.shows("no: ")

    os.kill(person.process, signal.SIGTERM)

    assert person.ended() == 130
    assert person.echoes
    assert not dug(stage)


def test_a_question_cannot_disguise_itself(stage: Stage, terminal: Open) -> None:
    stage.plays(calls("rm chest #\x1b[2K\rls"), {"text": "Done."})
    person = terminal("run", "dig")

    person.shows(r"bash: rm chest #\x1b[2K\rls")
    person.types("n")

    assert person.ended() == 0
