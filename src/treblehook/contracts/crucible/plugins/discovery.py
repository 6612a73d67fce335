"""Finding plugins: `NAME/init.lua` or `NAME.lua` in the folders of a search path (crucible.md 10.3)."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from treblehook.contracts.crucible.plugins.names import NAME_RULE, is_name
from treblehook.host.problems import Problem

PATH_VARIABLE: Final = "TREBLEHOOK_PLUGIN_PATH"
INIT: Final = "init.lua"
_SUFFIX: Final = ".lua"

Report = Callable[[Problem], None]


class FoundPlugin(Struct, frozen=True):
    """A plugin on disk. `file` is what is evaluated; `folder` has its modules, None for a plugin that is a single file."""

    name: str
    file: Path
    folder: Path | None


def find_plugins(home: Path, environ: Mapping[str, str], report: Report) -> list[FoundPlugin]:
    """The plugins in the order in which they are loaded: by folder of the search path, then by name. The first of a name wins.

    What looks like a plugin and is none is reported, and so is one that is shadowed.
    """
    found: dict[str, FoundPlugin] = {}
    for folder in _search_path(home, environ, report):
        for plugin in _in_folder(folder, report):
            winner = found.setdefault(plugin.name, plugin)
            if winner is not plugin:
                problem = f"another plugin is named {plugin.name!r} too, so this one is not loaded"
                report(Problem(str(plugin.file), "", problem, f"rename or remove one; loaded is {winner.file}", "warning"))
    return list(found.values())


def find_plugin(path: Path) -> FoundPlugin | Problem:
    """The plugin at `path`, a folder or a file; or why there is none."""
    is_folder = os.path.isdir(path)
    name = path.name if is_folder else path.name.removesuffix(_SUFFIX)
    if not is_name(name):
        return Problem(str(path), "", f"no plugin can be named {name!r}", f"allowed: {NAME_RULE}")
    if not is_folder:
        return FoundPlugin(name, path, None)
    if not _has(path / INIT):
        return Problem(str(path), "", f"it is no plugin: there is no {INIT} in it")
    return FoundPlugin(name, path / INIT, path)


def _search_path(home: Path, environ: Mapping[str, str], report: Report) -> Iterator[Path]:
    """The folders of `$TREBLEHOOK_PLUGIN_PATH`, then `<home>/plugins`; a folder that is there twice counts once."""
    seen = set()
    for entry in filter(None, environ.get(PATH_VARIABLE, "").split(os.pathsep)):
        if not os.path.isdir(entry):
            report(Problem(entry, "", f"there is no such folder; ${PATH_VARIABLE} names it", level="warning"))
            continue
        folder = Path(os.path.abspath(entry))
        if (place := os.path.realpath(folder)) not in seen:
            seen.add(place)
            yield folder
    own = home / "plugins"
    if os.path.lexists(own) and os.path.realpath(own) not in seen:
        yield own


def _in_folder(folder: Path, report: Report) -> Iterator[FoundPlugin]:
    try:
        paths = [folder / name for name in os.listdir(folder) if _may_be_one(folder / name)]
    except OSError as error:
        report(Problem(str(folder), "", f"plugins cannot be looked for here: {error.strerror}"))
        return
    # Of a folder and a file of one name, the folder comes first.
    for path in sorted(paths, key=lambda path: (path.name.removesuffix(_SUFFIX), path.name)):
        plugin = find_plugin(path)
        if isinstance(plugin, Problem):
            report(plugin)
        else:
            yield plugin


def _may_be_one(path: Path) -> bool:
    """Hidden entries and files of other kinds are somebody else's; a link that leads nowhere was meant to be one."""
    return not path.name.startswith(".") and (path.name.endswith(_SUFFIX) or os.path.isdir(path) or not os.path.exists(path))


def _has(path: Path) -> bool:
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        # It may be there; whoever reads it is told what is in the way.
        return True
    return True
