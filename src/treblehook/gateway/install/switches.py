"""What in an agent's settings keeps hooks from being asked. Which agent heeds which switch was tried on the real ones."""

import os
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from treblehook.gateway.install.entries import command_of
from treblehook.gateway.install.files import find, text_of
from treblehook.gateway.install.places import DIALECTS
from treblehook.gateway.install.settings import Settings
from treblehook.host.agents import project_folders
from treblehook.host.problems import ConfigInvalid

_IN_WORKSPACE: Final = {
    "claude-code": (".claude/settings.json", ".claude/settings.local.json"),
    "gemini": (".gemini/settings.json",),
    "qwen": (".qwen/settings.json",),
}
"""The settings that an agent heeds beside those of its user: those in the folder that it works in,"""

_IN_REPOSITORY: Final = {
    "claude-code": (".claude/settings.local.json",),
    "copilot": (
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".github/copilot/settings.json",
        ".github/copilot/settings.local.json",
    ),
}
"""those at the top of the repository around it,"""

_OF_MACHINE: Final = {
    "claude-code": "/etc/claude-code/managed-settings.json",
    "gemini": "/etc/gemini-cli/settings.json",
    "qwen": "/etc/qwen-code/settings.json",
}
"""and the machine's."""

_ALL_OFF: Final = {
    "claude-code": ("disableAllHooks", True),
    "gemini": ("hooksConfig.enabled", False),
    "qwen": ("disableAllHooks", True),
    "copilot": ("disableAllHooks", True),
}
"""The setting, and the value, with which an agent asks no hook at all."""


class Source(Struct, frozen=True):
    """A settings file, and what is in it."""

    file: Path
    values: Mapping[str, Any]


class Switch(Struct, frozen=True):
    """A setting that turns hooks off: its file, its place in that, and what it does."""

    file: Path
    place: str
    does: str


def sources(agent: str, file: Path, values: Mapping[str, Any], workspace: Path) -> list[Source]:
    """The user's own settings and all others that the agent heeds when it works in `workspace`."""
    top = project_folders(workspace)[-1]
    others = dict.fromkeys(
        (
            *(workspace / name for name in _IN_WORKSPACE.get(agent, ())),
            *((top if os.path.lexists(top / ".git") else workspace) / name for name in _IN_REPOSITORY.get(agent, ())),
            *([Path(_OF_MACHINE[agent])] if agent in _OF_MACHINE else ()),
        )
    )
    return [Source(file, values), *(Source(other, found) for other in others if (found := _values(agent, other)) is not None)]


def allowed_urls(values: Mapping[str, Any]) -> list[Any] | None:
    """The URLs to which alone HTTP hooks may be sent; None where nothing is said of them."""
    for path in ("allowedHttpHookUrls", "security.allowedHttpHookUrls"):
        urls = _at(values, path)
        if isinstance(urls, list):
            return urls
    return None


def switched_off(agent: str, settings: Sequence[Source], handlers: Mapping[str, Sequence[Any]]) -> Iterator[Switch]:
    """Each switch that turns our `handlers` (by event) off."""
    for source in settings:
        place, value = _ALL_OFF.get(agent, ("", None))
        if place and _at(source.values, place) is value:
            yield Switch(source.file, place, "no hook is asked at all")
        if agent == "claude-code" and source.values.get("allowManagedHooksOnly") is True:
            yield Switch(source.file, "allowManagedHooksOnly", "no hook of a user is asked")
        if agent == "gemini":
            yield from _named(source, handlers)
    yield from _unreachable(settings, handlers)


def _named(source: Source, handlers: Mapping[str, Sequence[Any]]) -> Iterator[Switch]:
    commands = [command for each in handlers.values() for handler in each if (command := command_of(handler)) is not None]
    disabled = _at(source.values, "hooksConfig.disabled")
    for index, name in enumerate(disabled if isinstance(disabled, list) else ()):
        if name in commands:
            yield Switch(source.file, f"hooksConfig.disabled[{index}]", "it names a hook of ours, which is not asked")


def _unreachable(settings: Sequence[Source], handlers: Mapping[str, Sequence[Any]]) -> Iterator[Switch]:
    """What any file allows is allowed."""
    limiting = [(source.file, urls) for source in settings if (urls := allowed_urls(source.values)) is not None]
    allowed = [str(pattern) for _, urls in limiting for pattern in urls]
    own = {handler["url"] for each in handlers.values() for handler in each if isinstance(handler.get("url"), str)}
    if limiting and any(not any(fnmatchcase(url, pattern) for pattern in allowed) for url in own):
        yield Switch(limiting[0][0], "allowedHttpHookUrls", "the gateway's URL is not among them, so its HTTP entries are not asked")


def _values(agent: str, file: Path) -> Mapping[str, Any] | None:
    try:
        text = text_of(find(file))
        return None if text is None else Settings(agent, str(file), DIALECTS[agent]).read(text).root.plain()
    except ConfigInvalid:
        # The agent cannot read it either, so nothing is switched there.
        return None


def _at(values: Mapping[str, Any], path: str) -> Any:
    found: Any = values
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found
