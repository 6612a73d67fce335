"""`treblehook hooks check`: what is wrong with a home, without running a hook."""

import asyncio
import os
from pathlib import Path

import click
from msgspec.structs import replace

from treblehook.cli.home_options import WRONG, home_option, output_option, problem_line, say_json
from treblehook.gateway.agents import AGENTS, codec_of
from treblehook.home.checks.check import Checked, check_home
from treblehook.host.problems import ConfigInvalid, Problem


@click.command(name="check")
@click.option("--agent", type=click.Choice(AGENTS), help="Find what this agent cannot honour too, and what happens instead.")
@home_option
@output_option
@click.pass_context
def check(context: click.Context, agent: str | None, home: Path, output: str) -> None:
    """Find what would not load, what can never work, and guards that do not guard.

    No hook is asked; extensions are activated and Lua is loaded, since only that tells whether it can be.
    Exit status 0 without errors, whatever
    the warnings; 2 with errors.
    """
    checked = asyncio.run(_checked(home, agent))
    for problem in checked.problems:
        if output == "jsonl":
            say_json({key: getattr(problem, key) for key in ("file", "place", "level", "message", "remedy")})
        else:
            click.secho(problem_line(problem), fg="red" if problem.level == "error" else "yellow")
    if output == "text":
        click.echo(_summary(checked))
    if any(problem.level == "error" for problem in checked.problems):
        context.exit(WRONG)


async def _checked(path: Path, agent: str | None) -> Checked:
    """What is wrong with a home, for sessions of our own or for those of an agent."""
    checked = await check_home(path, os.environ, Path.cwd())
    return checked if agent is None else replace(checked, problems=(*checked.problems, *await _unhonoured(path, agent)))


async def _unhonoured(path: Path, agent: str) -> list[Problem]:
    from treblehook.gateway.checks import unhonoured
    from treblehook.gateway.own_settings import read_by
    from treblehook.home.home import Home
    from treblehook.home.listing import bound_handlers

    try:
        async with Home(path, os.environ) as home:
            return list(unhonoured(await bound_handlers(home, Path.cwd(), read_by(agent)), codec_of(agent)))
    except ConfigInvalid:
        # What keeps the home from loading has been found by the check.
        return []


def _summary(checked: Checked) -> str:
    errors = sum(problem.level == "error" for problem in checked.problems)
    warnings = len(checked.problems) - errors
    return f"{_count(checked.hooks, 'hook')}: {_count(errors, 'error')}, {_count(warnings, 'warning')}"


def _count(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"
