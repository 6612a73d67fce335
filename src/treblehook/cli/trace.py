"""`treblehook trace`: a session's timeline, from its file."""

from pathlib import Path

import click
import msgspec

from treblehook.agent.transcript import SessionNotFound, TranscriptFailed
from treblehook.cli.failures import exit_of, lines_of
from treblehook.cli.home_options import home_option, output_option, problem_line, say_json
from treblehook.cli.output.table import table
from treblehook.cli.output.timeline import lines_of_record
from treblehook.home.timeline import HookTotal, Timeline, find, read, totals

_HEAD = ("hook", "contract", "calls", "answers", "failures", "ms")
_NUMBERS = frozenset(("calls", "answers", "failures", "ms"))


@click.command(name="trace")
@click.argument("session")
@home_option
@output_option
@click.pass_context
def command(context: click.Context, /, session: str, home: Path, output: str) -> None:
    """The timeline of SESSION: who was asked about what, who answered what, how long it took.

    SESSION is an id, the beginning of one, or `last`. The session may still be running.
    """
    try:
        timeline = read(find(home / "sessions", session))
    except (SessionNotFound, TranscriptFailed) as error:
        for line in lines_of(error):
            click.echo(line, err=True)
        context.exit(exit_of(error))
    for problem in timeline.damage:
        click.echo(problem_line(problem), err=True)
    if output == "jsonl":
        _say_records(timeline)
    else:
        _say_text(timeline)


def _say_records(timeline: Timeline) -> None:
    for record in timeline.records:
        say_json(record)
    for total in totals(timeline):
        say_json({"type": "total", **msgspec.to_builtins(total)})


def _say_text(timeline: Timeline) -> None:
    for record in timeline.records:
        for line in lines_of_record(record):
            click.echo(line)
    if timeline.torn:
        click.secho("The last line of the file is not finished: it is being written, or its writer was killed.", dim=True)
    found = totals(timeline)
    click.echo()
    if not found:
        click.echo("No hook was asked.")
        return
    head, *rows = table(_HEAD, [_row(total) for total in found], right=_NUMBERS)
    click.secho(head, bold=True)
    for line in rows:
        click.echo(line)


def _row(total: HookTotal) -> tuple[str, ...]:
    return (total.hook, total.contract, str(total.calls), str(total.answers), str(total.failures), f"{total.ms:.1f}")
