"""`treblehook hooks new`: a folder with a hook that works, to go on from."""

import shutil
from pathlib import Path
from typing import Final

import click

from treblehook.cli.home_options import home_option
from treblehook.contracts.vera.extensions.manifest import DECLARATIONS, is_id

_TEMPLATES: Final = Path(__file__).parent / "templates"
_SUFFIX: Final = ".txt"
"""What files of Python have after their name, so that nobody takes them for a part of this package."""


def _id(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not is_id(value):
        raise click.BadParameter(
            f"found {value!r}; allowed are lower-case letters and digits, in parts separated by a single '.', '_' or '-'."
        )
    return value


@click.command(name="new")
@click.option("--js", callback=_id, metavar="NAME", help="A JavaScript extension of this id.")
@click.option("--python", callback=_id, metavar="NAME", help="A Python extension of this id.")
@click.option(
    "--in",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Make it in this folder; else in the home's extensions, where it is found by itself.",
)
@home_option
def new(js: str | None, python: str | None, folder: Path | None, home: Path) -> None:
    """Make a folder with a hook that works, a test and a README.

    Exit status 2 where something of that name is there already.
    """
    if js is not None and python is not None:
        raise click.UsageError("Make one at a time: --js NAME or --python NAME.")
    name = js or python
    if name is None:
        raise click.UsageError("Say what to make: --js NAME or --python NAME.")
    place = (home / "extensions" if folder is None else folder.absolute()) / name
    try:
        place.mkdir(parents=True)
        _fill(place, name, "extension" if js else "python")
    except FileExistsError as error:
        raise click.UsageError(f"{place} is there already.") from error
    except OSError as error:
        raise click.UsageError(f"{place} cannot be made: {error.strerror}.") from error
    test = f"npm --prefix {place} test" if js else f"python3 -m unittest discover {place}"
    click.echo(f"{place} is an extension now. Test it: {test}")
    if folder is not None:
        click.echo(f'Have it loaded: {{"extensions": [{{"path": "{place}"}}]}} in {home / "config.json"}')


def _fill(place: Path, name: str, template: str) -> None:
    folder = _TEMPLATES / template
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        copy = place / str(file.relative_to(folder)).removesuffix(_SUFFIX)
        copy.parent.mkdir(exist_ok=True)
        copy.write_text(file.read_text(encoding="utf-8").replace("NAME", name), encoding="utf-8")
    if template == "extension":
        shutil.copyfile(DECLARATIONS, place / DECLARATIONS.name)
