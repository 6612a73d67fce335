"""`treblehook kiln rename`: move a note and repoint the links that lead to it."""

from pathlib import Path

import click

from treblehook.cli.home_options import home_option, output_option
from treblehook.cli.kiln.opening import check_free, opened, run
from treblehook.cli.kiln.telling import Shown
from treblehook.host.notes import NoteId


@click.command(name="rename")
@click.argument("kiln")
@click.argument("source")
@click.argument("destination")
@home_option
@output_option
def rename(kiln: str, source: str, destination: str, home: Path, output: str) -> None:
    """Move the note SOURCE of KILN to DESTINATION, both paths inside the kiln.

    Links of other notes to it are repointed, and hooks hear of all that. Nothing is overwritten. Exit status 1 where it cannot be done,
    and then nothing has changed.
    """
    run(lambda: _rename(kiln, source, destination, home, output))


async def _rename(kiln: str, source: str, destination: str, home: Path, output: str) -> int:
    async with opened(home, Shown(output)) as kilns:
        check_free(kilns, [kiln])
        # Links that were written since the last time count as well.
        await kilns.index(kiln)
        await kilns.rename(NoteId(kiln, source), destination)
    return 0
