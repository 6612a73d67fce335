"""The commands of `treblehook hooks` live here, one file per command; finding out what they show may not."""

import click

from treblehook.cli.command_group import CommandGroup
from treblehook.cli.hooks.build import build
from treblehook.cli.hooks.check import check
from treblehook.cli.hooks.fire import fire
from treblehook.cli.hooks.list import list_hooks
from treblehook.cli.hooks.new import new
from treblehook.cli.hooks.test import test


@click.group(
    name="hooks", cls=CommandGroup, commands={"list": list_hooks, "check": check, "fire": fire, "new": new, "build": build, "test": test}
)
def command() -> None:
    """List, check, fire, make, build and test hooks."""
