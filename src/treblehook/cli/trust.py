"""`treblehook trust`: whether the code that comes with a workspace may run."""

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import click

from treblehook.cli.failures import FAILED
from treblehook.cli.home_options import WRONG, does_not_load, home_option
from treblehook.cli.output.safe_text import safe
from treblehook.contracts.claude.settings.entries import CommandLine
from treblehook.home.claude_settings import PROJECT, settings_files
from treblehook.home.place import absolute
from treblehook.home.settings import load_settings
from treblehook.home.trust import (
    Snapshot,
    Trusted,
    TrustStore,
    Untrustable,
    WorkspaceSettings,
    read_settings,
    read_workspace,
    readable,
    trust,
)
from treblehook.host.problems import ConfigInvalid


@click.command(name="trust")
@click.argument("workspace", type=click.Path(path_type=Path), metavar="[DIR]", default=".")
@click.option("--yes", is_flag=True, help="Do not ask; without a terminal nothing is trusted else.")
@click.option("--list", "listing", is_flag=True, help="Show what is trusted, and change nothing.")
@click.option("--revoke", is_flag=True, help="Take the trust in DIR back, whatever is in it now.")
@home_option
@click.pass_context
def command(context: click.Context, workspace: Path, yes: bool, listing: bool, revoke: bool, home: Path) -> None:
    """Trust the code of the workspace DIR (else this folder) as it is now: DIR/.crucible/lua, and where `[claude] settings` has
    "project", the hooks of DIR/.claude/settings.json and settings.local.json with the scripts in DIR/.claude/hooks.

    Its content is trusted, not its place: any changed byte takes the trust back, moving the folder does not.

    Exit status 0 when it is trusted, or there is nothing to trust; 1 when it stays untrusted; 2 when it cannot be trusted.
    """
    if listing + revoke + yes > 1:
        raise click.UsageError("--yes, --list and --revoke exclude each other.")
    store = TrustStore(home)
    try:
        place = absolute(workspace.expanduser(), "DIR").resolve()
        if listing:
            _list(store)
        elif revoke:
            _revoke(store, place)
        elif not _trusts(store, home, place, yes=yes):
            context.exit(FAILED)
    except ConfigInvalid as invalid:
        does_not_load(invalid.problems)
    except Untrustable as untrustable:
        click.echo(safe(f"error: {readable(untrustable.path)}: {untrustable.why}; while that is so it cannot be trusted"), err=True)
        context.exit(WRONG)


def _list(store: TrustStore) -> None:
    entries = store.entries()
    for entry in entries:
        click.echo(safe(f"{entry.at}  {entry.workspace}  {_count(len(entry.files), 'file')}  {entry.digest[:12]}"))
    if not entries:
        click.echo("No workspace is trusted.")


def _revoke(store: TrustStore, workspace: Path) -> None:
    digests = []
    for read in (read_workspace, read_settings):
        # What cannot be read now cannot run now; what was trusted of it goes by its place.
        with suppress(Untrustable):
            found = read(workspace)
            digests += [] if found is None else [found.digest]
    gone = store.revoke(readable(workspace), digests)
    click.echo(safe(f"{readable(workspace)} is not trusted any more." if gone else f"{readable(workspace)} was not trusted."))


def _trusts(store: TrustStore, home: Path, workspace: Path, *, yes: bool) -> bool:
    """Whether all of it is trusted in the end. What is shown is what is stored: it has been read once."""
    if not workspace.is_dir():
        raise click.UsageError(f"{workspace} is no folder.")
    with_settings = PROJECT in load_settings(home).claude
    readers: list[Callable[[Path], Snapshot | None]] = [read_workspace, *([read_settings] if with_settings else [])]
    found = [code for read in readers if (code := read(workspace)) is not None]
    if not found:
        more = ", and no hooks in .claude/settings.json" if with_settings else ""
        click.echo(safe(f"{readable(workspace)} has no .crucible/lua/init.lua{more}: there is nothing to trust."))
    answers = [_trusts_one(store, workspace, code, yes=yes) for code in found]
    return all(answers)


def _trusts_one(store: TrustStore, workspace: Path, found: Snapshot, *, yes: bool) -> bool:
    if store.is_trusted(found.digest):
        click.echo(safe(f"{readable(found.folder)} is trusted as it is."))
        return True
    for line in _shown(found, store.last(readable(workspace), found.kind)):
        click.echo(safe(line))
    if not yes and not _agreed():
        return False
    trust(store, found, workspace, datetime.now(UTC))
    click.echo("Trusted, until a byte of it changes.")
    return True


def _shown(found: Snapshot, last: Trusted | None) -> Iterator[str]:
    since = "It has not been trusted before" if last is None else f"Since it was trusted on {last.at[:10]} it has changed"
    size = sum(len(content) for content in found.files.values())
    yield f"{readable(found.folder)} has {_count(len(found.files), 'file')}, {_count(size, 'byte')}. {since}:"
    before = {} if last is None else dict(last.files)
    for name, digest in sorted(found.hashes.items()):
        was = before.pop(readable(name), None)
        mark = "  " if was == digest or last is None else "+ " if was is None else "~ "
        yield f"  {mark}{readable(name)} ({_count(len(found.files[name]), 'byte')})"
    yield from (f"  - {name}" for name in sorted(before))
    if isinstance(found, WorkspaceSettings):
        yield from _commands(found)
    yield "All of it may do whatever you may do on this computer."


def _commands(found: WorkspaceSettings) -> Iterator[str]:
    """Each hook with the very command or address that runs; scripts elsewhere, which a command may start, nobody looks at."""
    for hook in (hook for file in settings_files(found) for hook in file.hooks):
        yield f"  {hook.event.name}: {hook.how.line if isinstance(hook.how, CommandLine) else hook.how.url}"


def _agreed() -> bool:
    if not sys.stdin.isatty():
        click.echo("Not trusted: there is no terminal to ask at. Pass --yes to trust it.", err=True)
        return False
    if click.confirm("Trust it as it is now?"):
        return True
    click.echo("Not trusted.")
    return False


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
