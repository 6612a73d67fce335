"""A change to an agent's file: shown, asked about, and what is said of it."""

import difflib
import re
import sys
from collections.abc import Iterator
from typing import Final

import click

from treblehook.cli.home_options import WRONG
from treblehook.cli.output.safe_text import safe
from treblehook.gateway.install.installing import Change

_COLOURS: Final = {"+": "green", "-": "red", "@": "cyan"}
_KEY: Final = re.compile(r"(Bearer )[^\"\s]+")
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")


def show(change: Change) -> None:
    """The change as a unified diff on standard output. Keys are not shown."""
    for line in _diff(change):
        click.echo(click.style(safe(_KEY.sub(r"\1***", line)), fg=_COLOURS.get(line[:1])))
    if change.mode is not None and change.mode != change.found.mode and change.after is not None and change.found.mode is not None:
        click.echo(f"mode {change.found.mode:04o} becomes {change.mode:04o}")


def agreed(question: str, unasked: str) -> bool:
    """Whether the user at the terminal says yes. Where there is none, say so and leave."""
    if not sys.stdin.isatty():
        click.echo(unasked, err=True)
        click.get_current_context().exit(WRONG)
    return click.confirm(question)


def say(line: str) -> None:
    """Something that the user should know."""
    click.echo(safe(line.replace("\n", " ")))


def warn(line: str) -> None:
    """Something that is not as it should be."""
    click.echo(safe(f"warning: {line}".replace("\n", " ")), err=True)


def _diff(change: Change) -> Iterator[str]:
    before, after = (_lines(content) for content in (change.found.content, change.after))
    was, now = (str(change.found.file) if content is not None else "/dev/null" for content in (change.found.content, change.after))
    for line in difflib.unified_diff(before, after, was, now):
        yield line.removesuffix("\n").removesuffix("\r")
        if not line.endswith("\n") and not line.startswith(("---", "+++", "@@")):
            yield "\\ No newline at end of file"


def _lines(content: bytes | None) -> list[str]:
    return [] if content is None else _LINE.findall(content.decode("utf-8", "replace"))
