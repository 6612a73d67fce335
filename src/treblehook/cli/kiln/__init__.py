"""The commands of `treblehook kiln` live here, one file per command; what they do with notes may not.

`opening.py` is how each of them comes to the kilns of a home, `telling.py` how what happens there is shown.
"""

import click

from treblehook.cli.command_group import CommandGroup
from treblehook.cli.kiln.index import index
from treblehook.cli.kiln.rename import rename
from treblehook.cli.kiln.search import search
from treblehook.cli.kiln.watch import watch


@click.group(name="kiln", cls=CommandGroup, commands={"index": index, "search": search, "rename": rename, "watch": watch})
def command() -> None:
    """Index, search, rename and watch your notes."""
