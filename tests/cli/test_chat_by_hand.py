"""`treblehook chat` at a terminal: typing, sending, stopping, leaving."""

import os
import signal
from collections.abc import Iterator

import pytest

from tests.cli.test_interruption import logbook, pid_of, waits
from tests.support.command_run import Stage, calls, wait_for
from tests.support.processes import alive
from tests.support.terminal import Terminal

ESC, CTRL_C, CTRL_D, CTRL_U = "\x1b", "\x03", "\x04", "\x15"


@pytest.fixture
def stage(stage: Stage) -> Stage:
    stage.plays(after={"text": "Aye."})
    return stage


@pytest.fixture
def person(stage: Stage) -> Iterator[Terminal]:
    logbook(stage)
    terminal = Terminal(stage.arguments("chat", "--approve", "always"), stage.workspace, stage.environment())
    terminal.shows("leaves")
    terminal.shows("> ")
    yield terminal
    terminal.close()


def sent(stage: Stage) -> list[str]:
    """The prompts in the session file."""
    lines = stage.sessions()[0].read_text().splitlines()
    return [line.split('"text":"')[1].split('"')[0] for line in lines if '"type":"prompt"' in line]


def leaves(person: Terminal, stage: Stage) -> None:
    person.types(CTRL_D)
    assert person.ended() == 0
    assert '"reason":"detached"' in (stage.folder / "logbook").read_text()


def test_a_typed_line_is_sent_and_answered(stage: Stage, person: Terminal) -> None:
    assert not person.echoes
    person.types("where is it?\r")
    person.shows("> where is it?")
    person.shows("Aye.")

    leaves(person, stage)

    assert sent(stage) == ["where is it?"]


def test_a_line_can_be_edited(stage: Stage, person: Terminal) -> None:
    person.types("nothing" + CTRL_U + "where x is it" + "\x1b[D" * 6 + "\x7f\x7f" + "\x1b[F" + "?\r")
    person.shows("Aye.")

    leaves(person, stage)

    assert sent(stage) == ["where is it?"]


def test_pasted_lines_are_one_message(stage: Stage, person: Terminal) -> None:
    person.types("\x1b[200~one\ntwo\x1b[201~\r")
    person.shows("Aye.")

    leaves(person, stage)

    assert sent(stage) == ["one\\ntwo"]


@pytest.mark.parametrize("key", [ESC, CTRL_C])
def test_esc_and_ctrl_c_stop_the_turn_at_once(stage: Stage, person: Terminal, key: str) -> None:
    stage.plays(calls(waits(stage.folder)), after={"text": "Aye."})
    person.types("dig\r")
    person.shows("● bash")
    tool = pid_of(stage.folder)

    person.types(key)

    person.shows("interrupted")
    wait_for(lambda: not alive(tool))
    person.types("go on\r")
    person.shows("Aye.")
    leaves(person, stage)


def test_ctrl_c_stops_one_piece_of_work_after_the_other(stage: Stage, person: Terminal) -> None:
    stage.plays(aux={"text": "never", "delay": 600}, after={"text": "Aye."})
    person.types("dig\r")
    person.shows("Aye.")
    for _ in range(3):
        person.types("/compact\r")
        person.shows("compacting the conversation")
        person.types(CTRL_C)
        person.shows("not compacted: stopped by the user")
    leaves(person, stage)


def test_esc_stops_a_turn_while_the_model_is_silent(stage: Stage, person: Terminal) -> None:
    stage.plays({"text": "never", "delay": 600}, after={"text": "Aye."})
    person.types("dig\r")
    person.shows("waiting for script:")

    person.types(ESC)

    person.shows("interrupted")
    leaves(person, stage)


def test_what_is_typed_while_a_turn_runs_joins_it(stage: Stage, person: Terminal) -> None:
    stage.plays(calls(f"until [ -e {stage.folder}/go ]; do sleep 0.01; done"), after={"text": "Aye."})
    person.types("dig\r")
    person.shows("● bash")
    person.types("and hurry\r")
    person.shows("> and hurry")

    (stage.folder / "go").touch()

    person.shows("Aye.")
    leaves(person, stage)
    assert sent(stage) == ["dig", "and hurry"]
    assert stage.sessions()[0].read_text().count('"type":"end"') == 1


def test_commands_are_told_as_text(person: Terminal, stage: Stage) -> None:
    person.types("dig\r")
    person.shows("Aye.")

    # A compaction waits for the end of the turn.
    person.types("/compact\r")
    person.shows("compacted: ")
    person.types("/context\r")
    person.shows("in 1 message\n")
    person.types("/usage\r")
    person.shows("requests")
    person.types("/hooks\r")
    person.shows("logbook")
    person.types("/dance\r")
    person.shows("there is no command '/dance'; there are: /compact, /context, /usage, /hooks, /quit")
    person.types("/quit\r")

    assert person.ended() == 0


def test_ctrl_c_while_nothing_runs_drops_what_was_typed(person: Terminal, stage: Stage) -> None:
    person.types("drop me")
    person.shows("drop me")
    person.types(CTRL_C)
    person.types("keep me\r")
    person.shows("> keep me")
    person.shows("Aye.")

    leaves(person, stage)

    assert sent(stage) == ["keep me"]


def test_ctrl_d_leaves_only_an_empty_line(person: Terminal, stage: Stage) -> None:
    person.types("not yet" + CTRL_D + "\r")
    person.shows("Aye.")

    leaves(person, stage)


def test_leaving_stops_a_running_turn(stage: Stage, person: Terminal) -> None:
    stage.plays(calls(waits(stage.folder)))
    person.types("dig\r")
    tool = pid_of(stage.folder)

    leaves(person, stage)

    wait_for(lambda: not alive(tool))


def test_the_terminal_is_given_back(stage: Stage, person: Terminal) -> None:
    os.kill(person.process, signal.SIGTERM)

    assert person.ended() == 130
    assert person.echoes
    assert '"reason":"shutdown"' in (stage.folder / "logbook").read_text()


def test_a_second_ctrl_c_kills_and_gives_the_terminal_back(stage: Stage, person: Terminal) -> None:
    stage.home.hook("session_end", "stubborn", f"cat >/dev/null; trap '' TERM; {waits(stage.folder)}")
    terminal = Terminal(stage.arguments("chat"), stage.workspace, stage.environment())
    terminal.shows("leaves")
    os.kill(terminal.process, signal.SIGTERM)
    left_over = pid_of(stage.folder)

    os.kill(terminal.process, signal.SIGINT)

    assert terminal.ended() == -signal.SIGINT
    assert terminal.echoes
    terminal.close()
    os.kill(left_over, signal.SIGKILL)
