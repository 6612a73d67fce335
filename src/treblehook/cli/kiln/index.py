"""`treblehook kiln index`: bring the index up to the files."""

from pathlib import Path

import click

from treblehook.cli.failures import FAILED
from treblehook.cli.home_options import home_option, output_option
from treblehook.cli.kiln.opening import opened, run, say
from treblehook.cli.kiln.telling import Bar, Shown


@click.command(name="index")
@click.argument("name", required=False)
@click.option("--force", is_flag=True, help="Read and index every note again, changed or not.")
@home_option
@output_option
def index(name: str | None, force: bool, home: Path, output: str) -> None:
    """Index the notes of the kiln NAME, or of all.

    Only what has changed is read. Ctrl-C stops it, and the next run goes on from there. A kiln that a running treblehook looks after
    is up to date already. Exit status 1 where an index cannot be written.
    """
    run(lambda: _index(name, force, home, output), "stopped; the next run goes on from here")


async def _index(name: str | None, force: bool, home: Path, output: str) -> int:
    status = 0
    async with opened(home, Shown(output)) as kilns:
        for one in [name] if name else kilns.kilns:
            process = kilns.owner(one)
            if process is not None:
                say(f"the kiln {one} is kept up to date by a running treblehook (process {process})")
                status = FAILED if force else status
                continue
            with Bar(output) as bar:
                await kilns.index(one, force=force, progress=bar)
                await kilns.embed(one, progress=bar)
    return status
