"""What the commands that look into a home share: their options, and what they say of a home that does not load."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

import click
import msgspec

from treblehook.agent.transcript.records import encode_record
from treblehook.cli.output.safe_text import safe
from treblehook.home.place import locate_home
from treblehook.host.problems import ConfigInvalid, Problem

F = TypeVar("F", bound=Callable[..., Any])

WRONG: Final = 2
"""The exit status of wrong usage and of a configuration that does not load."""


def home_option(command: F) -> F:
    """`--home DIR`, handed over as the absolute path `home`."""
    return click.option(
        "--home",
        callback=lambda context, parameter, value: _home(value),
        type=click.Path(exists=True, file_okay=False),
        metavar="DIR",
        help="Folder with the hooks; else $TREBLEHOOK_HOME, else ~/.treblehook.",
    )(command)


def place_option(command: F) -> F:
    """`--home DIR` of a home that need not be there, handed over as the absolute path `home`."""
    return click.option(
        "--home",
        callback=lambda context, parameter, value: _home(value),
        metavar="DIR",
        help="Folder with the hooks; else $TREBLEHOOK_HOME, else ~/.treblehook.",
    )(command)


def output_option(command: F) -> F:
    """`--output text|jsonl`, handed over as `output`."""
    choice = click.Choice(["text", "jsonl"])
    return click.option("--output", type=choice, default="text", show_default=True, help="How it is shown.")(command)


def _home(given: str | None) -> Path:
    try:
        return locate_home(given, os.environ)
    except ConfigInvalid as invalid:
        does_not_load(invalid.problems)


def say_json(value: Any) -> None:
    """One line of JSON on stdout."""
    click.echo(encode_record(msgspec.to_builtins(value)).decode(), nl=False)


def say_problems(problems: Sequence[Problem]) -> None:
    """One line each on stderr."""
    for problem in problems:
        click.echo(problem_line(problem), err=True)


def problem_line(problem: Problem) -> str:
    """`error: FILE: PLACE: what (remedy)`."""
    return safe(f"{problem.level}: {problem}".replace("\n", " "))


def does_not_load(problems: Sequence[Problem]) -> NoReturn:
    """Say what is wrong with the home, and leave."""
    say_problems(problems)
    click.get_current_context().exit(WRONG)
