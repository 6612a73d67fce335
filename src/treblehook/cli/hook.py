"""`treblehook hook`: the command client that an outside agent runs at each of its events."""

import sys
from pathlib import Path
from typing import Literal

import click

from treblehook.cli.home_options import home_option
from treblehook.gateway.agents import AGENTS
from treblehook.gateway.client.client import main
from treblehook.gateway.place import socket_path


@click.command(name="hook")
@click.argument("agent", type=click.Choice(AGENTS))
@click.option("--event", default="", metavar="NAME", help="The agent's own name of its event, where its payload does not tell it.")
@click.option(
    "--policy",
    type=click.Choice(["closed", "open"]),
    default="closed",
    show_default=True,
    help="What it means where no answer is to be had: a denial, or that the agent goes on.",
)
@home_option
def command(agent: str, event: str, policy: Literal["closed", "open"], home: Path) -> None:
    """Ask the hooks about a call of AGENT: its payload on standard input, the answer that it honours on standard output.

    The daemon answers; where none runs, one is started, and where that fails the hooks are asked right here. Exit status 0; 2 where no
    answer is to be had and the policy is closed. `treblehook install` writes a line that does the same and starts faster.
    """
    sys.exit(main([agent, event, policy, str(socket_path(home)), str(home)]))
