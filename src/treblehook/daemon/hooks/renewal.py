"""When a daemon that a hook call has started makes room for a new one, which the next call starts."""

import asyncio
from pathlib import Path
from typing import Final

from treblehook.home.home import Home

_LOOK_SECONDS: Final = 1.0


async def outdated(path: Path, home: Home) -> str:
    """Why, once it is: the socket at `path` is not the one that was there at first, so nobody finds this daemon, and no other can take its
    place; or what the home has started, policies among it, is configured otherwise by now."""
    mark = _mark(path)
    while _mark(path) == mark:
        home.reread()
        if home.outdated:
            return f"{home.settings.file} has been edited"
        await asyncio.sleep(_LOOK_SECONDS)
    return f"{path} has been removed"


def _mark(path: Path) -> tuple[int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
