"""`treblehook capsule run`: one launch of a capsule."""

import asyncio
import os
import sys
from pathlib import Path

import click

from treblehook.cli.capsule.needed import check_installed
from treblehook.cli.home_options import output_option, place_option
from treblehook.cli.output.choice import Shape


@click.command(name="run")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("tasks", nargs=-1, metavar="[TASK]...")
@place_option
@click.option(
    "--workdir", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Folder to work in; else one of its own beside FILE."
)
@click.option("--model", metavar="SPEC", help="In the place of the manifest's inference.model.")
@output_option
def run(file: Path, tasks: tuple[str, ...], home: Path, workdir: Path | None, model: str | None, output: Shape) -> None:
    """Run the capsule FILE, a murmur.yaml, a folder with one, or a .mur.zip.

    Several tasks run in order in one launch; without one, `task.md` beside FILE is the task. Nothing prompts: the manifest's grant is the
    permission. Exit status: 0 finished, 1 a task failed, 2 it could not be staged, 130 interrupted.
    """
    check_installed()
    from treblehook.cli.capsule.foreground import Foreground, RunFlags

    texts = tuple(os.fsencode(task).decode(errors="replace") for task in tasks)
    sys.exit(asyncio.run(Foreground(RunFlags(file, texts, home, workdir, model, output)).run()))
