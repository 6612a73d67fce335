"""The records of a session as a person reads them afterwards: one line each, with the time in front."""

from collections.abc import Iterator
from typing import Any

import click
import msgspec

from treblehook.agent.records import Record
from treblehook.cli.output.safe_text import one_line, safe

_LONGEST = 400
_KIND = 8


def lines_of_record(record: Record) -> Iterator[str]:
    """The line of a record, and one for each further thing that it tells."""
    # Whatever a model or a file named itself is shown in these lines.
    harmless = {key: _text(value) if isinstance(value, str) else value for key, value in record.items()}
    first, *more = _told(harmless)
    clock = record["at"].partition("T")[2][:12]
    yield f"{click.style(clock, dim=True)}  {record['type'].removeprefix('tool_'):<{_KIND}}  {first}"
    for line in more:
        yield " " * (len(clock) + _KIND + 6) + line


def _told(record: Record) -> list[str]:
    match record["type"]:
        case "session":
            child = f", a subagent of {record['parent']}" if record["parent"] else ""
            return [f"{record['id']} ({record['reason']}) in {record['workspace']} with {record['model']}{child}"]
        case "hook":
            return _hook(record)
        case "tool_call":
            return [f"{record['name']} {_json(record['input'])} ({record['id']})", *_asked(record)]
        case "tool_result":
            return [f"{record['name']} {_result(record)}: {_text(record['content'])} ({record['id']})"]
        case "row" | "artifact":
            return [f"{_text(record.get('text', record.get('content')))} [{record['hook']}]"]
        case "compaction":
            return [f"{record['reason']}: {record['tokens_before']} tokens became {record['tokens_after']}"]
        case "end":
            reason = f": {_text(record['reason'])}" if record["reason"] else ""
            return [f"{record['status']}, turns: {record['turns']}{reason}"]
        case _:
            return [_text(record["text"])]


def _hook(record: Record) -> list[str]:
    about = ", ".join(part for part in (record["target"], record["call"]) if part)
    asked = f"{record['event']} asked {record['hook']}" + (f" about {about}" if about else "")
    ended = (record["ended"] or "not over").replace("_", " ")
    if record["error"] is not None:
        answer = click.style(f"{ended}: {_text(record['error'])}", fg="red")
    else:
        answer = ended if record["decision"] is None else f"{ended} {_json(record['decision'])}"
    return [f"{safe(asked)}: {answer}, {record['ms']:.1f} ms"]


def _asked(record: Record) -> list[str]:
    """What the model asked for, where that is not what would run."""
    if "asked" not in record:
        return ["a hook changed the input; what the model asked for is not kept"]
    return [] if record["asked"] == record["input"] else [f"the model asked for {_json(record['asked'])}"]


def _result(record: Record) -> str:
    how = "failed" if record["is_error"] else "ran"
    return f"{how} in {record['ms']:.1f} ms" if record["ran"] else "did not run"


def _text(value: Any) -> str:
    return one_line(str(value), _LONGEST)


def _json(value: Any) -> str:
    return one_line(msgspec.json.encode(value).decode(), _LONGEST)
