"""`treblehook hooks check`: what is wrong with a home, without running a hook."""

import asyncio
import os
from pathlib import Path

import click

from treblehook.cli.home_options import WRONG, home_option, output_option, problem_line, say_json
from treblehook.home.checks.check import Checked, check_home


@click.command(name="check")
@home_option
@output_option
@click.pass_context
def check(context: click.Context, home: Path, output: str) -> None:
    """Find what would not load, what can never work, and guards that do not guard.

    No hook is asked; extensions are activated and Lua is loaded, since only that tells whether it can be.
    Exit status 0 without errors, whatever
    the warnings; 2 with errors.
    """
    checked = asyncio.run(check_home(home, os.environ, Path.cwd()))
    for problem in checked.problems:
        if output == "jsonl":
            say_json({key: getattr(problem, key) for key in ("file", "place", "level", "message", "remedy")})
        else:
            click.secho(problem_line(problem), fg="red" if problem.level == "error" else "yellow")
    if output == "text":
        click.echo(_summary(checked))
    if any(problem.level == "error" for problem in checked.problems):
        context.exit(WRONG)


def _summary(checked: Checked) -> str:
    errors = sum(problem.level == "error" for problem in checked.problems)
    warnings = len(checked.problems) - errors
    return f"{_count(checked.hooks, 'hook')}: {_count(errors, 'error')}, {_count(warnings, 'warning')}"


def _count(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"
