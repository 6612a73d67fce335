"""`treblehook chat`: an interactive session, by hand or by JSON lines."""

import asyncio
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import click

from treblehook.agent.permissions import Approver
from treblehook.agent.session import Session
from treblehook.agent.steps import TurnEnd
from treblehook.cli.approving import Asking, NobodyToAsk, approver
from treblehook.cli.chatting.lines import LineInvalid, read_lines, take_json, take_text
from treblehook.cli.chatting.talk import Talk
from treblehook.cli.foreground import Foreground
from treblehook.cli.options import Flags, flags, session_options
from treblehook.cli.output.choice import Shape, choose_output, standard_streams
from treblehook.cli.output.output import Output

Chatting = Callable[[Talk, Foreground], AbstractContextManager[None]]


@click.command()
@session_options
@click.option("--input", type=click.Choice(["text", "jsonl"]), default="text", show_default=True, help="Text, or one JSON object per line.")
def command(input: Shape, **options: Any) -> None:
    """An interactive session.

    At a terminal, Enter sends a message, into the running turn where there is one; Esc or Ctrl-C stops the turn, Ctrl-D or /quit
    leaves. From a pipe or a file each line is a message, one after the other. Lines that begin with a slash are commands:
    /compact, /context, /usage, /hooks, /quit.

    With --input jsonl each line is one of {"prompt": "…", "when": "idle"|"now"}, {"command": "/compact"} and
    {"interrupt": true}. The end of the input lets all that was sent be done.
    """
    sys.exit(asyncio.run(chat(flags(**options), input)))


async def chat(wanted: Flags, shape: Shape) -> int:
    """Talk until the user leaves; answers the exit status."""
    out, err = standard_streams()
    output = choose_output(wanted.output, out, err)
    chatting, asking = _by_hand(output) if _at_a_keyboard(shape, wanted, out.terminal) else _by_lines(output, shape)

    async def converse(foreground: Foreground, session: Session) -> TurnEnd | None:
        def work_over() -> None:
            foreground.tell_problems()
            foreground.rearm()

        talk = Talk(session, output, work_over)
        with chatting(talk, foreground):
            await talk.run()
        # Each turn has had its `end`; without any, the session needs one.
        return None if talk.turns else TurnEnd("finished")

    return await Foreground(wanted, output, out, approver(wanted.approve, asking), converse).run()


def _at_a_keyboard(shape: Shape, wanted: Flags, terminal: bool) -> bool:
    return shape == "text" and wanted.output == "text" and terminal and sys.stdin is not None and sys.stdin.isatty()


def _by_hand(output: Output) -> tuple[Chatting, Approver]:
    # Only a chat by hand needs the keyboard, and rich.
    from treblehook.cli.chatting.by_hand import ByHand
    from treblehook.cli.output.terminal import Terminal

    assert isinstance(output, Terminal), "a terminal is shown a terminal's output"
    hand = ByHand(output)
    return hand.chatting, Asking(hand.paused, hand.interrupt)


def _by_lines(output: Output, shape: Shape) -> tuple[Chatting, Approver]:
    def chatting(talk: Talk, foreground: Foreground) -> AbstractContextManager[None]:
        number = 0

        def take(line: bytes) -> None:
            nonlocal number
            number += 1
            if shape == "text":
                take_text(line, talk)
            elif line.strip():
                try:
                    take_json(line, talk)
                except LineInvalid as invalid:
                    output.misunderstood(talk.session.id, f"line {number}: {invalid}")

        if sys.stdin is None:
            # The process was started with its input closed.
            talk.input_is_over()
        else:
            read_lines(sys.stdin.fileno(), take, talk.input_is_over)
        return nullcontext()

    return chatting, NobodyToAsk(output.problem)
