"""The commands of `treblehook capsule` live here, one file per command; what a capsule is may not.

`foreground.py` is one launch from the first signal to the exit status, `progress.py` tells of compilations, `timeline.py` shows a trace,
`needed.py` looks whether the libraries are there, before anything that needs them is imported.
"""

import click

from treblehook.cli.capsule.check import check
from treblehook.cli.capsule.run import run
from treblehook.cli.capsule.trace import trace
from treblehook.cli.command_group import CommandGroup


@click.group(name="capsule", cls=CommandGroup, commands={"run": run, "check": check, "trace": trace})
def command() -> None:
    """Run, check and trace capsules."""
