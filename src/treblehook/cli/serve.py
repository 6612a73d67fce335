"""`treblehook serve`: the daemon of a home."""

import asyncio
import gc
import os
import resource
import sys
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING, Final

import click

from treblehook.agent.permissions import Always, Approver, Never
from treblehook.cli.approving import NobodyToAsk
from treblehook.cli.home_options import WRONG, problem_line, say_json
from treblehook.cli.options import Approve
from treblehook.cli.output.safe_text import safe
from treblehook.cli.signals import Signals
from treblehook.home.home import Home
from treblehook.home.place import locate_home, make_home_folder
from treblehook.host.problems import ConfigInvalid

if TYPE_CHECKING:
    from treblehook.daemon.lock import HomeLock
    from treblehook.daemon.serving import Daemon

_NEEDED: Final = ("starlette", "uvicorn", "httptools")
_OPEN_FILES: Final = 65536
"""So many connections and session files may be open, where the system lets us ask for it."""


@click.command(name="serve")
@click.option("--home", metavar="DIR", help="Folder with the hooks; else $TREBLEHOOK_HOME, else ~/.treblehook.")
@click.option("--host", metavar="ADDRESS", help="Where to listen; else [web] host of config.toml, else 127.0.0.1.")
@click.option("--port", type=click.IntRange(0, 65535), metavar="PORT", help="0 picks one; else [web] port of config.toml, else 3000.")
@click.option(
    "--approve",
    type=click.Choice(["ask", "always", "never"]),
    default="never",
    show_default=True,
    help="The answer to a permission prompt that rules and hooks leave open. There is nobody to ask: ask is never, and says so.",
)
@click.option("--on-demand", is_flag=True, help="As hook clients start it: a port that is in use, or another daemon, is no error.")
def command(home: str | None, host: str | None, port: int | None, approve: Approve, on_demand: bool) -> None:
    """The daemon: sessions over HTTP, their records as a stream, signed webhooks.

    The first line on standard output is {"type":"listening","url":…}; what an operator should know goes to standard error. Callers
    on this machine need no key, others send the content of <home>/token as a bearer token. Ctrl-C or SIGTERM ends it properly, a
    second one at once. Exit status 2: the configuration does not load, the port is in use, or another daemon serves this home.

    Started on demand it answers hook calls over its unix socket alone where the port is in use, and ends with 0 where another one is
    there.
    """
    missing = [module for module in _NEEDED if find_spec(module) is None]
    if missing:
        raise click.UsageError(f"serve needs {', '.join(missing)}: pip install 'treblehook[serve]'")
    sys.exit(asyncio.run(_serve(home, host, port, approve, on_demand=on_demand)))


async def _serve(home: str | None, host: str | None, port: int | None, approve: Approve, *, on_demand: bool) -> int:
    """Serve until a signal comes; answers the exit status."""
    from treblehook.daemon.lock import HomeLock, HomeServed

    try:
        place = make_home_folder(locate_home(home, os.environ))
        with HomeLock(place) as lock:
            await _serve_locked(place, lock, host, port, approve, on_demand=on_demand)
    except HomeServed as served:
        if on_demand:
            return 0
        click.echo(f"error: {served}", err=True)
        return WRONG
    except ConfigInvalid as invalid:
        for problem in invalid.problems:
            click.echo(problem_line(problem), err=True)
        return WRONG
    return 0


async def _serve_locked(place: Path, lock: "HomeLock", host: str | None, port: int | None, approve: Approve, *, on_demand: bool) -> None:
    from treblehook.daemon.hooks.socket import listening
    from treblehook.daemon.http.server import listen, url_of
    from treblehook.daemon.serving import Access, Daemon
    from treblehook.daemon.settings import web_settings
    from treblehook.daemon.token import load_token
    from treblehook.gateway.place import socket_path

    _raise_limit()
    async with Home(place, os.environ) as home:
        settings, problems = web_settings(home.settings.web, str(home.settings.file))
        home.problems.extend(problems)
        if any(problem.level == "error" for problem in problems):
            raise ConfigInvalid(problems)
        key = settings.api_key
        if key is None:
            key, warnings = load_token(place)
            home.problems.extend(warnings)
        address = host or settings.host
        access = Access((*settings.hosts, address), key)
        daemon = Daemon(home, access=access, approver=_approver(approve), problem=_say)
        hooks_at = socket_path(place)
        with ExitStack() as open_sockets, listening(hooks_at) as own, Signals(lambda number: daemon.stop(), lambda: None):
            bound: socket | None = None
            url = f"unix:{hooks_at}"
            try:
                bound = open_sockets.enter_context(listen(address, settings.port if port is None else port))
                url = url_of(address, bound)
            except ConfigInvalid as invalid:
                if not on_demand:
                    raise
                home.problems.extend(invalid.problems)
            lock.tell(url)
            daemon.tell_problems()
            # What is loaded by now stays for good: no later collection needs to look at it again.
            gc.collect()
            gc.freeze()
            watching = asyncio.ensure_future(_renew(hooks_at, home, daemon)) if on_demand else None
            await daemon.serve(bound, own, lambda: say_json({"type": "listening", "url": url}))
            if watching is not None:
                watching.cancel()


async def _renew(hooks_at: Path, home: Home, daemon: "Daemon") -> None:
    """End a daemon that is out of date: the next hook call starts another."""
    from treblehook.daemon.hooks.renewal import outdated

    _say(f"warning: this daemon ends, and the next hook call starts another: {await outdated(hooks_at, home)}")
    daemon.stop()


def _approver(approve: Approve) -> Approver:
    approvers: dict[Approve, Approver] = {"ask": NobodyToAsk(_say), "always": Always(), "never": Never()}
    return approvers[approve]


def _say(line: str) -> None:
    """Something that the operator should know."""
    click.echo(safe(line.replace("\n", " ")), err=True)


def _raise_limit() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
