"""The gateway of a home, as agents are to reach it from here."""

import ipaddress
import shutil
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from treblehook.gateway.install.closed import closed_events
from treblehook.gateway.install.entries import HttpAccess
from treblehook.gateway.install.installing import Gateway
from treblehook.gateway.lines import ClientPlace
from treblehook.gateway.place import socket_path
from treblehook.home.home import Home
from treblehook.host.problems import ConfigInvalid

_NEEDED: Final = ("starlette", "uvicorn", "httptools")


async def open_gateway(path: Path, environ: Mapping[str, str], workspace: Path) -> Gateway:
    """Load the home, and see which of its hooks must not be lost. Raises `ConfigInvalid` where a session would not start."""
    async with Home(path, environ) as home:
        closed = await closed_events(home, workspace)
        http = _http(home)
    own = socket_path(path)
    # In a folder that others may have made somebody else could listen, and curl does not look who does.
    curl = shutil.which("curl", path=environ.get("PATH")) if own.parent == path else None
    place = ClientPlace(path, own, curl)
    return Gateway(place, closed, http)


def _http(home: Home) -> HttpAccess | None:
    """The daemon of the home over HTTP; None where none can run, or where it does not listen on this machine's own address."""
    if any(find_spec(module) is None for module in _NEEDED):
        return None
    from treblehook.daemon.settings import web_settings
    from treblehook.daemon.token import load_token

    settings, problems = web_settings(home.settings.web, str(home.settings.file))
    if any(problem.level == "error" for problem in problems):
        raise ConfigInvalid(problems)
    if not _is_here(settings.host):
        return None
    key = load_token(home.path)[0] if settings.api_key is None else settings.api_key
    return HttpAccess(f"http://127.0.0.1:{settings.port}", key)


def _is_here(host: str) -> bool:
    """Whether a daemon that listens on `host` is reached at 127.0.0.1."""
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return str(address) in ("127.0.0.1", "0.0.0.0", "::")
