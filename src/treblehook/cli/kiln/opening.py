"""The kilns of a home, opened for one command."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import click

from treblehook.cli.failures import FAILED, INTERRUPTED
from treblehook.cli.home_options import does_not_load, problem_line, say_problems
from treblehook.cli.kiln.telling import Shown
from treblehook.cli.output.safe_text import safe
from treblehook.cli.signals import Signals
from treblehook.home.home import Home
from treblehook.host.notes import NoteProblem
from treblehook.host.problems import ConfigInvalid, Problem
from treblehook.kiln.kiln import Hearer
from treblehook.kiln.kilns import Kilns, KilnsMissing
from treblehook.lifecycle.daemon_events import DaemonEvent


@asynccontextmanager
async def opened(home: Path, shown: Shown, *, watch: bool = False, hooks: bool = True) -> AsyncIterator[Kilns]:
    """The kilns of a home, whose hooks hear of notes beside the user; leaving waits for them.

    Raises `ConfigInvalid` where there is none that can be used, `KilnsMissing`, and to watch them `NoteProblem` where another process does.
    """
    async with Home(home, os.environ) as open_home:

        def tell(event: DaemonEvent) -> None:
            shown.event(event)
            open_home.bus.tell(event)

        kilns = open_home.made_kilns(Hearer(tell, shown.completed, lambda problem: click.echo(problem_line(problem), err=True)))
        if kilns is None:
            remedy = 'name a folder of notes: [kilns] and notes = "~/notes"'
            raise ConfigInvalid([Problem(str(open_home.settings.file), "kilns", "there are none", remedy)])
        if hooks:
            open_home.lua.start()
        say_problems(open_home.problems)
        told = len(open_home.problems)
        if watch:
            check_free(kilns, kilns.kilns)
        await kilns.open(watch=watch)
        yield kilns
    say_problems(open_home.problems[told:])


def run(work: Callable[[], Awaitable[int]], stopped: str = "") -> None:
    """Do a command's work and leave with its status; what goes wrong is told in a line, and `stopped` where the user stops it."""
    sys.exit(asyncio.run(_ran(work, stopped)))


async def _ran(work: Callable[[], Awaitable[int]], stopped: str) -> int:
    task = asyncio.ensure_future(work())

    def heard(number: signal.Signals) -> None:
        task.cancel()

    with Signals(heard, lambda: None):
        try:
            return await task
        except asyncio.CancelledError:
            if stopped:
                click.echo(stopped, err=True)
            return INTERRUPTED
        except ConfigInvalid as invalid:
            does_not_load(invalid.problems)
        except (NoteProblem, KilnsMissing) as problem:
            say_error(str(problem))
            return FAILED


def say(message: str) -> None:
    """One line on stderr."""
    click.echo(safe(message.replace("\n", " ")), err=True)


def say_error(message: str) -> None:
    """One line on stderr, of something that went wrong."""
    say(f"error: {message}")


def check_free(kilns: Kilns, names: Sequence[str]) -> None:
    """Raises `NoteProblem` where another process looks after one of these kilns."""
    for name in names:
        process = kilns.owner(name)
        if process is not None:
            raise NoteProblem(f"{name}: a running treblehook (process {process}) looks after this kiln; let it do that, or stop it first")
