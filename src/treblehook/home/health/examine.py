"""Everything that `doctor` looks at, in order."""

from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

from treblehook.contracts.vera.extensions.sources import INCLUDED
from treblehook.home.checks.check import Checked, check_home
from treblehook.home.health.finding import Finding, found
from treblehook.home.health.installation import installed, node
from treblehook.home.health.services import mcp_servers, model
from treblehook.home.health.storage import storage
from treblehook.home.settings import Settings, load_settings
from treblehook.host.problems import ConfigInvalid


async def examine(home: Path, environ: Mapping[str, str]) -> AsyncIterator[Finding]:
    """What is found, as it is found. Extensions are activated and MCP servers started, and both ended again; no hook is asked, no
    model is called, and nothing stays in the home."""
    for finding in installed():
        yield finding
    if not _is_there(home):
        yield await node(environ, needed=False)
        yield Finding("home", "warning", f"{home} is not there", "the first session makes it; a hook needs it before")
        return
    for finding in storage(home):
        yield finding
    checked = await check_home(home, environ)
    yield await node(
        environ, needed=any(not manifest.is_python for manifest in checked.extensions.manifests if manifest.id not in INCLUDED)
    )
    for finding in (*_files(checked), *_extensions(checked), *_plugins(checked)):
        yield finding
    settings = _settings(home)
    if settings is not None:
        yield model(settings, environ)
        for finding in await mcp_servers(settings):
            yield finding


def _is_there(home: Path) -> bool:
    return home.is_dir()


def _files(checked: Checked) -> Iterator[Finding]:
    """What is wrong with the home's files; problems of extensions that did not load have findings of their own."""
    told = [problem for _, problem in checked.extensions.not_loaded]
    others = [problem for problem in checked.problems if problem not in told]
    yield from (found("files", problem) for problem in others)
    if not others:
        yield Finding("files", "ok", f"config.json and config.toml load, {checked.hooks or 'no'} hook{'' if checked.hooks == 1 else 's'}")


def _extensions(checked: Checked) -> Iterator[Finding]:
    for manifest in checked.extensions.active:
        if manifest.id not in INCLUDED:
            yield Finding(f"extension {manifest.id}", "ok", f"active, {manifest.entry}")
    for extension, problem in checked.extensions.not_loaded:
        yield found(f"extension {extension}", problem)


def _plugins(checked: Checked) -> Iterator[Finding]:
    for plugin in checked.lua.plugins:
        if plugin.state == "error":
            yield Finding(f"plugin {plugin.name}", "error", f"{plugin.file}: {plugin.cause}")
        else:
            handlers = sum(plugin.handlers.values())
            yield Finding(f"plugin {plugin.name}", "ok", "switched off" if plugin.state == "disabled" else f"loaded, {handlers} handlers")


def _settings(home: Path) -> Settings | None:
    try:
        return load_settings(home)
    except ConfigInvalid:
        # What is wrong with them has been told.
        return None
