"""`treblehook run`: one session in the foreground."""

import asyncio
import os
import signal
import sys
from typing import Any

import click

from treblehook.agent.session import Session
from treblehook.agent.steps import TurnEnd
from treblehook.cli.approving import Asking, NobodyToAsk, approver
from treblehook.cli.failures import INTERRUPTED
from treblehook.cli.foreground import Foreground
from treblehook.cli.options import Flags, flags, session_options
from treblehook.cli.output.choice import choose_output, standard_streams


@click.command()
@click.argument("prompt", required=False)
@session_options
def command(prompt: str | None, **options: Any) -> None:
    """One session in the foreground.

    Reads the prompt from standard input when none is given. Exit status: 0 finished, 1 the model or the tool loop failed,
    2 wrong usage or a configuration that does not load, 3 a hook blocked the prompt or the request, 4 a hook refused the
    session, 130 interrupted.
    """
    sys.exit(asyncio.run(run(flags(**options), _prompt(prompt))))


async def run(wanted: Flags, prompt: str) -> int:
    """Send `prompt` to a session; answers the exit status."""
    out, err = standard_streams()
    output = choose_output(wanted.output, out, err)

    async def converse(foreground: Foreground, session: Session) -> TurnEnd:
        ends = [await session.prompt(prompt)]
        output.turn_ended(ends[0])
        if ends[0].status == "finished":
            await session.settle(ends.append)
        return next((end for end in ends if end.status != "finished"), ends[-1])

    # A question that nobody would see is not asked.
    watched = out.terminal or err.terminal
    asking = Asking(output.paused, lambda: foreground.stop(signal.SIGINT)) if watched else NobodyToAsk(output.problem)
    foreground = Foreground(wanted, output, out, approver(wanted.approve, asking), converse)
    return await foreground.run()


def _prompt(given: str | None) -> str:
    """The prompt as text that can be sent. Raises `click.UsageError` where there is none."""
    try:
        found = _standard_input() if given is None else os.fsencode(given).decode(errors="replace")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    if not found.strip():
        raise click.UsageError("there is no prompt: give one as an argument, or on standard input.")
    return found


def _standard_input() -> str:
    if sys.stdin is None:
        # The process was started with its input closed.
        return ""
    if sys.stdin.isatty():
        print("Type the prompt, then Ctrl-D.", file=sys.stderr)
    return sys.stdin.buffer.read().decode(errors="replace").rstrip("\n")
