"""`treblehook capsule check`: what is wrong with a capsule, without running it."""

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from treblehook.cli.capsule.needed import check_installed
from treblehook.cli.home_options import WRONG, output_option, place_option, problem_line, say_json

if TYPE_CHECKING:
    from treblehook.capsule.checking import Checked


@click.command(name="check")
@click.argument("file", type=click.Path(path_type=Path))
@place_option
@output_option
@click.pass_context
def check(context: click.Context, file: Path, home: Path, output: str) -> None:
    """Find what would keep the capsule FILE from being staged, and what can never work.

    Its artifacts are read and compiled, and nothing of them is run. Exit status 0 without errors, whatever the warnings; 2 with errors.
    """
    check_installed()
    from treblehook.capsule.checking import check_capsule
    from treblehook.cli.capsule.progress import CompilationProgress

    progress = CompilationProgress(lambda line: click.echo(line, err=True))
    checked = asyncio.run(check_capsule(file, home, os.environ, progress))
    for problem in checked.problems:
        if output == "jsonl":
            say_json({key: getattr(problem, key) for key in ("file", "place", "level", "message", "remedy")})
        else:
            click.secho(problem_line(problem), fg="red" if problem.level == "error" else "yellow")
    if output == "text":
        click.echo(_summary(checked))
    if any(problem.level == "error" for problem in checked.problems):
        context.exit(WRONG)


def _summary(checked: "Checked") -> str:
    errors = sum(problem.level == "error" for problem in checked.problems)
    return ", ".join(
        f"{number or 'no'} {what}{'' if number == 1 else 's'}"
        for number, what in ((checked.artifacts, "artifact"), (errors, "error"), (len(checked.problems) - errors, "warning"))
    )
