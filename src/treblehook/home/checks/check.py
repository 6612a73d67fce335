"""Everything that is wrong with a home."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from treblehook.contracts.vera.config import load_config
from treblehook.contracts.vera.limits import over_limits
from treblehook.home.checks.access import open_to_everybody
from treblehook.home.checks.claude_scripts import claude_habits
from treblehook.home.checks.claude_settings import CheckedSettings, check_claude_settings
from treblehook.home.checks.components import CheckedComponents, check_components
from treblehook.home.checks.deadlines import over_deadlines
from treblehook.home.checks.entries import entries_of
from treblehook.home.checks.executables import broken_executables
from treblehook.home.checks.extensions import CheckedExtensions, check_extensions
from treblehook.home.checks.guards import guards_at_risk
from treblehook.home.checks.keys import ignored_keys
from treblehook.home.checks.lua import CheckedLua, check_lua
from treblehook.home.checks.mcp import missing_programs
from treblehook.home.checks.model import unopened_model
from treblehook.home.checks.modes import misdirected_modes
from treblehook.home.checks.rules import idle_rules
from treblehook.home.settings import load_settings
from treblehook.host.problems import ConfigInvalid, Problem

T = TypeVar("T")


class Checked(Struct, frozen=True):
    """What was found, errors and warnings, how many hooks there are, 0 where they could not be read, and what became of the
    extensions and of Lua, whose problems are among `problems`."""

    problems: tuple[Problem, ...]
    hooks: int = 0
    extensions: CheckedExtensions = CheckedExtensions(())
    lua: CheckedLua = CheckedLua()


async def check_home(home: Path, environ: Mapping[str, str], workspace: Path | None = None) -> Checked:
    """Look at the home's files, activate its extensions, load its Lua, with that of a `workspace`, and compile its components.

    No hook is asked, and nothing is written but compiled code.
    """
    if not _is_folder(home):
        return Checked((Problem(str(home), "", "there is no such folder", "name a home with --home"),))
    problems: list[Problem] = []
    settings = _loaded(lambda: load_settings(home), problems)
    config = _loaded(lambda: load_config(home / "config.json"), problems)
    if settings is not None:
        problems += settings.warnings
        problems += idle_rules(settings)
        problems += missing_programs(settings, environ)
        problems += unopened_model(settings, environ)
    lua = CheckedLua() if settings is None else await check_lua(home, workspace, settings, environ)
    problems += lua.problems
    own = CheckedSettings() if settings is None else check_claude_settings(home, workspace, settings, environ)
    problems += own.problems
    components = CheckedComponents() if settings is None else await check_components(settings)
    problems += components.problems
    if config is None:
        return Checked(tuple(problems), lua.hooks + components.hooks + own.hooks, lua=lua)
    modes = {} if settings is None else settings.modes
    toml = str(home / "config.toml")
    entries = entries_of(config, modes)
    problems += over_limits(config)
    problems += ignored_keys(config)
    problems += broken_executables(config)
    problems += open_to_everybody(config)
    extensions = await check_extensions(home, config, environ)
    problems += extensions.problems
    problems += misdirected_modes(config, (extensions, lua, components), own.names, modes, toml)
    problems += guards_at_risk(config, entries, toml)
    problems += claude_habits(config, entries)
    problems += over_deadlines(config, entries)
    hooks = len(config.hooks) + extensions.hooks + lua.hooks + components.hooks + own.hooks
    return Checked(tuple(problems), hooks, extensions, lua)


def _is_folder(path: Path) -> bool:
    return path.is_dir()


def _loaded(load: Callable[[], T], problems: list[Problem]) -> T | None:
    try:
        return load()
    except ConfigInvalid as invalid:
        problems += invalid.problems
        return None
