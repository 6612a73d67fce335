"""Codex asks a hook only once its user has trusted it, and skips every other in silence (captures, HONOURED.md 6)."""

import shutil
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from treblehook.gateway.install.codex_server import AppServer, CodexFailed
from treblehook.gateway.install.entries import is_own
from treblehook.host.agents import agent_folder, project_folders

_FEATURES: Final = ("hooks", "codex_hooks")
_TRUSTED: Final = ("trusted", "managed")


class CodexHook(Struct, frozen=True, rename="camel"):
    """One hook as Codex lists it. `key` is by its position: FILE:event:group:handler."""

    key: str
    current_hash: str
    trust_status: str
    source_path: str
    command: str = ""
    enabled: bool = True

    @property
    def trusted(self) -> bool:
        """Whether it is asked."""
        return self.enabled and self.trust_status in _TRUSTED

    @property
    def own(self) -> bool:
        """Whether it is ours."""
        return is_own({"command": self.command}, "codex")


class _Entry(Struct):
    hooks: list[CodexHook]
    errors: list[Any] = []


class _Listing(Struct):
    data: list[_Entry]


def codex_program(environ: Mapping[str, str]) -> str | None:
    """Codex, as it is found on PATH."""
    return shutil.which("codex", path=environ.get("PATH"))


async def listed(program: str, environ: Mapping[str, str]) -> list[CodexHook]:
    """All hooks of the user, with what Codex makes of them. Raises `CodexFailed`."""
    async with AppServer(program, environ) as server:
        return await _listed(server, environ)


async def trust_own(program: str, environ: Mapping[str, str]) -> list[CodexHook]:
    """Trust every hook of ours as it is now, which is for the user to allow; all hooks, as Codex lists them then. Raises `CodexFailed`."""
    async with AppServer(program, environ) as server:
        hooks = await _listed(server, environ)
        state = {hook.key: {"trusted_hash": hook.current_hash} for hook in hooks if hook.own and not hook.trusted}
        if state:
            await _write(server, [{"keyPath": "hooks.state", "mergeStrategy": "upsert", "value": state}])
        return await _listed(server, environ)


async def forget(program: str, environ: Mapping[str, str], keys: Collection[str]) -> list[CodexHook]:
    """Take the trust of `keys` out of Codex's configuration; all hooks, as Codex lists them then. Raises `CodexFailed`."""
    hooks = _hooks_table(environ)
    state = hooks.get("state", {})
    gone = [key for key in state if key in keys]
    if len(gone) < len(state):
        paths = [f'hooks.state."{_escaped(key)}"' for key in gone]
    else:
        # No table is left that was not there before.
        paths = ["hooks" if set(hooks) == {"state"} else "hooks.state"]
    async with AppServer(program, environ) as server:
        if gone:
            await _write(server, [{"keyPath": path, "mergeStrategy": "replace", "value": None} for path in paths])
        return await _listed(server, environ)


def known_keys(environ: Mapping[str, str]) -> list[str]:
    """The keys of all hooks whose trust stands in Codex's configuration, whatever they are now."""
    return list(_hooks_table(environ).get("state", {}))


def key_of(file: Path, event: str, group: int, handler: int) -> str:
    """The key of a handler in a hooks file."""
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in event).lstrip("_")
    return f"{file}:{snake}:{group}:{handler}"


def has_second_source(environ: Mapping[str, str]) -> bool:
    """Whether hooks stand in config.toml too: Codex warns of that at every start, and asks both."""
    return bool(set(_hooks_table(environ)) - {"state"})


def switched_off_in_codex(environ: Mapping[str, str], workspace: Path) -> tuple[Path, str] | None:
    """The configuration and the feature in it with which Codex, working in `workspace`, asks no hook at all; None where there is none.
    That of a project counts once Codex trusts the project, in any of its folders."""
    user = agent_folder("codex", environ) / "config.toml"
    files = [user]
    folders, projects = project_folders(workspace), _config(user).get("projects")
    if isinstance(projects, dict) and any(_is_trusted(projects.get(str(folder))) for folder in folders):
        files += [folder / ".codex" / "config.toml" for folder in folders]
    return next(((file, name) for file in files for name in _off(_config(file).get("features"))), None)


def _is_trusted(project: Any) -> bool:
    return isinstance(project, dict) and project.get("trust_level") == "trusted"


def _off(features: Any) -> list[str]:
    return [name for name in _FEATURES if isinstance(features, dict) and features.get(name) is False]


def _hooks_table(environ: Mapping[str, str]) -> dict[str, Any]:
    hooks = _config(agent_folder("codex", environ) / "config.toml").get("hooks")
    return hooks if isinstance(hooks, dict) else {}


def _config(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        # A configuration that cannot be read is Codex's own to complain of.
        return {}


def _escaped(key: str) -> str:
    return key.replace("\\", "\\\\").replace('"', '\\"')


async def _listed(server: AppServer, environ: Mapping[str, str]) -> list[CodexHook]:
    result = await server.call("hooks/list", {"cwds": [str(agent_folder("codex", environ))]})
    try:
        entries = msgspec.convert(result, _Listing).data
    except msgspec.ValidationError as error:
        raise CodexFailed(f"codex app-server: hooks/list: {error}") from error
    errors = [error for entry in entries for error in entry.errors]
    if errors:
        raise CodexFailed(f"codex app-server: hooks/list: {errors[0]}")
    return [hook for entry in entries for hook in entry.hooks]


async def _write(server: AppServer, edits: list[dict[str, Any]]) -> None:
    result = await server.call("config/batchWrite", {"edits": edits})
    if result.get("status") != "ok":
        raise CodexFailed(f"codex app-server: config/batchWrite: its status is {result.get('status')!r}")
