"""A dry run as a person reads it."""

from collections.abc import Iterator
from typing import Any

import click
import msgspec

from treblehook.cli.output.safe_text import one_line, safe
from treblehook.engine import Call, Mode
from treblehook.home.dry_run.firing import Asked, DryRun
from treblehook.home.dry_run.verdict import Verdict
from treblehook.home.event_names import EventName


def report(name: EventName, run: DryRun, *, show_payload: bool) -> str:
    """Who was asked and answered what, who was not asked, and the outcome."""
    return "\n".join(_lines(name, run, show_payload))


def _lines(name: EventName, run: DryRun, show_payload: bool) -> Iterator[str]:
    for number, asked in enumerate(run.asked, start=1):
        yield from _call(number, asked, show_payload)
    for one in run.not_asked:
        origin = one.handler.origin
        yield click.style(f"-  {safe(one.handler.name)} ({origin.contract} {origin.event}) was not asked: {one.why}", dim=True)
    if run.asked or run.not_asked:
        yield ""
    else:
        yield f"No hook is bound to {name.name} here."
    yield from _outcome(name.name, run.verdict)


def _call(number: int, asked: Asked, show_payload: bool) -> Iterator[str]:
    call = asked.call
    origin = call.handler.origin
    unobeyed = " [mode report: not obeyed]" if call.handler.mode is Mode.REPORT else ""
    yield f"{number}. {safe(call.handler.name)} ({origin.contract} {origin.event}): {_answer(call)}, {call.ms:.1f} ms{unobeyed}"
    if show_payload and asked.payload is not None:
        yield from _quoted("was sent", asked.payload)
    if call.raw is not None:
        yield from _quoted("printed", call.raw)


def _answer(call: Call) -> str:
    if call.error is not None:
        ended = call.ended.value.replace("_", " ") if call.ended else "not over"
        return click.style(f"{ended}: {one_line(call.error, 1000)}", fg="red")
    return "passed" if call.decision is None else f"answered {_json(msgspec.to_builtins(call.decision))}"


def _quoted(what: str, text: str) -> Iterator[str]:
    lines = safe(text).rstrip("\n").split("\n")
    yield f"     {what}: {lines[0]}" if lines != [""] else f"     {what} nothing"
    yield from (f"     {' ' * len(what)}  {line}" for line in lines[1:])


def _outcome(event: str, verdict: Verdict) -> Iterator[str]:
    yield click.style(_sentence(event, verdict), bold=True)
    for field, value in verdict.changed.items():
        yield f"  {field} is now {_json(value)}"
    for contribution in verdict.contributions:
        yield f"  {safe(contribution['hook'])} adds {_json(contribution['decision'])}"


def _sentence(event: str, verdict: Verdict) -> str:
    by, reason = safe(verdict.by or ""), one_line(verdict.reason or "", 1000)
    match verdict.status:
        case "blocked" | "refused" | "denied" if verdict.failure is not None:
            return f"{event} is {verdict.status}, because {by} failed: {one_line(verdict.failure, 1000)}"
        case "blocked" | "refused" | "denied":
            return f"{event} is {verdict.status} by {by}: {reason}"
        case "replaced":
            return f"{event} is replaced by {by}: {_json(verdict.decision)}"
        case "answered":
            return f"{event} is answered by {by}: {_json(verdict.decision)}"
        case "rewritten":
            return f"{event} passes, rewritten"
        case "contributed":
            return f"{event} passes, with something added"
        case "passed":
            return f"{event} passes"


def _json(value: Any) -> str:
    return safe(msgspec.json.encode(value).decode())
