"""`treblehook hooks new`: a folder with a hook that works, to go on from."""

import shutil
from pathlib import Path
from typing import Final

import click

from treblehook.cli.home_options import home_option
from treblehook.contracts.vera.extensions.manifest import DECLARATIONS, is_id

_TEMPLATE: Final = Path(__file__).parent / "templates" / "extension"


def _id(context: click.Context, parameter: click.Parameter, value: str) -> str:
    if not is_id(value):
        raise click.BadParameter(
            f"found {value!r}; allowed are lower-case letters and digits, in parts separated by a single '.', '_' or '-'."
        )
    return value


@click.command(name="new")
@click.option("--js", "name", required=True, callback=_id, metavar="NAME", help="A JavaScript extension of this id.")
@click.option(
    "--in",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Make it in this folder; else in the home's extensions, where it is found by itself.",
)
@home_option
def new(name: str, folder: Path | None, home: Path) -> None:
    """Make a folder with a hook that works, its declarations, a test and a README.

    Exit status 2 where something of that name is there already.
    """
    place = (home / "extensions" if folder is None else folder.absolute()) / name
    try:
        place.mkdir(parents=True)
        _fill(place, name)
    except FileExistsError as error:
        raise click.UsageError(f"{place} is there already.") from error
    except OSError as error:
        raise click.UsageError(f"{place} cannot be made: {error.strerror}.") from error
    click.echo(f"{place} is an extension now. Test it: npm --prefix {place} test")
    if folder is not None:
        click.echo(f'Have it loaded: {{"extensions": [{{"path": "{place}"}}]}} in {home / "config.json"}')


def _fill(place: Path, name: str) -> None:
    for file in sorted(path for path in _TEMPLATE.rglob("*") if path.is_file()):
        copy = place / file.relative_to(_TEMPLATE)
        copy.parent.mkdir(exist_ok=True)
        copy.write_text(file.read_text(encoding="utf-8").replace("NAME", name), encoding="utf-8")
    shutil.copyfile(DECLARATIONS, place / DECLARATIONS.name)
