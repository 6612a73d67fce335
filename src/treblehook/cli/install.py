"""`treblehook install`: an agent that people already have asks our hooks."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Final

import click

from treblehook.cli.agents.showing import agreed, say, show, warn
from treblehook.cli.failures import FAILED
from treblehook.cli.home_options import WRONG, does_not_load, place_option
from treblehook.gateway.agents import AGENTS, codec_of
from treblehook.home.place import make_home_folder
from treblehook.host.problems import ConfigInvalid

_NO_TERMINAL: Final = "Nothing was changed: there is no terminal to ask at. Pass --yes to make the change."


@click.command(name="install")
@click.argument("agent", type=click.Choice(AGENTS), metavar="AGENT")
@click.option("--yes", is_flag=True, help="Do not ask; without a terminal nothing is changed else.")
@click.option("--dry-run", is_flag=True, help="Show the change to the agent's configuration, and make none.")
@click.option("--trust-hooks", is_flag=True, help="Codex only: trust the entries in Codex too, as /hooks in it would.")
@place_option
@click.pass_context
def command(context: click.Context, agent: str, yes: bool, dry_run: bool, trust_hooks: bool, home: Path) -> None:
    """Let AGENT ask the hooks of this home: claude-code, codex, gemini, qwen, copilot, opencode or pi.

    The agent's own user-level configuration is changed: the change is shown first, and made once you agree. Only entries of our own are
    added or renewed. Where a hook must not be lost, the agent runs a command that denies without an answer; elsewhere HTTP is used if the
    agent has it. Install again after hooks have come or gone.

    Exit status 0 when it is installed; 1 when you said no, or Codex does not trust the entries though --trust-hooks was given; 2 when it
    cannot be installed, or there is nobody to ask.
    """
    if yes and dry_run:
        raise click.UsageError("--yes and --dry-run exclude each other.")
    if trust_hooks and agent != "codex":
        raise click.UsageError("--trust-hooks is for codex: no other agent asks for it.")
    from treblehook.cli.agents.gateway import open_gateway
    from treblehook.gateway.install.files import ChangedMeanwhile
    from treblehook.gateway.install.installing import carry_out, plan_install
    from treblehook.gateway.install.places import settings_file
    from treblehook.gateway.install.record import Record

    try:
        make_home_folder(home)
        gateway = asyncio.run(open_gateway(home, os.environ, Path.cwd()))
        record, file = Record(home), settings_file(agent, os.environ)
        change = plan_install(agent, file, gateway, record.find(agent, file))
        if change.is_none:
            say(f"{file} is as it would be written: nothing to change.")
        else:
            show(change)
        for note in change.notes:
            say(note)
        if dry_run:
            return
        if not change.is_none and not yes and not agreed("Make this change?", _NO_TERMINAL):
            say("Nothing was changed.")
            context.exit(FAILED)
        for line in carry_out(change, record):
            say(line)
    except ConfigInvalid as invalid:
        does_not_load(invalid.problems)
    except ChangedMeanwhile as changed:
        click.echo(f"error: {changed}", err=True)
        context.exit(WRONG)
    if not change.is_none:
        say(f"Installed: {agent} asks at {len(codec_of(agent).hooked)} of its events. `treblehook doctor` fires a probe through it.")
    if agent == "codex" and not _trusted(trust_hooks, yes=yes):
        context.exit(FAILED)


def _trusted(wanted: bool, *, yes: bool) -> bool:
    """Codex's own step; false where it was asked for and failed."""
    from treblehook.cli.agents.codex import BY_HAND, trust, untrusted, warn_of_second_source

    warn_of_second_source(os.environ)
    if wanted:
        return trust(os.environ)
    left = untrusted(os.environ)
    if left == 0:
        return True
    if left and not yes and sys.stdin.isatty() and click.confirm(f"Trust these {left} entries in Codex too?"):
        return trust(os.environ)
    warn(f"{BY_HAND}, or: treblehook install codex --trust-hooks")
    return True
