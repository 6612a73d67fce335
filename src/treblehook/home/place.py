"""Where a home is."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from treblehook.host.private import make_private_folder
from treblehook.host.problems import ConfigInvalid, Problem


def locate_home(flag: str | Path | None, environ: Mapping[str, str]) -> Path:
    """The home's absolute path: `--home`, else `$TREBLEHOOK_HOME`, else `~/.treblehook`. It need not be there yet.

    Raises `ConfigInvalid` for a home that is a file, or a folder that cannot be read, and for a relative one where `absolute` does.
    """
    chosen, source = _chosen(flag, environ)
    home = absolute(chosen, "--home")
    problem = _problem(home)
    if problem:
        raise ConfigInvalid([Problem(str(home), "", problem, f"allowed: a folder of yours, or none yet; it was named by {source}")])
    return home


def absolute(path: Path, flag: str) -> Path:
    """The path from the root on, with its dots removed. Raises `ConfigInvalid` for a relative one in a folder that was deleted."""
    try:
        return Path(os.path.abspath(path))
    except FileNotFoundError as error:
        what = "it is a relative path, and the current folder does not exist any more"
        raise ConfigInvalid([Problem(str(path), "", what, f"name an absolute one with {flag}")]) from error


def make_home_folder(home: Path, *names: str) -> Path:
    """The folder `names` inside the home, made with mode 0700 if it is not there; so is the home itself.

    Raises `ConfigInvalid` where it cannot be made.
    """
    folder = home.joinpath(*names)
    try:
        make_private_folder(folder)
    except OSError as error:
        raise ConfigInvalid([Problem(str(folder), "", f"the folder cannot be made: {error.strerror}")]) from error
    return folder


def _chosen(flag: str | Path | None, environ: Mapping[str, str]) -> tuple[Path, str]:
    user_home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    if flag is not None and str(flag):
        return _expanded(Path(flag), user_home), "--home"
    if environ.get("TREBLEHOOK_HOME"):
        return _expanded(Path(environ["TREBLEHOOK_HOME"]), user_home), "$TREBLEHOOK_HOME"
    return user_home / ".treblehook", "nothing, so it is the default"


def _expanded(path: Path, user_home: Path) -> Path:
    """The path with a leading `~` replaced; no shell has done it for a variable or behind a `=`."""
    return user_home.joinpath(*path.parts[1:]) if path.parts[:1] == ("~",) else path


def _problem(home: Path) -> str:
    try:
        if not stat.S_ISDIR(os.stat(home).st_mode):
            return "it is not a folder"
        os.listdir(home)
        # To list a folder is one right, to reach what is in it another.
        os.stat(os.path.join(home, "."))
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    return ""
