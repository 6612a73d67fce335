"""`treblehook uninstall`: an agent is as it was before `treblehook install`."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from treblehook.cli.agents.showing import agreed, say, show
from treblehook.cli.failures import FAILED
from treblehook.cli.home_options import WRONG, does_not_load, place_option
from treblehook.gateway.agents import AGENTS
from treblehook.host.problems import ConfigInvalid

if TYPE_CHECKING:
    from treblehook.gateway.install.installing import Change
    from treblehook.gateway.install.record import Record

_NO_TERMINAL: Final = "Nothing was changed: there is no terminal to ask at. Pass --yes to make the change."


@click.command(name="uninstall")
@click.argument("agent", type=click.Choice(AGENTS), metavar="AGENT")
@click.option("--yes", is_flag=True, help="Do not ask; without a terminal nothing is changed else.")
@click.option("--dry-run", is_flag=True, help="Show the change to the agent's configuration, and make none.")
@place_option
@click.pass_context
def command(context: click.Context, agent: str, yes: bool, dry_run: bool, home: Path) -> None:
    """Take out of AGENT's configuration what `treblehook install AGENT` put in, and nothing else.

    Exit status 0 when nothing of ours is left; 1 when you said no; 2 when it cannot be taken out, or there is nobody to ask.
    """
    if yes and dry_run:
        raise click.UsageError("--yes and --dry-run exclude each other.")
    from treblehook.gateway.install.files import ChangedMeanwhile
    from treblehook.gateway.install.installing import plan_uninstall
    from treblehook.gateway.install.places import settings_file
    from treblehook.gateway.install.record import Record

    try:
        record = Record(home)
        files = dict.fromkeys((settings_file(agent, os.environ), *record.files(agent)))
        changes = [plan_uninstall(agent, file, home, record.find(agent, file)) for file in files]
        for change in changes:
            _tell(change)
        if dry_run:
            return
        if not all(change.is_none for change in changes) and not yes and not agreed("Make this change?", _NO_TERMINAL):
            say("Nothing was changed.")
            context.exit(FAILED)
        for change in changes:
            _carry_out(change, record)
    except ConfigInvalid as invalid:
        does_not_load(invalid.problems)
    except ChangedMeanwhile as changed:
        click.echo(f"error: {changed}", err=True)
        context.exit(WRONG)


def _tell(change: "Change") -> None:
    if change.is_none:
        say(f"{change.found.file} has nothing of ours.")
        return
    show(change)
    for note in change.notes:
        say(note)


def _carry_out(change: "Change", record: "Record") -> None:
    from treblehook.cli.agents.codex import Leaving
    from treblehook.gateway.install.installing import carry_out

    leaving = Leaving(change.found.file, os.environ) if change.agent == "codex" else None
    for line in carry_out(change, record):
        say(line)
    if leaving is not None:
        leaving.end()
    if not change.is_none:
        say(f"Uninstalled: {change.found.file} has nothing of ours any more.")
