"""Modes in config.toml that do not reach what they seem to."""

import difflib
from collections.abc import Iterator, Mapping, Sequence

from treblehook.contracts.vera.config import VeraConfig
from treblehook.engine import Mode
from treblehook.home.checks.components import CheckedComponents
from treblehook.home.checks.extensions import CheckedExtensions
from treblehook.home.checks.lua import CheckedLua
from treblehook.host.problems import Problem


def misdirected_modes(
    config: VeraConfig,
    others: tuple[CheckedExtensions, CheckedLua, CheckedComponents],
    settings_names: Sequence[str],
    modes: Mapping[str, Mode],
    file: str,
) -> Iterator[Problem]:
    """A warning for each `[hooks."NAME"]` of `file` that names no hook, and for each that names more than one.

    `settings_names` are those of hooks in Claude Code's settings files."""
    executables: dict[str, dict[str, None]] = {}
    for hook in config.hooks:
        executables.setdefault(hook.name, {})[hook.executable] = None
    extensions, lua, components = others
    ids = [*(manifest.id for manifest in extensions.manifests), *lua.names, *components.names, *settings_names]
    idle = (*extensions.idle, *lua.idle)
    names = [*executables, *dict.fromkeys(name for name in ids if name not in idle)]
    here = f"hooks here: {', '.join(names)}" if names else "this home has no hooks"
    for name in modes:
        if name in ids and name not in executables:
            continue
        files = list(executables.get(name, ()))
        if not files:
            close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
            remedy = f"did you mean {close[0]}?" if close else here
            yield Problem(file, f'hooks."{name}"', "no hook has this name", remedy, "warning")
        elif len(files) > 1:
            message = f"{len(files)} hooks have this name, and the setting holds for all: {', '.join(files)}"
            yield Problem(file, f'hooks."{name}"', message, "give the files different names", "warning")
