"""`<home>/config.toml`: read strictly, and every problem of it told at once."""

import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from treblehook.agent.context.settings import Precognition
from treblehook.agent.permissions.rules import Rules
from treblehook.engine import Mode
from treblehook.home.table import Table
from treblehook.host.mcp.config import McpServerConfig
from treblehook.host.problems import ConfigInvalid, Problem
from treblehook.kiln.places import read_kilns

_TOML_PLACE = re.compile(r"\s*\(at (line \d+, column \d+|end of document)\)\Z")


SETTINGS_SOURCES = ("user", "project")
"""Whose settings files of Claude Code can have hooks here: those of the user, those of the workspace."""


class ModelSettings(Struct, frozen=True):
    """`[model]`: the SPEC that is used where no other is given, its window in tokens, and the effort; None for what is not set."""

    default: str | None = None
    context_window: int | None = None
    effort: str | None = None


class Settings(Struct, frozen=True):
    """A home's `config.toml`; `modes` are by the name of the hook, `kilns` are folders. `plugins`, `web` and `artifacts` are as they
    stand there: whoever owns them reads on. `claude` says whose settings files of Claude Code have hooks here. `warnings` are problems
    that stop nothing."""

    file: Path
    model: ModelSettings = ModelSettings()
    permissions: Rules = Rules()
    mcp: tuple[McpServerConfig, ...] = ()
    modes: dict[str, Mode] = {}
    kilns: dict[str, Path] = {}
    precognition: Precognition = Precognition()
    plugins: dict[str, dict[str, Any]] = {}
    web: dict[str, Any] = {}
    artifacts: tuple[dict[str, Any], ...] = ()
    claude: tuple[str, ...] = ()
    warnings: tuple[Problem, ...] = ()


def load_settings(home: Path) -> Settings:
    """The settings of a home; without a `config.toml` nothing is set. Raises `ConfigInvalid` with all errors (and warnings)."""
    file = home / "config.toml"
    problems: list[Problem] = []
    settings = _settings(Table(_load(file), str(file), "", problems), file)
    if any(problem.level == "error" for problem in problems):
        raise ConfigInvalid(problems)
    return settings


def _load(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        if file.is_symlink():
            # Somebody has rules, on a disk that is not there.
            raise ConfigInvalid([Problem(str(file), "", "it is a symbolic link that leads nowhere")]) from None
        return {}
    except OSError as error:
        raise ConfigInvalid([Problem(str(file), "", f"it cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigInvalid([Problem(str(file), f"line {line}", f"found a byte that is not UTF-8: {error.reason}")]) from error
    except tomllib.TOMLDecodeError as error:
        found = _TOML_PLACE.search(str(error))
        place = found[1] if found else ""
        raise ConfigInvalid([Problem(str(file), place, f"no TOML: {_TOML_PLACE.sub('', str(error))}")]) from error
    except RecursionError as error:
        raise ConfigInvalid([Problem(str(file), "", "nested too deeply")]) from error


def _settings(top: Table, file: Path) -> Settings:
    settings = Settings(
        file=file,
        model=_model(top.table("model")),
        permissions=_permissions(top.table("permissions")),
        mcp=tuple(_mcp_servers(top.table("mcp"))),
        modes={name: _mode(table) for name, table in top.table("hooks").tables().items()},
        kilns=read_kilns(top.table("kilns").values, str(file), os.environ, top.problems),
        precognition=_precognition(top),
        plugins={name: table.values for name, table in top.table("plugins").tables().items()},
        web=top.table("web").values,
        artifacts=top.raw_tables("artifacts"),
        claude=_claude(top.table("claude")),
    )
    top.unknown()
    return replace(settings, warnings=tuple(top.problems))


def _model(table: Table) -> ModelSettings:
    settings = ModelSettings(table.text("default"), table.count("context_window", "tokens"), table.text("effort"))
    table.unknown()
    return settings


def _permissions(table: Table) -> Rules:
    allow, ask, deny = (table.entries(kind, "rules") for kind in ("allow", "ask", "deny"))
    table.unknown()
    try:
        return Rules.parse(allow, ask, deny, table.file)
    except ConfigInvalid as invalid:
        table.problems.extend(invalid.problems)
        return Rules()


def _precognition(top: Table) -> Precognition:
    """`[precognition]`, and the budget where crucible has it (crucible.md 9.4)."""
    table, pipeline = top.table("precognition"), top.table("enrichment").table("pipeline")
    usual = Precognition()
    settings = Precognition(
        enabled=table.flag("enabled", default=usual.enabled),
        results=table.number("results", "notes", 1, 20, default=usual.results),
        char_budget=pipeline.number("max_precognition_chars", "characters", 0, 1_000_000, default=usual.char_budget),
    )
    table.unknown()
    pipeline.unknown()
    return settings


def _claude(table: Table) -> tuple[str, ...]:
    sources = table.texts("settings")
    for index, source in enumerate(sources):
        if source not in SETTINGS_SOURCES:
            table.wrong(table.at("settings", index), source, ", ".join(f'"{name}"' for name in SETTINGS_SOURCES))
    table.unknown()
    return sources


def _mcp_servers(servers: Table) -> Iterator[McpServerConfig]:
    for name, table in servers.tables().items():
        errors = len(table.problems)
        command, env = table.texts("command"), table.text_map("env")
        url, headers = table.text("url"), table.text_map("headers")
        if command and not command[0].strip():
            table.wrong(table.at("command", 0), command[0], "the name or the path of a program")
        if len(table.problems) == errors:
            try:
                yield McpServerConfig(name=name, command=command, env=env, url=url or "", headers=headers)
            except ValueError as error:
                table.problems.append(Problem(table.file, table.place, str(error)))
        table.unknown()


def _mode(table: Table) -> Mode:
    mode = table.choice("mode", [mode.value for mode in Mode])
    for key, value in table.values.items():
        if key != "mode" and isinstance(value, dict):
            table.wrong(table.table(key).place, value, f'`mode`; the name of a hook with a dot in it is quoted, [hooks."NAME.{key}"]')
    table.unknown()
    return Mode(mode or Mode.ON)
