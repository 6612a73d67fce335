"""One plugin on its way into the VM: its file, `setup`, `on_load` (crucible.md 2.8 and 10.3)."""

import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from treblehook.contracts.crucible.plugins.calling import Calling
from treblehook.contracts.crucible.plugins.discovery import FoundPlugin
from treblehook.contracts.crucible.plugins.manifest import Manifest, read_manifest
from treblehook.contracts.crucible.plugins.modules import Modules
from treblehook.contracts.crucible.plugins.source import SourceUnreadable, read_source
from treblehook.contracts.crucible.plugins.spec import KEYS, Spec, SpecInvalid, read_spec
from treblehook.contracts.crucible.vm import CrucibleVM
from treblehook.host.problems import ConfigInvalid, Problem
from treblehook.runtimes.lua import LuaFailed

_CPU_SECONDS: Final = 2.0
"""For a file, for `setup` and for `on_load`; nothing else runs meanwhile."""


class PluginInvalid(Exception):
    """A plugin does not load; the message says where and why."""


class Loaded(Struct, frozen=True):
    """What a plugin that loads says of itself. `warnings` are findings that stop nothing."""

    manifest: Manifest
    spec: Spec
    warnings: tuple[Problem, ...]


def load_plugin(vm: CrucibleVM, modules: Modules, calling: Calling, found: FoundPlugin, settings: Mapping[str, Any]) -> Loaded:
    """Evaluate a plugin's file, then call its `setup` with `settings` and its `on_load`; nothing of it may wait.

    What it registers meanwhile belongs to it, and stays registered where this raises `PluginInvalid`: whoever calls it clears up.
    """
    try:
        manifest = Manifest() if found.folder is None else read_manifest(found.folder, found.name)
        source = read_source(found.file)
        with vm.owned_by(found.name) as caller:
            chunk = modules.load(found.name, source, found.file)
            spec = read_spec(*calling.evaluate(chunk, KEYS, caller, _CPU_SECONDS), found.name)
            if spec.setup is not None:
                calling.now(spec.setup, _plain(settings), about=caller, cpu_seconds=_CPU_SECONDS)
            if spec.on_load is not None:
                calling.now(spec.on_load, about=caller, cpu_seconds=_CPU_SECONDS)
    except ConfigInvalid as invalid:
        raise PluginInvalid("; ".join(str(problem) for problem in invalid.problems if problem.level == "error")) from invalid
    except SourceUnreadable as unreadable:
        raise PluginInvalid(str(unreadable)) from unreadable
    except SpecInvalid as invalid:
        raise PluginInvalid(f"{found.file}: {invalid}") from invalid
    except LuaFailed as failed:
        raise PluginInvalid(cause_of(failed, found.file)) from failed
    warnings = (Problem(str(found.file), "", f"plugin {found.name}: {warning}", level="warning") for warning in spec.warnings)
    return Loaded(manifest, spec, (*manifest.warnings, *warnings))


def cause_of(failed: LuaFailed, file: Path) -> str:
    """A failure with the place where it arose in front, at least the `file` of the plugin."""
    if not failed.file:
        return f"{file}: {failed.message}"
    return failed.message if failed.message.startswith(f"{failed.file}:") else f"{failed.file}:{failed.line}: {failed.message}"


def _plain(value: Any) -> Any:
    """Settings as Lua can hold them: a date or a time of a TOML file is its text."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else value
