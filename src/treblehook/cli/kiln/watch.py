"""`treblehook kiln watch`: follow the notes, and tell hooks what happens to them."""

import asyncio
from pathlib import Path

import click

from treblehook.cli.home_options import home_option, output_option
from treblehook.cli.kiln.opening import opened, run, say
from treblehook.cli.kiln.telling import Shown


@click.command(name="watch")
@home_option
@output_option
def watch(home: Path, output: str) -> None:
    """Keep every kiln indexed and tell hooks what happens to notes and files, until Ctrl-C."""
    run(lambda: _watch(home, output))


async def _watch(home: Path, output: str) -> int:
    async with opened(home, Shown(output), watch=True) as kilns:
        await kilns.watching()
        say(f"watching {', '.join(kilns.kilns)}")
        await asyncio.Event().wait()
    return 0
