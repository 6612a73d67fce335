"""The commands of `treblehook hooks` live here, one file per command; finding out what they show may not."""

import click

from treblehook.cli.hooks.check import check
from treblehook.cli.hooks.fire import fire
from treblehook.cli.hooks.list import list_hooks


@click.group(name="hooks", commands={"list": list_hooks, "check": check, "fire": fire})
def command() -> None:
    """List, check and fire hooks."""
