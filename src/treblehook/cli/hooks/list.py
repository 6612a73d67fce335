"""`treblehook hooks list`: every handler in the order in which it would run."""

import asyncio
import os
from pathlib import Path
from typing import Final

import click

from treblehook.cli.home_options import does_not_load, home_option, output_option, say_json, say_problems
from treblehook.cli.output.table import table
from treblehook.home.home import Home
from treblehook.home.listing import Bound, Listed, bound_handlers, listed
from treblehook.host.problems import ConfigInvalid, Problem

_HEAD: Final = (
    *("#", "event", "hook", "contract", "tier", "priority", "pattern"),
    *("timeout", "lane", "on failure", "mode", "sessions", "file"),
)
_NUMBERS: Final = frozenset(("#", "priority", "timeout"))
_SESSIONS: Final = {"every": "all", "user": "not in subagents", "subagent": "only in subagents"}


@click.command(name="list")
@home_option
@output_option
def list_hooks(home: Path, output: str) -> None:
    """Every handler in the order in which it would run, by event.

    Those that are switched off or held back are listed too, and those that run in some sessions only: Stop is not asked in
    subagents, SubagentStop only there. Exit status 2 where the configuration does not load.
    """
    try:
        bound, problems = asyncio.run(_bound(home))
    except ConfigInvalid as invalid:
        does_not_load(invalid.problems)
    say_problems(problems)
    records = [(one, listed(order, one)) for order, one in enumerate(bound, start=1)]
    if output == "jsonl":
        for _, record in records:
            say_json(record)
    elif records:
        lines = table(_HEAD, [_row(one, record, home) for one, record in records], right=_NUMBERS)
        click.secho(lines[0], bold=True)
        for line, (_, record) in zip(lines[1:], records, strict=True):
            click.secho(line, dim=record.mode == "off" or record.held_back is not None)
    else:
        click.echo(f"{home} has no hooks.")


async def _bound(path: Path) -> tuple[list[Bound], list[Problem]]:
    async with Home(path, os.environ) as home:
        bound = await bound_handlers(home, Path.cwd())
        # Each of the two kinds of sessions says what is wrong.
        return bound, list(dict.fromkeys(home.problems))


def _row(bound: Bound, record: Listed, home: Path) -> tuple[str, ...]:
    file = Path(record.file)
    place = str(file.relative_to(home)) if file.is_relative_to(home) else record.file
    return (
        str(record.order),
        record.event,
        record.hook,
        record.contract,
        record.tier,
        str(record.priority),
        record.pattern or "",
        "" if record.timeout_ms is None else f"{record.timeout_ms} ms",
        record.lane or "",
        record.on_failure,
        record.mode if record.held_back is None else f"held back: {record.held_back}",
        _SESSIONS[bound.sessions],
        place if record.line is None else f"{place}:{record.line}",
    )
