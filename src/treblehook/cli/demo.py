"""`treblehook demo`: a scripted session with a hook of every kind, in a temporary home."""

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import click

from treblehook.agent.records import Record
from treblehook.cli.options import Flags
from treblehook.cli.output.table import table
from treblehook.cli.run import run
from treblehook.home.profile import SessionWish
from treblehook.home.timeline import LAST, find, read

_FILES: Final = Path(__file__).with_name("demo_files")
_PROMPT: Final = "Find the treasure, and tell me where it is."
_HOOKS: Final = """\
remember    adds context to the prompt          (claude protocol)
guard       blocks commands that remove files
stay-here   rewrites a command
redact      takes passwords out of a result
map-check   sends the model back once           (claude protocol)
"""
_LUA: Final = "tide        answers in place of a command       (Lua)\n"
_COMPONENT: Final = "protect-shell  refuses to write to the chest    (WebAssembly)\n"


@click.command()
@click.option("--keep", is_flag=True, help="Keep the demo's files, and say where they are.")
def command(keep: bool) -> None:
    """A scripted session with one hook of every kind.

    It needs no key, asks no server, and works in a temporary folder.
    """
    folder = Path(tempfile.mkdtemp(prefix="treblehook-demo-"))
    try:
        status = _demo(folder)
    finally:
        if not keep:
            shutil.rmtree(folder)
    if keep:
        click.echo(f"\nThe files are in {folder}. Once more:\n{_once_more(folder)}")
    sys.exit(status)


def _demo(folder: Path) -> int:
    shutil.copytree(_FILES, folder, dirs_exist_ok=True)
    lua = find_spec("lupa") is not None
    if not lua:
        # A home with Lua does not start without the library.
        shutil.rmtree(folder / "home" / "plugins")
    component = all(map(find_spec, ("wasmtime", "yaml")))
    if not component:
        (folder / "home" / "config.toml").unlink()
    for hook in (folder / "home" / "hooks").iterdir():
        # An installer may have dropped the permission.
        hook.chmod(0o755)
    # The hooks ask for python3: the one that runs this is certainly there, and no slow wrapper around another.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    hooks = _HOOKS + (_LUA if lua else "") + (_COMPONENT if component else "")
    click.echo(f"{len(hooks.splitlines())} hooks are in this session; a script plays the model.\n\n{hooks}\nprompt: {_PROMPT}\n")
    wish = SessionWish(workspace=folder / "island", model=f"script:{folder / 'script.json'}")
    status = asyncio.run(run(Flags(folder / "home", wish, approve="always"), _PROMPT))
    click.echo("\nWho decided what:\n")
    rows = list(_rows(read(find(folder / "home" / "sessions", LAST)).records))
    for line in table(("event", "hook", "about", "decision", "ms"), rows, right=frozenset(["ms"])):
        click.echo(line)
    return status


def _rows(records: tuple[Record, ...]) -> Iterator[tuple[str, ...]]:
    """A row for each time that a hook was asked."""
    commands: dict[str, str] = {r["id"]: " ".join(map(str, r["input"].values())) for r in records if r["type"] == "tool_call"}
    for record in records:
        if record["type"] == "hook":
            about = commands.get(record["call"] or "", "")
            yield record["event"], record["hook"], about, _decision(record), f"{record['ms']:.1f}"


def _decision(record: Record) -> str:
    decision = record["decision"]
    if decision is None:
        return record["error"] or "pass"
    reason = decision.get("reason", "")
    return f"{decision['type']}: {reason}" if reason else str(decision["type"])


def _once_more(folder: Path) -> str:
    return (
        f"treblehook run --home {folder / 'home'} --workspace {folder / 'island'} \\\n"
        f"    --model script:{folder / 'script.json'} --approve always '{_PROMPT}'"
    )
