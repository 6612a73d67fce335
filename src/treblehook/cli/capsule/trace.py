"""`treblehook capsule trace`: the timeline of a launch, from its trace."""

from pathlib import Path

import click

from treblehook.agent.transcript import TranscriptFailed
from treblehook.capsule.trace.reading import find_trace, read_trace
from treblehook.cli.capsule.timeline import line_of
from treblehook.cli.failures import exit_of, lines_of
from treblehook.cli.home_options import output_option, problem_line, say_json


@click.command(name="trace")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@output_option
@click.pass_context
def trace(context: click.Context, folder: Path, output: str) -> None:
    """The timeline of the launch whose trace is in DIR, a workdir or a session's folder in it: the newest one where there are several.

    The launch may still be running.
    """
    try:
        read = read_trace(find_trace(folder))
    except TranscriptFailed as error:
        for problem_text in lines_of(error):
            click.echo(problem_text, err=True)
        context.exit(exit_of(error))
    for problem in read.damage:
        click.echo(problem_line(problem), err=True)
    for depth, line in read.lines:
        if output == "jsonl":
            say_json(line)
        else:
            click.echo(line_of(depth, line))
    if read.torn and output == "text":
        click.secho("The last line of the file is not finished: it is being written, or its writer was killed.", dim=True)
