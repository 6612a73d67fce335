"""The flags that `run` and `chat` have in common."""

import os
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any, Literal

import click
from msgspec import Struct

from treblehook.cli.output.choice import Shape
from treblehook.cli.output.safe_text import safe
from treblehook.home.place import locate_home
from treblehook.home.profile import Profile, SessionWish
from treblehook.host.problems import ConfigInvalid

Approve = Literal["ask", "always", "never"]


class Flags(Struct, frozen=True):
    """What a user wants of a session: its home, how it is opened, who answers permission prompts, how it is shown."""

    home: Path
    wish: SessionWish
    approve: Approve = "ask"
    output: Shape = "text"


_OPTIONS = (
    click.option("--home", metavar="DIR", help="Folder with the hooks; else $TREBLEHOOK_HOME, else ~/.treblehook."),
    click.option("--workspace", type=click.Path(path_type=Path), metavar="DIR", help="Folder to work in; else the current one."),
    click.option("--model", metavar="SPEC", help="anthropic:NAME, openai:NAME, openai-responses:NAME, google:NAME or script:FILE."),
    click.option("--resume", metavar="ID", help="Go on with a session; the beginning of its id is enough."),
    click.option("--bare", is_flag=True, help="Run no hooks but gates."),
    click.option("--prompt-only", is_flag=True, help="Run no hooks but gates, and offer no tools."),
    click.option(
        "--approve",
        type=click.Choice(["ask", "always", "never"]),
        default="ask",
        show_default=True,
        help="The answer to a permission prompt that rules and hooks leave open; without a terminal, ask is never.",
    ),
    click.option(
        "--output", type=click.Choice(["text", "jsonl"]), default="text", show_default=True, help="Text, or one JSON record per line."
    ),
    click.option("--trust", is_flag=True, help="Trust this workspace's code as it is now."),
)


def session_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the flags; it gets them as the keyword arguments of `flags`."""
    return reduce(lambda wrapped, option: option(wrapped), reversed(_OPTIONS), command)


def flags(
    *,
    home: str | None,
    workspace: Path | None,
    model: str | None,
    resume: str | None,
    bare: bool,
    prompt_only: bool,
    approve: Approve,
    output: Shape,
    trust: bool,
) -> Flags:
    """The flags as one value. Raises `click.UsageError` where they contradict each other, or name no home that can be used."""
    if bare and prompt_only:
        raise click.UsageError("--bare and --prompt-only exclude each other; --prompt-only runs no hooks either.")
    try:
        place = locate_home(home, os.environ)
    except ConfigInvalid as invalid:
        raise click.UsageError(str(invalid)) from invalid
    if not place.exists() and (home or os.environ.get("TREBLEHOOK_HOME")):
        click.echo(f"warning: {safe(str(place))}: there is no such folder yet, so there are no hooks in it", err=True)
    profile: Profile | None = "bare" if bare else "prompt-only" if prompt_only else None
    return Flags(place, SessionWish(workspace, model, resume, profile, trust=trust), approve, output)
