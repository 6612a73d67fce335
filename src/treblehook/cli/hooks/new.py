"""`treblehook hooks new`: a folder with a hook that works, to go on from."""

import shutil
from pathlib import Path
from typing import Final

import click
from msgspec import Struct

from treblehook.cli.home_options import home_option
from treblehook.contracts.crucible.plugins.annotations import ANNOTATIONS
from treblehook.contracts.crucible.plugins.names import NAME_RULE, is_name
from treblehook.contracts.murmur.authoring import AUTHOR_TYPES
from treblehook.contracts.murmur.authoring.names import NAME_RULE as HOOK_NAME_RULE
from treblehook.contracts.murmur.authoring.names import is_hook_name
from treblehook.contracts.vera.extensions.manifest import DECLARATIONS, is_id

_TEMPLATES: Final = Path(__file__).parent / "templates"
_SUFFIX: Final = ".txt"
"""What files of Python have after their name, so that nobody takes them for a part of this package."""


class _Kind(Struct, frozen=True):
    """What can be made: its template, the folder of the home that is searched by itself (None for what is listed wherever it is), how it
    is tested and loaded from elsewhere, and the declarations that an editor reads."""

    what: str
    template: str
    folder: str | None
    test: str
    load: str
    types: tuple[Path, ...] = ()
    types_folder: str = ""


_LOAD_EXTENSION: Final = 'Have it loaded: {{"extensions": [{{"path": "{place}"}}]}} in {home}/config.json'
_LOAD_PLUGIN: Final = "Have it loaded: TREBLEHOOK_PLUGIN_PATH={place.parent}"
_JS: Final = _Kind("extension", "extension", "extensions", "npm --prefix {place} test", _LOAD_EXTENSION, (DECLARATIONS,))
_PYTHON: Final = _Kind("extension", "python", "extensions", "python3 -m unittest discover {place}", _LOAD_EXTENSION)
_WASM: Final = _Kind(
    "hook", "wasm", None, "python3 -m unittest discover {place}", "Build it: treblehook hooks build {place}", (AUTHOR_TYPES,)
)
_LUA: Final = _Kind("plugin", "lua", "plugins", "treblehook hooks test {place}", _LOAD_PLUGIN, ANNOTATIONS, "types")


def _id(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not is_id(value):
        raise click.BadParameter(
            f"found {value!r}; allowed are lower-case letters and digits, in parts separated by a single '.', '_' or '-'."
        )
    return value


def _name(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not is_name(value):
        raise click.BadParameter(f"found {value!r}; allowed are {NAME_RULE}.")
    return value


def _hook_name(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not is_hook_name(value):
        raise click.BadParameter(f"found {value!r}; allowed are {HOOK_NAME_RULE}.")
    return value


@click.command(name="new")
@click.option("--js", callback=_id, metavar="NAME", help="A JavaScript extension of this id.")
@click.option("--python", callback=_id, metavar="NAME", help="A Python extension of this id.")
@click.option("--lua", callback=_name, metavar="NAME", help="A Lua plugin of this name.")
@click.option("--wasm", callback=_hook_name, metavar="NAME", help="A WebAssembly hook of this name, in Python; made in this folder.")
@click.option(
    "--in",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Make it in this folder; else in the home, where it is found by itself.",
)
@home_option
def new(js: str | None, python: str | None, lua: str | None, wasm: str | None, folder: Path | None, home: Path) -> None:
    """Make a folder with a hook that works, a test and a README.

    Exit status 2 where something of that name is there already.
    """
    wanted = [(kind, name) for kind, name in ((_JS, js), (_PYTHON, python), (_LUA, lua), (_WASM, wasm)) if name is not None]
    if len(wanted) != 1:
        raise click.UsageError("Make one at a time: --js NAME, --python NAME or --lua NAME, or --wasm NAME.")
    [(kind, name)] = wanted
    if kind.folder is None and folder is None:
        folder = Path.cwd()
    place = (home / str(kind.folder) if folder is None else folder.absolute()) / name
    try:
        place.mkdir(parents=True)
        _fill(place, name, kind)
    except FileExistsError as error:
        raise click.UsageError(f"{place} is there already.") from error
    except OSError as error:
        raise click.UsageError(f"{place} cannot be made: {error.strerror}.") from error
    article = "an" if kind.what == "extension" else "a"
    click.echo(f"{place} is {article} {kind.what} now. Test it: {kind.test.format(place=place)}")
    if folder is not None:
        click.echo(kind.load.format(place=place, home=home))


def _fill(place: Path, name: str, kind: _Kind) -> None:
    folder = _TEMPLATES / kind.template
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        copy = place / str(file.relative_to(folder)).removesuffix(_SUFFIX)
        copy.parent.mkdir(exist_ok=True)
        text = file.read_text(encoding="utf-8").replace("NAME", name).replace("PLACE", str(place))
        copy.write_text(text, encoding="utf-8")
    for types in kind.types:
        copy = place / kind.types_folder / types.name.removesuffix(_SUFFIX)
        copy.parent.mkdir(exist_ok=True)
        shutil.copyfile(types, copy)
