"""The entries of an operator's list `artifacts`, of a home or a capsule (murmur.md 2.6)."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal, get_args

from msgspec import Struct

from treblehook.contracts.murmur.grant import Grant, read_grant
from treblehook.contracts.murmur.shipped import shipped_hooks
from treblehook.home.table import Table
from treblehook.host.problems import Problem

Runtime = Literal["hook", "tool", "driver", "skill"]


class ArtifactEntry(Struct, frozen=True):
    """One entry of `artifacts`, at `place` in the manifest. `source` is a folder or a `.mur.zip`, None where the home is to have it."""

    name: str
    version: str
    runtime: Runtime
    place: str
    source: Path | None = None
    overflow: Literal["drop", "block"] = "drop"
    grant: Grant = Grant()


NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?")
_FILE_PART: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_KEYS: Final = ("name", "version", "runtime", "source", "on_overflow", "capabilities", "config")


def read_artifacts(top: Table, folder: Path) -> Iterator[ArtifactEntry]:
    """The entries; `source` is relative to `folder`. What is wrong goes to the problems of `top`."""
    names: dict[str, str] = {}
    for index, values in enumerate(top.entries("artifacts", "tables")):
        place = top.at("artifacts", index)
        if not isinstance(values, dict):
            top.wrong(place, values, f"a table with {', '.join(_KEYS)}")
            continue
        table = Table(values, top.file, place, top.problems)
        entry = _entry(table, folder)
        table.unknown()
        if entry is None:
            continue
        if entry.name in names:
            top.problems.append(
                Problem(top.file, f"{place}.name", f"found '{entry.name}', as at {names[entry.name]}", "name each artifact once")
            )
        names.setdefault(entry.name, place)
        yield entry


def _entry(table: Table, folder: Path) -> ArtifactEntry | None:
    name, version = _name(table), _version(table)
    runtime = _runtime(table)
    source = table.text("source")
    if name is None or runtime is None:
        return None
    if runtime in ("hook", "tool") and source is None and not version and name not in shipped_hooks():
        table.problems.append(Problem(table.file, table.place, "neither version nor source", "name the version, or a source of its own"))
    return ArtifactEntry(
        name=name,
        version=version or "",
        runtime=runtime,
        place=table.place,
        source=None if source is None else folder / Path(source).expanduser(),
        overflow=_overflow(table, name, runtime),
        grant=_grant(table, runtime),
    )


def _name(table: Table) -> str | None:
    name = table.text("name")
    if name is None:
        if "name" not in table.values:
            table.problems.append(Problem(table.file, table.at("name"), "it is missing", "allowed: a-z, 0-9 and -"))
        return None
    if NAME.fullmatch(name):
        return name
    table.wrong(table.at("name"), name, "a-z, 0-9 and -, at most 100 characters, - not at its ends")
    return None


def _version(table: Table) -> str | None:
    version = table.text("version")
    if version is None or _FILE_PART.fullmatch(version):
        return version
    table.wrong(table.at("version"), version, "a version such as 1.0.0")
    return None


def _runtime(table: Table) -> Runtime | None:
    choices: tuple[Runtime, ...] = get_args(Runtime)
    given = table.choice("runtime", choices)
    if given is None and table.values.get("runtime") is not None:
        return None
    return next((choice for choice in choices if choice == given), "tool")


def _overflow(table: Table, name: str, runtime: Runtime) -> Literal["drop", "block"]:
    if "on_overflow" not in table.values:
        # Named so that a misspelt key is told with this one.
        table.text("on_overflow")
        return "drop"
    given = table.choice("on_overflow", ("drop", "block"))
    if runtime != "hook":
        what = f"E-MAN-003: on_overflow belongs to hooks, and {name} is a {runtime}"
        table.problems.append(Problem(table.file, table.at("on_overflow"), what, "take it out"))
    return "block" if given == "block" else "drop"


def _grant(table: Table, runtime: Runtime) -> Grant:
    # Read by the contract, as they are.
    capabilities: Any = table.table("capabilities").values
    table.table("config")
    if runtime == "hook":
        grant, problems = read_grant(table.values, table.file, table.place)
        table.problems.extend(problem for problem in problems if problem not in table.problems)
        return grant
    if "task_io" in capabilities:
        what = "E-MAN-003: task_io belongs to the entry of a hook"
        table.problems.append(Problem(table.file, f"{table.at('capabilities')}.task_io", what, "take it out"))
    return Grant()
