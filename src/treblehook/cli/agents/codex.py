"""Codex's trust, as `install` and `uninstall` speak of it."""

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from treblehook.cli.agents.showing import say, warn
from treblehook.gateway.install.codex_server import CodexFailed
from treblehook.gateway.install.codex_trust import (
    CodexHook,
    codex_program,
    forget,
    has_second_source,
    key_of,
    known_keys,
    listed,
    trust_own,
)
from treblehook.gateway.install.files import find, text_of
from treblehook.gateway.install.places import DIALECTS
from treblehook.gateway.install.settings import Settings

BY_HAND: Final = "Codex skips hooks that are not trusted, in silence. Start codex, type /hooks, and approve those of Treblehook"


def untrusted(environ: Mapping[str, str]) -> int | None:
    """How many of our entries Codex would not ask; None where Codex cannot be asked."""
    program = codex_program(environ)
    if program is None:
        return None
    try:
        return sum(hook.own and not hook.trusted for hook in asyncio.run(listed(program, environ)))
    except CodexFailed as failed:
        warn(f"it cannot be told whether Codex trusts the entries: {failed}")
        return None


def trust(environ: Mapping[str, str]) -> bool:
    """Trust our entries, and look whether Codex would ask them now."""
    program = codex_program(environ)
    if program is None:
        warn(f"codex is not on PATH, so nothing could be trusted. {BY_HAND}.")
        return False
    try:
        own = [hook for hook in asyncio.run(trust_own(program, environ)) if hook.own]
    except CodexFailed as failed:
        warn(f"the entries could not be trusted: {failed}. {BY_HAND}.")
        return False
    left = sum(not hook.trusted for hook in own)
    if left or not own:
        warn(f"{left or 'all'} of the entries are still not trusted. {BY_HAND}.")
        return False
    say(f"Codex trusts the {len(own)} entries as they are now; any change to one takes that back.")
    return True


def warn_of_second_source(environ: Mapping[str, str]) -> None:
    """Say that there are hooks in config.toml too."""
    if has_second_source(environ):
        warn("config.toml of Codex has hooks too: it asks both, and warns of that at every start")


def own_keys(file: Path, environ: Mapping[str, str]) -> list[str]:
    """The keys of our entries in `file` whose trust stands in Codex's configuration."""
    found = find(file)
    text = text_of(found)
    if text is None or not text.strip():
        return []
    own = Settings("codex", str(file), DIALECTS["codex"]).own(text)
    places = [(event, group, handler) for event, each in own.items() for group, handler, _ in each]
    keys = {key_of(path, *place) for path in (file, found.target, file.resolve()) for place in places}
    return [key for key in known_keys(environ) if key in keys]


class Leaving:
    """The trust of our entries, looked at before they are taken out of `file`, and taken out after them."""

    def __init__(self, file: Path, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._keys: Collection[str] = own_keys(file, environ)
        self._program = codex_program(environ)
        self._before: list[CodexHook] = []
        if self._keys and self._program is not None:
            try:
                self._before = asyncio.run(listed(self._program, environ))
            except CodexFailed as failed:
                warn(f"it cannot be told which other hooks Codex trusts: {failed}")

    def end(self) -> None:
        """Take the trust out, and name the hooks of others whose position has changed, so that they are not trusted any more."""
        if not self._keys:
            return
        if self._program is None:
            warn(f"codex is not on PATH: {len(self._keys)} entries of [hooks.state] in its config.toml stay behind")
            return
        try:
            after = asyncio.run(forget(self._program, self._environ, self._keys))
        except CodexFailed as failed:
            warn(f"{len(self._keys)} entries of [hooks.state] in config.toml of Codex stay behind: {failed}")
            return
        for command in (_trusted(self._before) - _trusted(after)).elements():
            warn(f"Codex does not trust the hook {command!r} any more, since its position has changed: approve it with /hooks")


def _trusted(hooks: Collection[CodexHook]) -> Counter[str]:
    return Counter(hook.command for hook in hooks if hook.trusted and not hook.own)
