"""`treblehook hooks fire`: one event at the hooks of a home, to see what they answer."""

import asyncio
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NoReturn

import click
import msgspec

from treblehook.agent.records import hook_keys, stamped
from treblehook.cli.home_options import does_not_load, home_option, output_option, say_json, say_problems
from treblehook.cli.hooks.fire_text import report
from treblehook.home.dry_run.firing import DryRun, dry_run
from treblehook.home.dry_run.verdict import Status
from treblehook.home.dry_run.wish import Wish, WishInvalid, flag
from treblehook.home.event_names import EventName, UnknownEvent, event_named
from treblehook.home.home import Home
from treblehook.home.place import absolute
from treblehook.host.problems import ConfigInvalid

_EXITS: Final[dict[Status, int]] = {"blocked": 3, "denied": 3, "refused": 4}


def _event(context: click.Context, parameter: click.Parameter, value: str) -> EventName:
    try:
        return event_named(value)
    except UnknownEvent as unknown:
        raise click.BadParameter(str(unknown)) from unknown


def _object(context: click.Context, parameter: click.Parameter, value: str | None) -> dict[str, Any] | None:
    try:
        return None if value is None else msgspec.json.decode(value, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise click.BadParameter(f"found {value!r}, which is no JSON object: {error}") from error


def _text(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    # Bytes of an argument that are not UTF-8 arrive as half surrogates, which no JSON can hold.
    return None if value is None else value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@click.command(name="fire")
@click.argument("event", callback=_event)
@home_option
@click.option("--tool", callback=_text, metavar="NAME", help="The tool of the call; else bash.")
@click.option("--input", callback=_object, metavar="JSON", help="The tool's input. At an event without a tool: fields of the event.")
@click.option("--prompt", callback=_text, help="The user's prompt.")
@click.option("--result", callback=_text, metavar="TEXT", help="What the tool, or the subagent, came to.")
@click.option("--is-error", is_flag=True, help="The tool failed.")
@click.option("--reason", callback=_text, metavar="WORD", help="Why a session starts or ends, or a compaction: start, resume, manual, ...")
@click.option("--reply", callback=_text, help="The model's reply.")
@click.option("--session", callback=_text, metavar="ID", default="dry-run", show_default=True, help="The session's id.")
@click.option("--workspace", type=click.Path(exists=True, file_okay=False), default=".", metavar="DIR", help="Else this folder.")
@click.option("--spawned", is_flag=True, help="In a session that another agent started.")
@click.option("--joined", is_flag=True, help="The prompt arrived while a turn was running.")
@click.option("--component", type=click.Path(exists=True, path_type=Path), metavar="PATH", help="Ask this WebAssembly hook alone.")
@click.option("--show-payload", is_flag=True, help="Show what each executable was sent.")
@output_option
@click.pass_context
def fire(
    context: click.Context,
    /,
    event: EventName,
    home: Path,
    session: str,
    workspace: str,
    spawned: bool,
    component: Path | None,
    show_payload: bool,
    output: str,
    **options: Any,
) -> None:
    """Fire EVENT at the hooks of a home, and show what each was asked and answered.

    EVENT is the name that any contract has for an event, or ours: pre_tool_use, PreToolUse, pre_tool_call, on-tool-call,
    ToolProposed. The hooks really run; nothing else happens: no tool runs, no session is opened, nothing is written but
    the logs of extensions.
    What no option says is filled in with an example.

    Exit status 0 when the event passed or was rewritten, 3 when it was blocked or denied, 4 when it was refused, 2 for wrong
    usage or a configuration that does not load.
    """
    said: Any = {name: value for name, value in options.items() if value not in (None, False)}
    try:
        place = str(absolute(Path(workspace), "--workspace").resolve())
        if component is not None:
            _fire_component(context, component, event, Wish(session, place, spawned, said), output)
        run = asyncio.run(_fire(home, event, Wish(session, place, spawned, said)))
    except WishInvalid as invalid:
        raise click.BadParameter(str(invalid), context, param_hint=flag(invalid.option)) from invalid
    except ConfigInvalid as invalid:
        does_not_load(invalid.problems)
    if output == "jsonl":
        for record in _records(run, session, show_payload):
            say_json(record)
    else:
        click.echo(report(event, run, show_payload=show_payload))
    context.exit(_EXITS.get(run.verdict.status, 0))


def _fire_component(context: click.Context, component: Path, event: EventName, wish: Wish, output: str) -> NoReturn:
    # It loads the WebAssembly library.
    from treblehook.cli.hooks.fire_component import fired_at, told

    fired = asyncio.run(fired_at(component, event, wish))
    if output == "jsonl":
        say_json({"type": "fired", **msgspec.to_builtins(fired)})
    else:
        click.echo(told(fired))
    context.exit(_EXITS["blocked"] if fired.refuses else 0)


async def _fire(path: Path, event: EventName, wish: Wish) -> DryRun:
    async with Home(path, os.environ) as home:
        try:
            return await dry_run(home, event, wish)
        finally:
            say_problems(home.problems)


def _records(run: DryRun, session: str, show_payload: bool) -> list[dict[str, Any]]:
    records = []
    for asked in run.asked:
        payload = {"payload": asked.payload} if show_payload else {}
        records.append(stamped("hook", session, asked.at, **hook_keys(asked.call), raw=asked.call.raw, **payload))
    not_asked = [
        {"hook": one.handler.name, "event": one.handler.origin.event, "contract": one.handler.origin.contract, "why": one.why}
        for one in run.not_asked
    ]
    records.append(stamped("outcome", session, datetime.now(UTC), **msgspec.to_builtins(run.verdict), not_asked=not_asked))
    return records
