"""Entries of a settings file by which Claude Code asks our own hooks: asked from here, every hook would be asked twice."""

import re
from typing import Final

from treblehook.contracts.claude.settings.entries import CommandLine, SettingsHook

_CLIENT: Final = re.compile(r"treblehook/gateway/client/client\.py\b|\btreblehook\s+hook\s")
"""What `treblehook install` writes, whatever home and Python it is for, and what a user would write by hand."""
_ROUTE: Final = re.compile(r"https?://[^/]+/hooks/[\w-]+\?event=\w+")


def asks_us(hook: SettingsHook) -> bool:
    """Whether a hook is such an entry."""
    if isinstance(hook.how, CommandLine):
        return _CLIENT.search(hook.how.line) is not None
    return _ROUTE.fullmatch(hook.how.url) is not None
