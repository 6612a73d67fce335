"""`treblehook kiln search`: find notes by words and by meaning."""

from pathlib import Path

import click
import msgspec

from treblehook.cli.home_options import home_option, output_option, say_json
from treblehook.cli.kiln.opening import opened, run
from treblehook.cli.kiln.telling import Shown
from treblehook.cli.output.safe_text import one_line, safe
from treblehook.host.notes import FoundNote


@click.command(name="search")
@click.argument("query")
@click.option("--kiln", "names", multiple=True, metavar="NAME", help="Look in this kiln only; may be given several times.")
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="How many notes at most.")
@home_option
@output_option
def search(query: str, names: tuple[str, ...], limit: int, home: Path, output: str) -> None:
    """Find notes: words, "a phrase", beginnings like wor*, or a question."""
    run(lambda: _search(query, names, limit, home, output))


async def _search(query: str, names: tuple[str, ...], limit: int, home: Path, output: str) -> int:
    async with opened(home, Shown(output), hooks=False) as kilns:
        found = await kilns.search(query, kilns=names or None, limit=limit)
        for note in found:
            if output == "jsonl":
                say_json({"type": "note", **msgspec.to_builtins(note.id), "title": note.title, "score": note.score, "tags": note.tags})
            else:
                _show(note)
        if not found and not await kilns.listed(kilns=names or None):
            click.echo("nothing is indexed yet: treblehook kiln index", err=True)
    return 0


def _show(note: FoundNote) -> None:
    click.secho(safe(f"{note.id.kiln}: {note.id.path}"), bold=True)
    click.echo(f"  {one_line(note.title)}")
    snippet = " ".join(note.snippet.split())
    if snippet:
        click.echo(f"  {one_line(snippet)}")
